// The request header X-Gslb-Subject: what a person says of a change, as the subject of its commit.
import { Type } from 'typebox'

/** In lower case, as requests have it. */
export const subjectHeader = 'x-gslb-subject'
const lengthMax = 120

export const Subject = Type.String({ minLength: 1, maxLength: lengthMax, pattern: '\\S' })

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * @param given a character for each octet (RFC 9110 section 5.5), which are those of UTF-8
 * @returns one line without what steers a terminal; undefined: it is none
 */
export function subjectIn(given: string): string | undefined {
  let text: string
  try {
    text = utf8.decode(Buffer.from(given, 'latin1'))
  } catch {
    return undefined
  }
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line === '' || line.length > lengthMax ? undefined : line
}

export const subjectWanted =
  `the header X-Gslb-Subject needs one line of 1 to ${lengthMax} ` + 'characters, in UTF-8'

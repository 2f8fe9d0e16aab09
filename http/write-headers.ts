// Parses request headers of writes: the subject, whether the effect is wanted, and why a change
// beyond the guardrails is meant.
import { Type } from '#lib/schema/type.ts'

/** In lower case, as in requests. */
export const subjectHeader = 'x-gslb-subject'
const lengthMax = 120
/** The response has a header of this name. */
export const effectHeader = 'x-gslb-effect'
const wantedWord = 'wanted'
/** The same as no header. */
const unwantedWord = 'unwanted'

export const Subject = Type.String({ minLength: 1, maxLength: lengthMax, pattern: '\\S' })

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * @param given a character for each octet (RFC 9110 section 5.5) of UTF-8
 *
 * @returns one line without control characters; undefined: it is none
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

export const EffectWanted = Type.Union([Type.Literal(wantedWord), Type.Literal(unwantedWord)])

/** @returns undefined: it is neither word */
export function isEffectWanted(given: string = unwantedWord): boolean | undefined {
  const word = given.trim().toLowerCase()
  return word === wantedWord ? true : word === unwantedWord ? false : undefined
}

export const effectWanted =
  'the header X-Gslb-Effect of a request can only be: ' + `${wantedWord}, ${unwantedWord}`

/** In lower case, as in requests. */
export const overrideHeader = 'x-gslb-override'
const reasonLengthMax = 200

export const OverrideReason = Type.String({
  minLength: 1,
  maxLength: reasonLengthMax,
  pattern: '\\S',
})

/** @returns undefined when it is no valid reason */
export function reasonIn(given: string): string | undefined {
  const reason = given.trim()
  return reason === '' || reason.length > reasonLengthMax ? undefined : reason
}

export const reasonWanted =
  'the header X-Gslb-Override needs a reason of ' + `1 to ${reasonLengthMax} characters`

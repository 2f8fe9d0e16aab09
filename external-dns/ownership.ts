// Reads and marks the TXT records by which external-dns says whose a name is: one record set may
// hold those of several clusters, each with the set identifier of its own.
import { unescapedPercent } from '#lib/text/percent.ts'
import { contentOf, plainValue } from '#compiler/values/plain-text.ts'

/** The first field of each. */
const heritage = 'heritage=external-dns'
const setField = 'gslbd/set'
const nameField = 'gslbd/of'

export interface Ownership {
  /** As external-dns wrote it, in plain form. */
  readonly text: string
  readonly set: string
  /** The name that it is about; lower case, final dot. */
  readonly of: string
  /** '': it cannot be read, being encrypted. */
  readonly owner: string
}

/** @param text in plain form */
export function isOwnershipText(text: string): boolean {
  const content = contentOf(text) ?? ''
  return content.startsWith(heritage) || /,gslbd\/(set|of)=/.test(content)
}

/**
 * @param name of the TXT record
 *
 * @param text in plain form, as it is stored
 */
export function readOwnership(name: string, text: string): Ownership {
  const fields = (contentOf(text) ?? '').split(',')
  const rest: string[] = []
  const marks = new Map<string, string>()
  for (const field of fields) {
    const [key = '', value] = field.split('=', 2)
    if (value !== undefined && (key === setField || key === nameField)) marks.set(key, value)
    else rest.push(field)
  }
  return {
    text: plainText(rest.join(',')),
    set: unescaped(marks.get(setField) ?? ''),
    of: marks.get(nameField) ?? impliedName(name),
    owner: ownerIn(rest),
  }
}

/** Owner by a text in plain form; '': it says none. */
export function ownerInText(text: string): string {
  return ownerIn((contentOf(text) ?? '').split(','))
}

function ownerIn(fields: readonly string[]): string {
  if (fields[0] !== heritage) return ''
  const prefix = 'external-dns/owner='
  return fields.find((field) => field.startsWith(prefix))?.slice(prefix.length) ?? ''
}

/** Returns the text to store, with a mark where its name does not tell the record's subject. */
export function markedText(
  { text, set, of }: Omit<Ownership, 'owner'>,
  name: string,
  isReadable: boolean,
): string {
  const marks = [
    ...(set === '' ? [] : [`${setField}=${escaped(set)}`]),
    // An encrypted one is not known for what it is otherwise.
    ...(of === impliedName(name) && (isReadable || set !== '') ? [] : [`${nameField}=${of}`]),
  ]
  return marks.length === 0 ? text : plainText([contentOf(text) ?? '', ...marks].join(','))
}

/** Without `--txt-prefix` and `--txt-suffix`: `a-www.example.com` is about `www.example.com`. */
function impliedName(name: string): string {
  return name.replace(/^(?:a|aaaa|cname|mx|naptr|ns|ptr|srv|txt)-/, '')
}

function plainText(content: string): string {
  const escapedContent = content.replaceAll(/["\\]/g, '\\$&')
  const read = plainValue('TXT', `"${escapedContent}"`)
  return read.ok ? read.value.text : content
}

/** Signs that separate fields. */
const escaped = (text: string): string => text.replaceAll(/[%,="\\\s]/gu, encodeURIComponent)

const unescaped = (text: string): string => unescapedPercent(text) ?? text

// Turns values into the fields that records of Cloudflare have, and back: for some types the parts
// of a value are fields of their own, and names have no final dot.
import { tokensOf } from '#dns/rdata-text/tokens.ts'
import { fieldsOf } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'

/** Parts of a value in their order, by the name of their field in `data`. */
const dataFields: Readonly<Record<string, readonly string[]>> = {
  SRV: ['priority', 'weight', 'port', 'target'],
  CAA: ['flags', 'tag', 'value'],
  DS: ['key_tag', 'algorithm', 'digest_type', 'digest'],
  TLSA: ['usage', 'selector', 'matching_type', 'certificate'],
  SSHFP: ['algorithm', 'type', 'fingerprint'],
  NAPTR: ['order', 'preference', 'flags', 'service', 'regex', 'replacement'],
  HTTPS: ['priority', 'target', 'value'],
  SVCB: ['priority', 'target', 'value'],
}
const plainTypes: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'TXT'])
const nameFields: ReadonlySet<string> = new Set(['target', 'replacement'])
const quotedFields: ReadonlySet<string> = new Set(['flags', 'service', 'regex'])

export const hasCloudflareForm = (type: string): boolean =>
  plainTypes.has(type) || dataFields[type] !== undefined

/** @param value in canonical form */
export function recordFields(type: string, value: string): Fields {
  const names = dataFields[type]
  if (names !== undefined) return { data: dataOf(type, names, value) }
  if (type === 'MX') {
    const [priority = '', target = ''] = value.split(' ')
    return { priority: Number(priority), content: withoutDot(target), ...direct(type) }
  }
  const isName = type === 'CNAME' || type === 'NS' || type === 'PTR'
  return { content: isName ? withoutDot(value) : value, ...direct(type) }
}

/** Where a record can be proxied, it is said that this one is not. */
const direct = (type: string): Fields =>
  type === 'A' || type === 'AAAA' || type === 'CNAME' ? { proxied: false } : {}

function dataOf(type: string, names: readonly string[], value: string): Fields {
  const parts = partsOf(type, names.length, value)
  return Object.fromEntries(
    names.map((name, i) => {
      const part = parts[i] ?? ''
      const isNumber = /^\d+$/.test(part) && !['digest', 'fingerprint', 'value'].includes(name)
      if (nameFields.has(name)) return [name, withoutDot(part)]
      return [name, isNumber ? Number(part) : part]
    }),
  )
}

/** The last part has what is left, with its blanks; quotes are left out but of parameters. */
function partsOf(type: string, count: number, value: string): readonly string[] {
  const hasParameters = type === 'HTTPS' || type === 'SVCB'
  if (hasParameters) {
    const [priority = '', target = '', ...rest] = value.split(' ')
    return [priority, target, rest.join(' ')]
  }
  const tokens = tokensOf(value)
  const texts = tokens.ok ? tokens.value.tokens.map(({ text }) => text) : value.split(' ')
  const isBinary = type === 'DS' || type === 'TLSA' || type === 'SSHFP'
  return [...texts.slice(0, count - 1), texts.slice(count - 1).join(isBinary ? '' : ' ')]
}

/** @returns presentation form, as the API has it, not yet canonical */
export function valueOfRecord(record: Fields): string {
  const type = String(record['type'])
  const content = textOf(record['content'])
  const names = dataFields[type]
  const data = fieldsOf(record['data'])
  if (names !== undefined && Object.hasOwn(data, names.at(-1)!)) {
    return names
      .map((name) => dataText(type, name, data[name]))
      .join(' ')
      .trim()
  }
  if (type === 'MX') return `${String(record['priority'])} ${withDot(content)}`
  if (type === 'SRV') return withDot(`${String(record['priority'])} ${content}`)
  if (type === 'CNAME' || type === 'NS' || type === 'PTR') return withDot(content)
  return type === 'TXT' && !content.startsWith('"') ? quoted(content) : content
}

function dataText(type: string, name: string, value: unknown): string {
  const text = textOf(value)
  if (nameFields.has(name)) return withDot(text)
  if (type === 'CAA') return name === 'value' ? quoted(text) : text
  return type === 'NAPTR' && quotedFields.has(name) ? quoted(text) : text
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

/** Strings of at most 255 octets. */
function quoted(text: string): string {
  const strings = text.match(/(?:\\\d{3}|\\?[^]){1,255}/g) ?? ['']
  return strings.map((one) => `"${one.replaceAll(/(?<!\\)"/g, '\\"')}"`).join(' ')
}

const withoutDot = (name: string): string => (name === '.' ? name : name.replace(/\.$/, ''))
const withDot = (name: string): string => (name.endsWith('.') ? name : `${name}.`)

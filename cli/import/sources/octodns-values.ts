// The values of octoDNS records as presentation form: fields of each type in their order.
import { fieldsOf, isFields, textOf } from './export-document.ts'
import type { Fields } from './export-document.ts'

/** Names of the fields, older ones after a bar; a star: its text in quotes. */
const forms: Readonly<Record<string, readonly string[]>> = Object.freeze({
  CAA: ['flags', 'tag', '*value'],
  DS: ['key_tag', 'algorithm', 'digest_type', 'digest'],
  MX: ['preference|priority', 'exchange|value'],
  NAPTR: ['order', 'preference', '*flags', '*service', '*regexp', 'replacement'],
  SRV: ['priority', 'weight', 'port', 'target'],
  SSHFP: ['algorithm', 'fingerprint_type', 'fingerprint'],
  TLSA: ['certificate_usage', 'selector', 'matching_type', 'certificate_association_data'],
  URI: ['priority', 'weight', '*target'],
})
const latitude = ['lat_degrees', 'lat_minutes', 'lat_seconds', 'lat_direction']
const longitude = ['long_degrees', 'long_minutes', 'long_seconds', 'long_direction']
const sizes = ['altitude', 'size', 'precision_horz', 'precision_vert']

/** @returns presentation form; undefined for a type whose fields are not known here */
export function octodnsValue(type: string, value: unknown): string | undefined {
  if (type === 'TXT' || type === 'SPF') return quotedStrings(unescaped(textOf(value)))
  if (!isFields(value)) return textOf(value)
  if (type === 'LOC') {
    const metres = sizes.map((name) => `${textOf(value[name])}m`)
    return [...[...latitude, ...longitude].map((name) => textOf(value[name])), ...metres].join(' ')
  }
  if (type === 'SVCB' || type === 'HTTPS') return serviceValue(value)
  return forms[type]?.map((form) => fieldText(value, form)).join(' ')
}

function fieldText(value: Fields, form: string): string {
  const isQuoted = form.startsWith('*')
  const names = form.replace('*', '').split('|')
  const text = textOf(names.map((name) => value[name]).find((one) => one !== undefined))
  return isQuoted ? quoted(unescaped(text)) : text
}

function serviceValue({ svcpriority, targetname, svcparams }: Fields): string {
  const parameters = Object.entries(fieldsOf(svcparams)).map(([key, value]) => {
    const text = Array.isArray(value) ? value.map(textOf).join(',') : textOf(value)
    return text === '' ? key : `${key}=${quoted(text)}`
  })
  return [textOf(svcpriority), textOf(targetname), ...parameters].join(' ')
}

/** octoDNS wants semicolons with a backslash. */
const unescaped = (text: string): string => text.replaceAll('\\;', ';')

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

/** Strings of at most 255 octets, as octoDNS divides long texts, too. */
export function quotedStrings(text: string): string {
  const octets = Buffer.from(text)
  const strings: string[] = []
  for (let at = 0; at === 0 || at < octets.length; at += 255) {
    const part = octets.subarray(at, at + 255).toString('latin1')
    strings.push(`"${part.replace(/["\\]|[^ -~]/g, escaped)}"`)
  }
  return strings.join(' ')
}

const escaped = (sign: string): string =>
  sign === '"' || sign === '\\' ? `\\${sign}` : `\\${String(sign.charCodeAt(0)).padStart(3, '0')}`

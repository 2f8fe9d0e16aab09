// Converts values of octoDNS records to presentation form: the fields of each type in order.
import type { ExportObject } from '#import/fields/export-object.ts'

/** Field names, older ones after a bar; a star marks a quoted text. */
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

/** @returns presentation form; undefined for a type whose fields are unknown */
export function octodnsValue(type: string, value: string | ExportObject): string | undefined {
  if (typeof value === 'string') {
    return type === 'TXT' || type === 'SPF' ? quotedStrings(unescaped(unquoted(value))) : value
  }
  if (type === 'LOC') {
    const metres = sizes.map((name) => `${value.text(name)}m`)
    return [...[...latitude, ...longitude].map((name) => value.text(name)), ...metres].join(' ')
  }
  if (type === 'SVCB' || type === 'HTTPS') return serviceValue(value)
  return forms[type]?.map((form) => fieldText(value, form)).join(' ')
}

/** Removes quotes of a text, around all of it or around its parts. */
function unquoted(text: string): string {
  const isQuoted = text.length > 1 && text.startsWith('"') && text.endsWith('"')
  return isQuoted ? text.slice(1, -1).replaceAll(/"\s+"/g, '').replaceAll('\\"', '"') : text
}

function fieldText(value: ExportObject, form: string): string {
  const isQuoted = form.startsWith('*')
  const names = form.replace('*', '').split('|')
  const text = value.text(names.find((name) => value.has(name)) ?? '')
  return isQuoted ? quoted(unescaped(text)) : text
}

function serviceValue(value: ExportObject): string {
  const parameters = value.object('svcparams')
  const texts = parameters.keys().map((key) => {
    const text = parameters.texts(key).join(',')
    return text === '' ? key : `${key}=${quoted(text)}`
  })
  return [value.text('svcpriority'), value.text('targetname'), ...texts].join(' ')
}

/** octoDNS escapes semicolons with a backslash. */
const unescaped = (text: string): string => text.replaceAll('\\;', ';')

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

/** Splits into strings of at most 255 octets, as octoDNS does. */
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

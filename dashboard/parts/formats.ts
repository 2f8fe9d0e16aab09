// Writes values as people read them: times, ages, counts, field names, YAML.
import { nowMs } from '../api/clock.ts'

const localTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Largest time that `Date` accepts. */
export const endOfTimeMs = 8.64e15

/** In the reader's zone. */
export const localOf = (ms: number): string => localTime.format(ms)
export const utcOf = (ms: number): string =>
  `${new Date(ms).toISOString().replace('T', ' ').slice(0, 19)} UTC`

/** For a field of the kind `datetime-local`. */
export function fieldTimeOf(ms: number): string {
  const minutes = new Date(ms).getTimezoneOffset()
  return new Date(ms - minutes * 60_000).toISOString().slice(0, 16)
}

const steps: readonly (readonly [limit: number, seconds: number, unit: string])[] = [
  [90, 1, 's'],
  [5_400, 60, 'min'],
  [129_600, 3_600, 'h'],
  [Infinity, 86_400, 'd'],
]

/** `3 min`; of what is to come, `in 3 min`. */
export function ageOf(ms: number): string {
  const seconds = Math.round((nowMs() - ms) / 1_000)
  const text = spanOf(Math.abs(seconds))
  return seconds < -1 ? `in ${text}` : seconds < 2 ? 'now' : `${text} ago`
}

export function spanOf(seconds: number): string {
  const [, unit, name] = steps.find(([limit]) => seconds < limit)!
  return `${Math.round(seconds / unit)} ${name}`
}

export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`

/** `filterChain` → `Filter chain`, `isSelf` → `Self`; abbreviations stay. */
export function labelOf(name: string): string {
  const spaced = name
    .replace(/^is(?=[A-Z])/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_]/g, ' ')
    .split(' ')
    .map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()))
    .map((word) => abbreviations[word] ?? word)
    .join(' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

/** `TSIG keys` and `Response rules` within a sentence. */
export const wordsIn = (title: string): string =>
  /^[A-Z]{2}/.test(title) ? title : title.charAt(0).toLowerCase() + title.slice(1)

const abbreviations: Readonly<Record<string, string>> = {
  id: 'ID',
  api: 'API',
  ip: 'IP',
  ttl: 'TTL',
  ttls: 'TTLs',
  url: 'URL',
  rtt: 'RTT',
  dns: 'DNS',
  ds: 'DS',
  fqdn: 'FQDN',
  hsts: 'HSTS',
  ns: 'NS',
  rps: 'RPS',
  http: 'HTTP',
  tls: 'TLS',
  rum: 'RUM',
  totp: 'TOTP',
}

/** The same as YAML, for reading and copying. */
export function yamlOf(value: unknown, indent = ''): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []'
    return value.map((one) => `\n${indent}-${itemOf(one, indent)}`).join('')
  }
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value)
    if (entries.length === 0) return ' {}'
    return entries
      .map(([name, one]) => `\n${indent}${scalarOf(name)}:${yamlOf(one, nested(one, indent))}`)
      .join('')
  }
  return ` ${scalarOf(value)}`
}

const nested = (value: unknown, indent: string): string =>
  Array.isArray(value) ? indent : `${indent}  `

/** The first line of an item stands beside its dash. */
function itemOf(value: unknown, indent: string): string {
  const text = yamlOf(value, `${indent}  `)
  const start = `\n${indent}  `
  return text.startsWith(start) ? ` ${text.slice(start.length)}` : text
}

function scalarOf(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  const isPlain = /^[A-Za-z_/][\w./@: -]*$/.test(value) && !/: |:$| $/.test(value)
  const isWord = /^(?:true|false|null|yes|no|on|off|y|n|~)$/i.test(value)
  return isPlain && !isWord ? value : JSON.stringify(value)
}

/** Leaves of a description what is for people: no links to pages, no marks of code. */
export const withoutMarks = (text: string): string =>
  text.replace(/\s*\[[^\]]*\]\([^)]*\)\.?/g, '').replaceAll('`', '')

/** Formats a value in one line, for tables. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(textOf).join(', ')
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text === '{}' ? '–' : text
}

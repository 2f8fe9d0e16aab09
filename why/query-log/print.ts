// Prints a record of a query log: a line for people, or an object for machines.
import type { ReadRecord } from '#answer/query-log/dnstap-reader.ts'

/** `2026-01-02T03:04:05.678Z udp 192.0.2.7 www.example.com. A NOERROR fra1, pool web, failover`. */
export function recordLine(record: ReadRecord): string {
  const { client, subnet, protocol, name, type, rcode, extra } = record
  const from = subnet === undefined ? client : `${client ?? '-'} for ${subnet}`
  const fields = [timeOf(record), protocol, from, name, type, rcode].map((field) => field ?? '-')
  return printable(`${fields.join(' ')} ${whyText(extra)}`.trimEnd())
}

function whyText(extra: ReadRecord['extra']): string {
  if (extra === undefined) return ''
  const members = extra.members ?? (extra.member === undefined ? [] : [extra.member])
  const isOthers = extra.fallback === true ? ' in place of its own' : ''
  const parts = [
    textOf(members),
    ...(extra.pool === undefined ? [] : [`pool ${textOf(extra.pool)}${isOthers}`]),
    textOf(extra.reason),
    ...(extra.commit === undefined ? [] : [`commit ${textOf(extra.commit).slice(0, 12)}`]),
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** The value may be of another program, and of any type. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(' ')
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** Unknown fields are left out; `query` and `reply` are in base64. */
export function recordJson(record: ReadRecord): string {
  const { askedMs: _, query, reply, extra, ...rest } = record
  return JSON.stringify({
    at: timeOf(record),
    ...rest,
    ...extra,
    query: base64Of(query),
    reply: base64Of(reply),
  })
}

const base64Of = (octets: Uint8Array | undefined): string | undefined =>
  octets === undefined ? undefined : Buffer.from(octets).toString('base64')

function timeOf({ askedMs }: ReadRecord): string | undefined {
  return askedMs === undefined ? undefined : new Date(askedMs).toISOString()
}

/** Replaces control characters in a record of another program. */
const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '?')

// Parses a question as people write it: name, type, client, time.
import { parseAddress } from '#dns/address.ts'
import { parseName } from '#dns/name.ts'
import { typeNumbers } from '#dns/rdata-text/type-names.ts'
import { rrTypeNames } from '#dns/rrtype.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { suggest } from '#lib/suggest.ts'
import { readInstant } from '#schemas/forms/instant.ts'
import type { SimulatedClient } from './question.ts'

interface AskedQuestion {
  readonly name: string
  readonly type: string
  /** Source address of the question. */
  readonly client?: string
  /** The client subnet that a resolver sends. */
  readonly subnet?: string
}

interface ReadQuestion {
  /** Name in wire form. */
  readonly qname: Uint8Array
  readonly qtype: number
  readonly client: SimulatedClient | null
  readonly source?: Uint8Array
}

interface QuestionFault {
  readonly code: 'invalid'
  readonly field: string
  /** Fault, as a clause. */
  readonly reason: string
}

export const invalid = (field: string, reason: string): Result<never, QuestionFault> =>
  err({ code: 'invalid', field, reason })

export function readQuestion(asked: AskedQuestion): Result<ReadQuestion, QuestionFault> {
  const qname = parseName(asked.name)
  if (!qname.ok) return invalid('name', `is not a domain name (${qname.error})`)
  const qtype = readType(asked.type)
  if (!qtype.ok) return invalid('type', qtype.error)
  const client = asked.subnet === undefined ? ok(null) : readClient(asked.subnet)
  if (!client.ok) return invalid('subnet', client.error)
  const source = asked.client === undefined ? undefined : parseAddress(asked.client)
  if (source?.ok === false) return invalid('client', `"${asked.client}" is not an IP address`)
  return ok({
    ...{ qname: qname.value, qtype: qtype.value, client: client.value },
    ...(source === undefined ? {} : { source: Uint8Array.from(source.value) }),
  })
}

/** Errors: a clause about the text. */
export function readType(text: string): Result<number, string> {
  const name = text.toUpperCase()
  const known = Object.entries(rrTypeNames).find(([, candidate]) => candidate === name)
  if (known !== undefined) return ok(Number(known[0]))
  const ofZones = typeNumbers[name]
  if (ofZones !== undefined) return ok(ofZones)
  // The generic form of RFC 3597 section 5.
  const generic = /^TYPE(\d{1,5})$/.exec(name)
  if (generic !== null && Number(generic[1]) <= 0xffff) return ok(Number(generic[1]))
  const near = suggest(name, Object.values(rrTypeNames))
  const hint = near === undefined ? '; write TYPE and its number' : `; did you mean "${near}"?`
  return err(`"${text}" is not a known type${hint}`)
}

/** An address, or a network in the form that resolvers send. */
export function readClient(text: string): Result<SimulatedClient, string> {
  const [address = '', bits, ...rest] = text.split('/')
  const octets = parseAddress(address)
  const bitsMax = octets.ok ? octets.value.length * 8 : 0
  const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax)
  if (!octets.ok || !isPrefix || rest.length > 0) {
    return err(`"${text}" is not an IP address, nor a network such as 192.0.2.0/24`)
  }
  const prefixBits = bits === undefined ? bitsMax : Number(bits)
  // RFC 7871 section 6 requires zeros beyond the prefix.
  const kept = octets.value.map((octet, i) => {
    const own = Math.min(8, Math.max(0, prefixBits - i * 8))
    return octet & (0xff00 >> own)
  })
  return ok({ octets: kept, prefixBits })
}

export function readTime(text: string): Result<number, string> {
  const { atMs, fault } = readInstant(text)
  if (fault === undefined) return ok(atMs)
  const what = fault === 'no-zone' ? 'has no zone' : 'is not a time'
  return err(`"${text}" ${what}; write 2026-01-31T12:00:00Z`)
}

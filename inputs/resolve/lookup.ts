// Asks name servers for the addresses of a host name, in bounded time.
import { Resolver } from 'node:dns/promises'
import { resolveLimits } from './limits.ts'

/** Addresses of one family; `undefined`: no server answered, so known ones stay. */
export type FoundAddresses = readonly string[] | undefined

export type LookupResult =
  | {
      readonly ok: true
      readonly v4: FoundAddresses
      readonly v6: FoundAddresses
      /** The least TTL of all records, without bounds. */
      readonly ttlSeconds: number
    }
  | { readonly ok: false; readonly fault: LookupFault }

/** A bounded set, for the metric. */
export const lookupFaults = [
  'timeout',
  'no-such-name',
  'no-addresses',
  'server-failure',
  'refused',
  'bad-answer',
  'unusable-addresses',
  'other',
] as const
export type LookupFault = (typeof lookupFaults)[number]

/**
 * Never rejects.
 *
 * @param hostname in presentation form, with its last dot
 */
export type Lookup = (hostname: string) => Promise<LookupResult>

interface Record {
  readonly address: string
  readonly ttl: number
}

/**
 * @param resolvers addresses, with a port as in `127.0.0.1:5353` and `[::1]:5353`; none: those of
 * the system, read for each lookup
 */
export function createDnsLookup(resolvers: readonly string[]): Lookup {
  return async (hostname) => {
    const { tryMs, tries, lookupMs } = resolveLimits
    const resolver = new Resolver({ timeout: tryMs, tries })
    if (resolvers.length > 0) resolver.setServers(resolvers)
    // Ends the sum of tries and pauses over several servers.
    const deadline = setTimeout(() => {
      resolver.cancel()
    }, lookupMs)
    try {
      const [v4, v6] = await Promise.all([
        settled(resolver.resolve4(hostname, { ttl: true })),
        settled(resolver.resolve6(hostname, { ttl: true })),
      ])
      return joined(v4, v6)
    } finally {
      clearTimeout(deadline)
    }
  }
}

type Answered = { readonly records: readonly Record[] } | { readonly fault: LookupFault }

async function settled(asked: Promise<readonly Record[]>): Promise<Answered> {
  try {
    const records = await asked
    return { records: records.slice(0, resolveLimits.addressesReadMax) }
  } catch (error) {
    const fault = faultOf((error as NodeJS.ErrnoException).code ?? '')
    // A name may have no address of one family.
    return fault === 'no-addresses' ? { records: [] } : { fault }
  }
}

function joined(v4: Answered, v6: Answered): LookupResult {
  const records = [v4, v6].flatMap((one) => ('records' in one ? one.records : []))
  if (records.length === 0) {
    const fault = 'fault' in v4 ? v4.fault : 'fault' in v6 ? v6.fault : 'no-addresses'
    return { ok: false, fault }
  }
  const addresses = (answered: Answered): FoundAddresses =>
    'records' in answered ? answered.records.map(({ address }) => address) : undefined
  const ttlSeconds = records.reduce((least, { ttl }) => Math.min(least, ttl), Infinity)
  return { ok: true, v4: addresses(v4), v6: addresses(v6), ttlSeconds }
}

const faults: Readonly<{ [code: string]: LookupFault }> = {
  ETIMEOUT: 'timeout',
  ECANCELLED: 'timeout',
  ENOTFOUND: 'no-such-name',
  ENODATA: 'no-addresses',
  ESERVFAIL: 'server-failure',
  ENOTIMP: 'refused',
  EREFUSED: 'refused',
  ECONNREFUSED: 'refused',
  EBADRESP: 'bad-answer',
  EFORMERR: 'bad-answer',
  EBADNAME: 'bad-answer',
}

function faultOf(code: string): LookupFault {
  return faults[code] ?? 'other'
}

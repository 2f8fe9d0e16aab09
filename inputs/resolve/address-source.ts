// Defines sources of members' addresses at run time, and joins two of them into one.
import { isDiscoveredName } from '#bundle/discovered/from.ts'
import type { LookupFault } from './lookup.ts'

/** State of a host name, or of a member's question to a source of discovery. */
export interface HostnameStatus {
  /** By slot; '': free. */
  readonly v4: readonly string[]
  readonly v6: readonly string[]
  /** When the addresses were last found, Unix epoch; 0: never. */
  readonly resolvedAtMs: number
  /** Why the last lookup failed; empty: it did not, or there was none. */
  readonly error: string
  /** Number of addresses beyond the answered ones. */
  readonly unused: number
  /** What discovered addresses weigh against each other; left out: there are none. */
  readonly weights?: ReadonlyMap<string, number>
}

export interface ResolveCounts {
  readonly hostnames: {
    readonly resolved: number
    readonly stale: number
    readonly unresolved: number
  }
  /** Age of the oldest addresses of any host name; 0: none is known. */
  readonly ageSeconds: number
  readonly failures: Readonly<Record<LookupFault, number>>
  /** Left out: nothing is discovered. */
  readonly discovered?: DiscoveredCounts
}

export interface DiscoveredCounts {
  /** What members ask: in `stale` the last good ones are answered; of the last two are none. */
  readonly references: Readonly<Record<'found' | 'stale' | 'missing' | 'refused', number>>
  readonly members: number
  /** Members that are not found any more and are held. */
  readonly held: number
  /** Age of the oldest members; 0: none are known. */
  readonly ageSeconds: number
  /** By name of the source. */
  readonly failures: Readonly<Record<string, number>>
}

/** Looks addresses up, and keeps them. */
export interface FoundAddressesOf {
  /** Calls `handler` with names whose addresses or errors changed. */
  readonly onChange: (handler: (hostnames: readonly string[]) => void) => void
  /** Sets all names of the active bundle: new ones are asked for at once, others dropped. */
  readonly want: (hostnames: Iterable<string>) => void
  readonly statusOf: (hostname: string) => HostnameStatus
  /** Resolves when each name was asked for once, or the patience of a start is over. */
  readonly settled: () => Promise<void>
  readonly stop: () => void
}

export interface AddressSource extends FoundAddressesOf {
  readonly counts: () => ResolveCounts
}

/** Asks one source about host names, and the other about discovered members. */
export function joinSources(
  resolver: AddressSource,
  discovery: FoundAddressesOf & { readonly counts: () => DiscoveredCounts },
): AddressSource {
  return {
    onChange: (handler) => {
      resolver.onChange(handler)
      discovery.onChange(handler)
    },
    want: (hostnames) => {
      const all = [...hostnames]
      resolver.want(all.filter((one) => !isDiscoveredName(one)))
      discovery.want(all.filter(isDiscoveredName))
    },
    statusOf: (hostname) => (isDiscoveredName(hostname) ? discovery : resolver).statusOf(hostname),
    settled: async () => {
      await Promise.all([resolver.settled(), discovery.settled()])
    },
    counts: () => ({ ...resolver.counts(), discovered: discovery.counts() }),
    stop: () => {
      resolver.stop()
      discovery.stop()
    },
  }
}

// The table of filters. Adding one means one file, one line here, one set of cases.
import { asn } from '#routing/filters/asn.ts'
import { failoverFilter } from '#routing/filters/failover.ts'
import { geoIp } from '#routing/filters/geo-ip.ts'
import { latency } from '#routing/filters/latency.ts'
import { mapFile } from '#routing/filters/map-file.ts'
import { roundRobinFilter } from '#routing/filters/round-robin.ts'
import { rum } from '#routing/filters/rum.ts'
import { script } from '#routing/filters/script.ts'
import { signalWeight } from '#routing/filters/signal-weight.ts'
import { sticky, stickyWeighted } from '#routing/filters/sticky.ts'
import { weightedRoundRobinFilter } from '#routing/filters/weighted-round-robin.ts'
import type { Filter } from './step.ts'

export const filters: readonly Filter[] = Object.freeze([
  geoIp,
  asn,
  mapFile,
  sticky,
  stickyWeighted,
  signalWeight,
  roundRobinFilter,
  weightedRoundRobinFilter,
  failoverFilter,
  latency,
  rum,
  script,
])

/** A filter as a chain names it. */
export interface FilterUse {
  readonly filter: Filter
  /** What stands behind the colon; empty without one. */
  readonly argument: string
}

/** Finds a filter by its name or an alias; only `script` takes an argument. */
export function filterNamed(text: string): FilterUse | undefined {
  const colon = text.indexOf(':')
  const name = colon < 0 ? text : text.slice(0, colon)
  const filter = filters.find((known) => known.name === name || known.aliases.includes(name))
  if (filter === undefined || (filter === script) !== colon >= 0) return undefined
  return { filter, argument: colon < 0 ? '' : text.slice(colon + 1) }
}

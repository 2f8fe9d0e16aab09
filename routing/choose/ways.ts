// Lists every way to choose, as algorithm and as filter. A new one is one file, one line here, and
// one set of cases.
import { asn, asnFilter } from '#routing/ways/asn.ts'
import { failover } from '#routing/ways/failover.ts'
import { geoIpDistance } from '#routing/ways/geo-ip-distance.ts'
import { geoIpRegion } from '#routing/ways/geo-ip-region.ts'
import { latency } from '#routing/ways/latency.ts'
import { latencyRegion } from '#routing/ways/latency-region.ts'
import { mapFile } from '#routing/ways/map-file.ts'
import { roundRobin } from '#routing/ways/round-robin.ts'
import { rum } from '#routing/ways/rum.ts'
import { script } from '#routing/ways/script.ts'
import { signalWeight } from '#routing/ways/signal-weight.ts'
import { sticky, stickyWeighted } from '#routing/ways/sticky.ts'
import { weightedRoundRobin } from '#routing/ways/weighted-round-robin.ts'
import type { PlainWay, Way } from './way.ts'

export const ways: readonly Way[] = Object.freeze([
  roundRobin,
  weightedRoundRobin,
  failover,
  geoIpDistance,
  geoIpRegion,
  mapFile,
  asn,
  asnFilter,
  latencyRegion,
  latency,
  rum,
  sticky,
  stickyWeighted,
  signalWeight,
  script,
])

/** Ways that `algorithm` may name. */
export const algorithms: readonly Way[] = Object.freeze(
  ways.filter(({ usedAs }) => usedAs.includes('algorithm')),
)

/** Ways that `filterChain` may name. */
export const filters: readonly Way[] = Object.freeze(
  ways.filter(({ usedAs }) => usedAs.includes('filter')),
)

const algorithmBySpelling = bySpelling(algorithms)
const filterBySpelling = bySpelling(filters)

function bySpelling(rows: readonly Way[]): ReadonlyMap<string, Way> {
  return new Map(rows.flatMap((way) => spellingsOf(way).map((spelling) => [spelling, way])))
}

/** Returns the name, then the aliases. */
export function spellingsOf({ name, aliases }: Way): readonly string[] {
  return [name, ...aliases]
}

export function algorithmNamed(spelling: string): Way | undefined {
  return algorithmBySpelling.get(spelling)
}

/** A way as a chain names it. */
export interface FilterUse {
  readonly way: Way
  /** The text after the colon; empty without one. */
  readonly argument: string
}

/** Finds the way of an entry of a chain: `name`, or `name:argument` where it takes one. */
export function filterNamed(text: string): FilterUse | undefined {
  const colon = text.indexOf(':')
  const way = filterBySpelling.get(colon < 0 ? text : text.slice(0, colon))
  if (way === undefined || (way.argument !== undefined) !== colon >= 0) return undefined
  return { way, argument: colon < 0 ? '' : text.slice(colon + 1) }
}

/** Returns the way as people write it in a chain, with what follows the colon. */
export function filterText({ name, argument }: Way): string {
  return argument === undefined ? name : `${name}:${argument}`
}

/** Returns the way of an `Algorithm` cell; undefined when this version has none of that code. */
export function wayOfCode(code: number): Way | undefined {
  return ways.find(({ plain }) => plain?.code === code)
}

/** Fast paths by code; a hole is a code that no way has. */
export const plainByCode: readonly (PlainWay | undefined)[] = Object.freeze(
  Array.from(
    { length: Math.max(...ways.map(({ plain }) => plain?.code ?? 0)) + 1 },
    (_, code) => wayOfCode(code)?.plain,
  ),
)

/**
 * Returns the `Algorithm` cell of a service that needs no policy; -1 when this algorithm always
 * needs one.
 */
export function plainCodeOf(name: string): number {
  return algorithmNamed(name)?.plain?.code ?? -1
}

// The table of algorithms: ways to choose by the client or by measurements.
import { asn } from '#routing/algorithms/asn.ts'
import { geoIp } from '#routing/algorithms/geo-ip.ts'
import { latency } from '#routing/algorithms/latency.ts'
import { mapFile } from '#routing/algorithms/map-file.ts'
import { filterNamed } from './filters.ts'
import { strategyNamed } from './strategies.ts'
import type { Algorithm } from './step.ts'

export const algorithms: readonly Algorithm[] = Object.freeze([geoIp, mapFile, asn, latency])

/** Finds an algorithm by its name or an alias: one of these, or a plain strategy as a step. */
export function algorithmNamed(name: string): Algorithm | undefined {
  const known = algorithms.find((one) => one.name === name || one.aliases.includes(name))
  if (known !== undefined) return known
  const strategy = strategyNamed(name)
  const use = strategy === undefined ? undefined : filterNamed(strategy.name)
  if (strategy === undefined || use === undefined) return undefined
  return {
    name: strategy.name,
    aliases: strategy.aliases,
    bind: (environment) => use.filter.bind(environment, ''),
  }
}

/** The `Algorithm` cell of a service that needs no policy; -1: this algorithm always needs one. */
export function plainCodeOf(name: string): number {
  return strategyNamed(name)?.code ?? -1
}

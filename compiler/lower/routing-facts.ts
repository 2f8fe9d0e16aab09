// What a pool and the settings offer to routing: regions, locations, rules, probes.
import { discoveredLimits, isDiscoveredName } from '#bundle/discovered/from.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { probeTypes } from '#probes/probe-types.ts'
import type { HealthCheck } from '#schemas/objects/health-check.ts'
import { isDiscoveredMember, isHostname, targetOf } from '#compiler/values/member-target.ts'
import { mapRulesOf, routingModel } from './routing-model.ts'
import type { Entry } from '#compiler/tree/tree.ts'

export interface SettingsFacts {
  /** Addresses in rules of `mapFile`. */
  readonly mapped: ReadonlySet<string>
  readonly byAsn: ReadonlySet<string>
  readonly located: ReadonlySet<string>
  /** Regions with a signal. */
  readonly signals: ReadonlySet<string>
}

/** Undefined fields depend on settings that could not be read. */
export interface PoolFacts {
  readonly name: string
  readonly members: number
  /** Regions of its members, without `unknown`. */
  readonly regions: ReadonlySet<string>
  /** Some member has no region. */
  readonly hasNoRegion: boolean
  /** Why round-trip times are not measured; undefined: they are. */
  readonly unmeasured: string | undefined
  readonly hasRumUrl: boolean
  /** Members of the larger family: the most that one reply can hold. */
  readonly addressesMax: number
  readonly hasMapRule: boolean | undefined
  readonly hasAsnRule: boolean | undefined
  readonly hasLocation: boolean | undefined
  readonly hasSignal: boolean | undefined
}

export function settingsFacts(settings: Entry<'Settings'> | undefined): SettingsFacts {
  const { asnRules, endpointLocations, signals } = routingModel(settings)
  const mapRules = settings === undefined ? [] : [...mapRulesOf(settings).ahead.keys()]
  return {
    mapped: new Set(mapRules.map(({ endpoint }) => endpoint)),
    byAsn: new Set(asnRules.map(({ endpoint }) => endpoint)),
    located: new Set(endpointLocations.map(({ endpoint }) => endpoint)),
    signals: new Set(Object.keys(signals.static)),
  }
}

/** @returns why a pool's probes measure no round trip, as `the pool has …`; undefined: they do */
export function whyUnmeasured(check: Pick<HealthCheck, 'type'> | undefined): string | undefined {
  if (check === undefined) return 'no health check'
  const { measuresNothing } = probeTypes.find(({ name }) => name === check.type)!
  if (measuresNothing !== true) return undefined
  return `a health check of type ${check.type}, which measures no round trip`
}

/** Canonical addresses and host names, computed once per content of the file. */
export function memberAddresses({ file, object }: Entry<'Pool'>): readonly string[] {
  file.memo.addresses ??= object.spec.members.map(targetOf)
  return file.memo.addresses
}

export function poolFacts(entry: Entry<'Pool'>, settings: SettingsFacts | undefined): PoolFacts {
  const { metadata, spec } = entry.object
  const addresses = memberAddresses(entry)
  const regions = new Set(spec.members.map(({ region }) => region || 'unknown'))
  const isIn = (known: ReadonlySet<string> | undefined): boolean | undefined =>
    known === undefined ? undefined : addresses.some((address) => known.has(address))
  const hasNoRegion = regions.delete('unknown')
  const hostnames = spec.members.filter(isHostname).length
  const isIpv6 = (address: string): boolean => address.includes(':') && !isDiscoveredName(address)
  const count6 = addresses.filter(isIpv6).length
  // An alias is one row, whatever it leads to; a host name has addresses of both families.
  const ofHostname = spec.answer === 'cname' ? 1 : bundleLimits.slotsPerHostname
  const discovered = spec.members.filter(isDiscoveredMember).length
  const found = (hostnames - discovered) * ofHostname + discovered * discoveredLimits.slots
  const count4 = addresses.length - count6 - hostnames
  return {
    name: metadata.name,
    members: spec.members.length,
    regions,
    hasNoRegion,
    unmeasured: whyUnmeasured(spec.healthCheck),
    hasRumUrl: spec.members.some((member) => (member.rumUrl ?? '') !== '' && !isHostname(member)),
    addressesMax: Math.max(count6, count4) + found,
    hasMapRule: isIn(settings?.mapped),
    hasAsnRule: isIn(settings?.byAsn),
    hasLocation: isIn(settings?.located),
    hasSignal:
      settings === undefined
        ? undefined
        : [...regions].some((region) => settings.signals.has(region)),
  }
}

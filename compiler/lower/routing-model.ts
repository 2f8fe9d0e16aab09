// Lowers the routing settings of a repository to the encoder's model.
import { plainRouting } from '#bundle/format/model.ts'
import type { RoutingModel } from '#bundle/format/model.ts'
import type { SettingsSpec } from '#schemas/objects/settings.ts'
import { checkAddress } from '#compiler/values/addresses.ts'
import { checkName } from '#compiler/values/names.ts'
import type { Arrangement } from '#compiler/values/network-rules.ts'
import type { Entry } from '#compiler/tree/tree.ts'
import { arrangeMapRules, readRules } from '#compiler/values/written-rules.ts'

/** The rules of `mapFile.rules`, computed once per content of the file. */
export function mapRulesOf({ file, object }: Entry<'Settings'>): Arrangement {
  file.memo.mapRules ??= arrangeMapRules(readRules(object.spec.mapFile?.rules ?? []))
  return file.memo.mapRules
}

/** @param settings without errors */
export function routingModel(settings: Entry<'Settings'> | undefined): RoutingModel {
  if (settings === undefined) return plainRouting
  const { memo } = settings.file
  const { signals, latency } = settings.object.spec
  memo.routing ??= {
    mapRules: mapRulesOf(settings).ranges,
    asnRules: asnRulesOf(settings.object.spec),
    endpointLocations: endpointLocationsOf(settings.object.spec),
    rateLimitExempt: (settings.object.spec.rateLimitExempt ?? []).map(({ cidr }) => cidr),
    ...zoneDigestsOf(settings.object.spec),
    signals: signals ?? plainRouting.signals,
    latency:
      latency === undefined
        ? plainRouting.latency
        : {
            regionBonusMultiplier: latency.regionBonusMultiplier,
            minRttThresholdMs: latency.minRTTThresholdMs,
            fallbackRegion: latency.fallbackRegion,
          },
  }
  return memo.routing
}

function zoneDigestsOf({ zones }: SettingsSpec): Pick<RoutingModel, 'zoneDigests'> {
  const all = zones.flatMap(({ name, zonemd }) => {
    const { key } = checkName(name, false)
    return key === undefined || zonemd === undefined ? [] : [[key, zonemd] as const]
  })
  return all.length === 0 ? {} : { zoneDigests: Object.fromEntries(all) }
}

function asnRulesOf({ asn: settings }: SettingsSpec): RoutingModel['asnRules'] {
  return (settings?.rules ?? []).flatMap(({ asn, org, endpoint }) => {
    const { canonical } = checkAddress(endpoint)
    return canonical === undefined
      ? []
      : [{ asn: asn ?? null, org: org ?? '', endpoint: canonical }]
  })
}

function endpointLocationsOf({ geoip }: SettingsSpec): RoutingModel['endpointLocations'] {
  return Object.entries(geoip?.endpointLocations ?? {}).flatMap(([address, { lat, lon }]) => {
    const { canonical } = checkAddress(address)
    return canonical === undefined ? [] : [{ endpoint: canonical, lat, lon }]
  })
}

// Lists the zones of the accepted configuration that have a `dnssec` section.
import { checkName } from '#compiler/values/names.ts'
import type { ConfigView } from './view.ts'
import type { Zone } from '#schemas/objects/zone.ts'

interface DnssecZone {
  /** In lower case, with the final dot. */
  readonly name: string
  readonly dnssec: NonNullable<Zone['dnssec']>
}

/** @returns none before the configuration is read */
export function dnssecZonesOf(
  config: Pick<ConfigView, 'isReady' | 'snapshot'>,
): readonly DnssecZone[] {
  const [settings] = config.isReady() ? config.snapshot().list('Settings') : []
  return (settings?.object.spec.zones ?? []).flatMap(({ name, dnssec }) => {
    const { key } = checkName(name, false)
    return key === undefined || dnssec === undefined ? [] : [{ name: key, dnssec }]
  })
}

/** The same zones, without those that are not signed. */
export const signedZonesOf: typeof dnssecZonesOf = (config) =>
  dnssecZonesOf(config).filter(({ dnssec }) => dnssec.enabled)

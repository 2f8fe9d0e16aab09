// Finds the files of zones that come from elsewhere, once for each state of the configuration.
import { checkName } from '#compiler/values/names.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { Zone } from '#schemas/objects/zone.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'

interface InboundIndex {
  /** Files that came by transfer, by the name of their zone. */
  readonly entriesOf: ReadonlyMap<string, readonly ConfigEntry<'Records'>[]>
  /** Zones of gslb.yaml by name. */
  readonly zones: ReadonlyMap<string, Zone>
}

const known = new WeakMap<ConfigSnapshot, InboundIndex>()

export function inboundIndexOf(snapshot: ConfigSnapshot): InboundIndex {
  const before = known.get(snapshot)
  if (before !== undefined) return before
  const entriesOf = new Map<string, ConfigEntry<'Records'>[]>()
  for (const entry of snapshot.list('Records')) {
    const { transfer, zone } = entry.object.spec
    const key = transfer === undefined ? undefined : checkName(zone, false).key
    if (key === undefined) continue
    getOrInsert(entriesOf, key, () => []).push(entry)
  }
  const zones = new Map<string, Zone>()
  for (const zone of snapshot.list('Settings')[0]?.object.spec.zones ?? []) {
    const { key } = checkName(zone.name, false)
    if (key !== undefined && !zones.has(key)) zones.set(key, zone)
  }
  const index = { entriesOf, zones }
  known.set(snapshot, index)
  return index
}

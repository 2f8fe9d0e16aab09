// Reads the zones of the stored bundle for the checks of `gslbd doctor`.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { nameOfZone } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { rrsetsOfNode } from '#bundle/load/rrset-values.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { RrType } from '#dns/rrtype.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { namedBy } from '#server/node/refusals.ts'
import type { StoredZone } from './check.ts'

/**
 * Zones of the last active bundle; none when it is unreadable, which a node reports at its start.
 */
export function storedZones(dataDir: string): readonly StoredZone[] {
  // Checked first, since a store creates missing directories.
  if (!existsSync(join(dataDir, 'node', 'active.json'))) return []
  const store = new BundleStore(dataDir)
  const bytes = store.bundle(namedBy(store.record('active')).digest)
  if (!bytes.ok) return []
  const bundle = loadBundle(bytes.value)
  return bundle.ok ? zonesOf(bundle.value) : []
}

function zonesOf(bundle: Bundle): StoredZone[] {
  const zones: StoredZone[] = []
  for (let zone = 0; zone < bundle.counts.zones; zone++) {
    const nameservers = rrsetsOfNode(bundle, bundle.zoneNode[zone]!)
      .filter(({ type }) => type === RrType.NS)
      .flatMap(({ type, rdata }) => rdata.map((one) => rdataTypeOf(type).print(one)))
    const names = nameservers.map((name) => name.toLowerCase()).toSorted()
    zones.push({ name: nameOfZone(bundle, zone), nameservers: names })
  }
  return zones
}

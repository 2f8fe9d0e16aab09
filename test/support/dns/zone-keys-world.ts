// An API over the keys of a signed zone, with a vault and a keeper as a node has them.
import { join } from 'node:path'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import type { ParentView } from '#dns/dnssec/rollover.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { ok } from '#lib/result.ts'
import { createZoneKeysAdmin } from '#node/signing/zone-keys-admin.ts'
import { createKeyCopy } from '#server/signing/key-copy.ts'
import { KeyKeeper } from '#server/signing/key-keeper.ts'
import { KeyVault } from '#server/signing/key-vault.ts'
import { createStoredLooks } from '#server/signing/stored-looks.ts'
import { firstRecord } from '#server/signing/zone-keys.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import { persistentAdapters } from '#test/support/persistent-adapters.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const hour = 3_600_000
const policy = {
  ...{ model: null, algorithm: null, defaultAlgorithm: 13, kskMs: null, zskMs: null },
  ...{ propagationMs: hour, parentMs: hour },
}

export interface ZoneKeysWorld {
  readonly world: ConfigWorld
  readonly keeper: KeyKeeper
  /** The first key of the zone. */
  readonly first: KeyRecord
  readonly clock: { nowMs: () => number }
  /** Records at the parent's servers; null: none answers. */
  readonly parent: { view: ParentView | null }
  readonly stop: () => Promise<void>
}

/**
 * @param zone has a key
 * @param other should be signed as well
 * @param settings gslb.yaml; left out: none
 */
export async function startZoneKeysWorld(
  zone: string,
  other: string,
  settings?: string,
): Promise<ZoneKeysWorld> {
  const directory = makeTempDir('zone-keys')
  const clock = { nowMs: () => 5_000_000 }
  const parent: ZoneKeysWorld['parent'] = { view: null }
  const first = firstRecord(zone, generateZoneKey(signingAlgorithm(13)!), clock.nowMs())
  const adapter = await persistentAdapters[0]![1]()
  const secretKey = Buffer.alloc(32, 7)
  const copy = createKeyCopy(join(directory, 'copy'), secretKey, silentLog)
  const store = adapter.state.zoneKeys
  const now = { nowMs: () => clock.nowMs() }
  const vault = new KeyVault({ store, copy, secretKey, clock: now, log: silentLog })
  await vault.change(zone, () => ok([first]))
  const keeper = new KeyKeeper({
    ...{ vault, clock: now, log: silentLog, parentOf: async () => parent.view },
    zones: () => [{ name: zone, policy, keyTtlMs: hour, longestTtlMs: hour }],
    looks: createStoredLooks(join(directory, 'looks'), silentLog),
  })
  const parts = { vault, keeper: () => keeper, signed: () => [zone, other], clock: now }
  const ports = { zoneKeys: createZoneKeysAdmin(parts) }
  const world = await startConfigWorld({ ports, ...(settings === undefined ? {} : { settings }) })
  const stop = async (): Promise<void> => {
    await world.close()
    await adapter.stop()
    removeTempDir(directory)
  }
  return { world, keeper, first, clock, parent, stop }
}

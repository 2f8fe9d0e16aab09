import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, assert, beforeEach, describe, expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { systemClock } from '#lib/clock.ts'
import { startKeyVault } from '#node/signing/key-vault.ts'
import { keyFolder, readAllKeys, storeKey } from '#server/signing/key-store.ts'
import { giveBackFile } from '#server/signing/key-vault.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const zone = 'example.org.'
const secretKey = Buffer.alloc(32, 7)
const env = { GSLB_SECRET_KEY: secretKey.toString('hex') }

describe.each(persistentAdapters)('keys of zones of a control node on %s', (_name, adapter) => {
  const state = useState(adapter)
  let dataDir = ''
  beforeEach(() => (dataDir = makeTempDir('keys')))
  afterEach(() => removeTempDir(dataDir))
  const start = (more: Record<string, string> = env, exists = true) =>
    startKeyVault({
      settings: { dataDir, database: { url: '' } },
      ...{ env: more, clock: systemClock, log: silentLog },
      state: { persistent: state(), exists: () => exists },
    })

  test('keys of the folder are in the database after the first look, for all nodes', async () => {
    const key = { zone: wireName(zone), key: generateZoneKey(signingAlgorithm(13)!) }
    storeKey(join(dataDir, keyFolder), key, secretKey, 0)
    const first = start()
    await first.look()
    const other = start(env)
    await other.look()
    expect(other.vault?.keys().get(zone)).toMatchObject([{ tag: key.key.tag }])
    // Keys that the program reports without the database: those of its copy.
    removeTempDir(join(dataDir, keyFolder))
    const read = readAllKeys(dataDir, { secretKey, copyKey: secretKey }, 0)
    const { found, faults } = read.ok ? read.value : assert.fail(read.error)
    expect([found.get(zone)?.[0]?.tag, faults.size]).toEqual([key.key.tag, 0])
    for (const [other, why] of [
      [null, /zone-keys\.copy .* is not set.*GSLB_SECRET_KEY/],
      [Buffer.alloc(32), /zone-keys\.copy .* another secret.*GSLB_SECRET_KEY/],
    ] as const) {
      const error = expect.stringMatching(why) as string
      const keys = { secretKey: other, copyKey: other }
      expect(readAllKeys(dataDir, keys, 0)).toEqual({ ok: false, error })
    }
    for (const { stop } of [first, other]) await stop()
  })

  test('a file in the data directory gives them to a database that was lost', async () => {
    const key = { zone: wireName(zone), key: generateZoneKey(signingAlgorithm(13)!) }
    storeKey(join(dataDir, keyFolder), key, secretKey, 0)
    await start().look()
    removeTempDir(join(dataDir, keyFolder))
    const lost = await adapter()
    const node = startKeyVault({
      settings: { dataDir, database: { url: '' } },
      ...{ env, clock: systemClock, log: silentLog },
      state: { persistent: lost.state, exists: () => true },
    })
    await node.look()
    expect(node.vault?.troubles()).toHaveLength(1)
    const wish = join(dataDir, giveBackFile)
    writeFileSync(wish, '')
    await node.look()
    expect(existsSync(wish)).toBe(false)
    expect(node.vault?.troubles()).toEqual([])
    expect(await lost.state.zoneKeys.load()).toMatchObject({ value: { zones: [{ zone }] } })
    await lost.stop()
  })

  test('a database that is not there is not made to be looked at', async () => {
    const node = start(env, false)
    await node.look()
    expect(node.vault?.set()).toEqual({ ok: true, value: { revision: 0, records: [] } })
    expect(await state().zoneKeys.revision()).toEqual({ ok: true, value: 0 })
    await node.stop()
  })

  test('without GSLB_SECRET_KEY there are files alone', () => {
    expect(start({}).vault).toBeNull()
  })
})

// The keys of zones on a control node: shared by the database, kept without it, never made twice.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { noTimes, recordOfKey } from '#dns/dnssec/key-record.ts'
import type { KeyRecord, KeyTimes } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { err, ok } from '#lib/result.ts'
import { importKeyFolder } from '#server/signing/import-folder.ts'
import { createKeyCopy } from '#server/signing/key-copy.ts'
import { storeKey } from '#server/signing/key-store.ts'
import { KeyVault } from '#server/signing/key-vault.ts'
import type { KeyVaultParts } from '#server/signing/key-vault.ts'
import { sealedKey } from '#server/signing/sealed-keys.ts'
import { ZoneKeys } from '#server/signing/zone-keys.ts'
import type { ZoneKeyStore } from '#state/ports/zone-keys.ts'
import { bareModel, bundleOf, zone as zoneOf } from '#test/support/bundle-models.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const zone = 'example.org.'
const secretKey = Buffer.alloc(32, 7)
const algorithm = signingAlgorithm(13)!
const made = (times: Partial<KeyTimes> = {}, name = zone): KeyRecord =>
  recordOfKey(name, generateZoneKey(algorithm), 'csk', { createdMs: 1, ...times })

let directory = ''
beforeEach(() => (directory = makeTempDir('vault')))
afterEach(() => removeTempDir(directory))

describe.each(persistentAdapters)('keys of zones that %s keeps', (_name, adapter) => {
  const state = useState(adapter)
  const said: string[] = []
  const log = {
    info: () => undefined,
    warn: (_fields: unknown, text: string) => void said.push(text),
    error: (fields: unknown) => void said.push(JSON.stringify(fields)),
  }
  beforeEach(() => void said.splice(0))

  interface More extends Partial<Pick<KeyVaultParts, 'store' | 'secretKey' | 'planFirst'>> {
    readonly file?: string
    readonly clock?: { nowMs: () => number }
  }
  function vault(more: More = {}) {
    const { store = state().zoneKeys, secretKey: key = secretKey, file = 'copy', planFirst } = more
    const copy = createKeyCopy(join(directory, file), key, log)
    const clock = more.clock ?? { nowMs: () => 5_000 }
    const plan = planFirst === undefined ? {} : { planFirst }
    const opened = new KeyVault({ store, copy, secretKey: key, ...plan, clock, log })
    opened.start()
    return opened
  }

  test('that are changed at once come into force together, read once', async () => {
    const store = state().zoneKeys
    let loads = 0
    const counted = { ...store, load: () => (loads++, store.load()) }
    const one = vault({ store: counted })
    let changes = 0
    one.onChange(() => changes++)
    const names = Array.from({ length: 20 }, (_, i) => `z${i}.example.`)
    const all = names.map((name) => one.change(name, () => ok([made({}, name)])))
    expect((await Promise.all(all)).every((changed) => changed.ok)).toBe(true)
    expect([...one.keys().keys()].toSorted()).toEqual(names.toSorted())
    // The first look, and one for all.
    expect([loads, changes]).toEqual([2, 2])
    const other = vault({ file: 'other' })
    await other.refresh()
    expect(other.keys()).toEqual(one.keys())
  })

  test('are the same on each node, as soon as it looks', async () => {
    const [one, other] = [vault(), vault({ file: 'other' })]
    let changes = 0
    other.onChange(() => changes++)
    const record = made()
    expect(await one.change(zone, () => ok([record]))).toEqual({ ok: true, value: [record] })
    expect(one.keys().get(zone)).toEqual([record])
    expect(await other.refresh()).toBe(true)
    expect(other.keys().get(zone)).toEqual([record])
    expect(await other.refresh()).toBe(true)
    expect(changes).toBe(1)
    expect(other.set()).toEqual(one.set())
  })

  test('are made once, whoever of several nodes asks for them at once', async () => {
    const nodes = Array.from({ length: 4 }, (_, i) => vault({ file: `copy-${i}` }))
    for (const node of nodes) {
      node.makeFirst(zone, () => [made()])
      node.makeFirst(zone, () => [made()])
    }
    await waitUntil('all nodes have a key', () => nodes.every((node) => node.keys().has(zone)))
    const tags = nodes.map((node) =>
      node
        .keys()
        .get(zone)
        ?.map(({ tag }) => tag),
    )
    expect(new Set(tags.map(String)).size).toBe(1)
    expect(tags[0]).toHaveLength(1)
  })

  test('are not made first where others may have them, until that has ended', async () => {
    let nowMs = 5_000
    let reason: string | null = 'the parent has a DS record'
    let [asked, isSoonOver] = [0, false]
    const planFirst = async () => {
      asked++
      return reason === null ? ok({ isSplit: true }) : err({ reason, isSoonOver })
    }
    const node = vault({ planFirst, clock: { nowMs: () => nowMs } })
    const splits: boolean[] = []
    const first = () =>
      node.makeFirst(zone, ({ isSplit }) => {
        splits.push(isSplit)
        return [made()]
      })
    expect(first()).toBeNull()
    await waitUntil('it is refused', () => node.refusedFirst(zone) !== null)
    expect([first(), first(), node.refusedFirst(zone)]).toEqual([reason, reason, reason])
    expect([asked, node.keys().size, node.set().ok]).toEqual([1, 0, true])
    nowMs += 600_000
    isSoonOver = true
    first()
    await waitUntil('it is asked again', () => asked === 2)
    reason = null
    await waitUntil('there is a key, at once', () => (first(), node.keys().has(zone)))
    expect([asked, splits, node.refusedFirst(zone)]).toEqual([3, [true], null])
  })

  test('of the database are taken by a first look for a key, and nothing is asked', async () => {
    const record = made()
    await vault({ file: 'other' }).change(zone, () => ok([record]))
    const asked: string[] = []
    const planFirst = async (name: string) => (asked.push(name), ok({ isSplit: false }))
    const node = vault({ planFirst })
    node.makeFirst(zone, () => [made()])
    await waitUntil('it has the key', () => node.keys().has(zone))
    expect([node.keys().get(zone), asked]).toEqual([[record], []])
  })

  test('a change that lost a race is made again, of what won it', async () => {
    const [one, other] = [vault(), vault({ file: 'other' })]
    await one.change(zone, () => ok([made()]))
    await other.refresh()
    const begin = (before: readonly KeyRecord[]) =>
      before.length > 1 ? err('one is under way') : ok([...before, made()])
    const rolled = await Promise.all([one.change(zone, begin), other.change(zone, begin)])
    const codes = rolled.map((done) => (done.ok ? 'rolled' : done.error.code))
    expect(codes.toSorted()).toEqual(['refused', 'rolled'])
    await one.refresh()
    expect(one.keys().get(zone)).toHaveLength(2)
  })

  test('are there without the database after a start, from a copy that nobody reads', async () => {
    const record = made()
    await vault().change(zone, () => ok([record]))
    const path = join(directory, 'copy')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const secret = Buffer.from(record.secret!).toString('base64')
    expect(readFileSync(path, 'utf8')).not.toContain(secret)
    const away = async () => err({ code: 'store-away', message: 'It is away.' } as const)
    const later = vault({ store: { revision: away, load: away, swap: away } })
    expect(later.keys().get(zone)).toEqual([record])
    expect(await later.refresh()).toBe(false)
    expect(await later.change(zone, () => ok([]))).toMatchObject({ error: { code: 'store-away' } })
    expect(later.keys().get(zone)).toEqual([record])
  })

  test('are of no use with another secret key, are not overwritten, and it is said', async () => {
    await vault().change(zone, () => ok([made()]))
    const wrong = vault({ secretKey: Buffer.alloc(32), file: 'other' })
    await wrong.refresh()
    expect(wrong.keys().size).toBe(0)
    const why = /keys of example.org. were stored under another GSLB_SECRET_KEY/
    expect(wrong.faults().get(zone)).toMatch(why)
    expect(said.join()).toMatch(why)
    const fault = { ok: false, error: { code: 'unreadable' } }
    expect(await wrong.change(zone, () => ok([made()]))).toMatchObject(fault)
    // Nodes would take it as the end of all keys.
    expect(wrong.set().ok).toBe(false)
  })

  test('are kept while the database has older ones or none, and no key is made then', async () => {
    const [record, other] = [made(), made({}, 'other.example.')]
    await vault().change(zone, () => ok([record]))
    await vault().change(other.zone, () => ok([other]))
    const lost = await adapter()
    const store = lost.state.zoneKeys
    const node = vault({ store })
    expect(await node.refresh()).toBe(true)
    node.makeFirst('new.example.', () => [made({}, 'new.example.')])
    const change = await node.change(zone, () => ok([made()]))
    expect(change).toMatchObject({ error: { code: 'older' } })
    expect(node.keys().get(zone)).toEqual([record])
    expect(await store.revision()).toEqual({ ok: true, value: 0 })
    expect(node.troubles()).toEqual([expect.stringMatching(/revision 0, and 5002 is known here/)])
    expect(said).toEqual([expect.stringMatching(/zone-keys.give-back/)])
    expect(vault().keys().get(zone)).toEqual([record])
    // A person says that what this node has is right.
    const revisions: unknown[] = []
    const swap: ZoneKeyStore['swap'] = async (...asked) => {
      revisions.push(await store.revision())
      return await store.swap(...asked)
    }
    const giving = vault({ store: { ...store, swap } })
    expect(await giving.giveBack()).toEqual({ ok: true, value: null })
    expect(revisions).toMatchObject([{ value: 0 }, { value: 1 }])
    expect(await node.refresh()).toBe(true)
    expect([node.troubles(), node.keys().size]).toEqual([[], 2])
    expect(node.keys().get(zone)).toEqual([record])
    await lost.stop()
  })

  test('that a change takes out of the copy are in the copy of before', async () => {
    const [record, other] = [made(), made()]
    const node = vault()
    await node.change(zone, () => ok([record]))
    await node.change(zone, () => ok([]))
    await node.change(zone, () => ok([other]))
    const before = createKeyCopy(join(directory, 'copy.before'), secretKey, log)
    expect(before.read()?.records).toEqual([record])
    expect(statSync(join(directory, 'copy.before')).mode & 0o777).toBe(0o600)
  })

  test('that cannot be read stay as they were read last, and others go on', async () => {
    const [record, other] = [made(), made({}, 'other.example.')]
    const node = vault()
    await node.change(zone, () => ok([record]))
    const { load, swap } = state().zoneKeys
    const loaded = await load()
    const version = loaded.ok ? loaded.value.revision : 0
    await swap(zone, version, [sealedKey(made(), Buffer.alloc(32))], 6_000)
    await vault({ file: 'other' }).change(other.zone, () => ok([other]))
    expect(await node.refresh()).toBe(true)
    expect(node.keys().get(zone)).toEqual([record])
    expect(node.set()).toMatchObject({ ok: true, value: { records: [record, other] } })
    expect(node.troubles()).toEqual([expect.stringMatching(/under another GSLB_SECRET_KEY/)])
    const change = await node.change(zone, () => ok([made()]))
    expect(change).toMatchObject({ error: { code: 'unreadable' } })
  })

  test('of the folder wait for a database that is away, which is said once', async () => {
    const folder = join(directory, 'dnssec')
    for (const name of [zone, 'other.example.']) {
      storeKey(folder, { zone: wireName(name), key: generateZoneKey(algorithm) }, secretKey, 0)
    }
    const away = async () => err({ code: 'store-away', message: 'It is away.' } as const)
    const opened = vault({ store: { revision: away, load: away, swap: away } })
    const take = () =>
      importKeyFolder({ directory: folder, secretKey, vault: opened, nowMs: 9, log })
    expect([await take(), await take()]).toEqual([false, false])
    expect(said).toEqual(['keys of zones stay as they are'])
  })

  test('that another server signs with have no private half here', async () => {
    const foreign = { ...made(), secret: null }
    await vault().change(zone, () => ok([made(), foreign]))
    const later = vault()
    await later.refresh()
    expect(later.keys().get(zone)?.[1]).toEqual(foreign)
    expect(sealedKey(foreign, secretKey).secretCiphertext).toBeNull()
  })

  test('of the folder are taken once; others that are there stay, which is said', async () => {
    const folder = join(directory, 'dnssec')
    const own = { zone: wireName(zone), key: generateZoneKey(algorithm) }
    storeKey(folder, own, secretKey, 0)
    const opened = vault()
    const take = () =>
      importKeyFolder({ directory: folder, secretKey, vault: opened, nowMs: 9, log })
    expect(await take()).toBe(true)
    expect(await take()).toBe(true)
    const inUse = { publishedMs: 0, activeMs: 0, dsSubmittedMs: 0, retiredMs: null }
    expect(opened.keys().get(zone)).toMatchObject([{ tag: own.key.tag, times: inUse }])
    expect(said).toEqual([])
    const record = made()
    await opened.change(zone, () => ok([record]))
    expect(await take()).toBe(true)
    expect(said).toEqual([expect.stringContaining('has other keys of example.org. than')])
    expect(opened.keys().get(zone)).toEqual([record])
  })

  test.each(['retiredMs', 'removedMs'])(
    'of the folder whose %s is past stay files, and the zone is signed by them as before',
    async (past) => {
      const folder = join(directory, 'dnssec')
      const own = { zone: wireName(zone), key: generateZoneKey(algorithm) }
      const times = { ...noTimes, createdMs: 1_000, publishedMs: 1_000, activeMs: 1_000 }
      storeKey(folder, own, secretKey, { ...times, [past]: 2_000 })
      const opened = vault()
      const nowMs = 9_000
      const given = { directory: folder, secretKey, vault: opened, nowMs, log }
      expect(await importKeyFolder(given)).toBe(true)
      expect(opened.keys().has(zone)).toBe(false)
      expect(said).toEqual([expect.stringContaining('do not sign all of example.org. now')])
      const clock = { nowMs: () => nowMs }
      const parts = { directory: folder, secretKey, source: opened, mayGenerate: true, clock, log }
      const signing = new ZoneKeys(parts)
      const model = { ...bareModel, zones: [{ ...zoneOf(zone), algorithm: 13 }] }
      expect(signing.handedFor(bundleOf(model))).not.toBeNull()
      signing.stop()
      expect([signing.missing(), opened.keys().size]).toEqual([[], 0])
    },
  )
})

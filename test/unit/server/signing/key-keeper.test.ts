// What keeps keys rolling on a control node: what it makes and stores, what it asks the parent, and
// what it knows after a start.
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keyUses } from '#dns/dnssec/key-record.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { dsText } from '#dns/dnssec/rollover.ts'
import type { RollPolicy } from '#dns/dnssec/rollover.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { ok } from '#lib/result.ts'
import { KeyKeeper } from '#server/signing/key-keeper.ts'
import type { KeyKeeperParts } from '#server/signing/key-keeper.ts'
import { createStoredLooks, looksFile, readKeptViews } from '#server/signing/stored-looks.ts'
import { firstRecord } from '#server/signing/zone-keys.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const minute = 60_000
const hour = 60 * minute
const zone = 'example.org.'
const policy: RollPolicy = {
  ...{ model: null, algorithm: null, defaultAlgorithm: 13, kskMs: null, zskMs: null },
  ...{ propagationMs: minute, parentMs: 2 * hour },
}

let directory = ''
beforeEach(() => void (directory = makeTempDir('keeper')))
afterEach(() => removeTempDir(directory))

class World {
  nowMs = Date.UTC(2026, 10, 29)
  keys: readonly KeyRecord[] = [
    firstRecord(zone, generateZoneKey(signingAlgorithm(13)!), this.nowMs),
  ]
  /** null: none of its servers answers. */
  parent: readonly string[] | null = []
  asked = 0
  changes = 0
  behind: readonly string[] = []
  listed: readonly Uint8Array[] | undefined
  ttls = { keyTtlMs: hour, longestTtlMs: hour }
  policy = policy
  readonly said: string[] = []

  /** @param hasParent whether the parent answers */
  keeper(hasParent = () => true): KeyKeeper {
    const note = (_fields: object, line?: string): void => void this.said.push(line ?? '')
    const log = { info: note, warn: note, error: note }
    const parts: KeyKeeperParts = {
      vault: {
        keys: () => new Map(this.keys.length > 0 ? [[zone, this.keys]] : []),
        change: async (_zone, change) => {
          const after = change(this.keys)
          if (!after.ok) return { ok: false, error: { code: 'refused', message: after.error } }
          if (after.value !== this.keys) this.changes++
          this.keys = after.value
          return ok(after.value)
        },
      },
      zones: () => {
        const listed = this.listed === undefined ? {} : { listed: this.listed }
        return [{ name: zone, policy: this.policy, ...listed, ...this.ttls }]
      },
      parentOf: async () => {
        this.asked++
        const { parent } = this
        return parent !== null && hasParent() ? { onAll: parent, onAny: parent } : null
      },
      behind: (beyondMs) => (beyondMs === minute ? this.behind : []),
      looks: createStoredLooks(join(directory, looksFile), log),
      clock: { nowMs: () => this.nowMs },
      log,
    }
    return new KeyKeeper(parts)
  }

  async walk(keepers: KeyKeeper | readonly KeyKeeper[], ms: number): Promise<void> {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; this.nowMs += 5 * minute) {
      for (const keeper of [keepers].flat()) await keeper.look()
    }
  }

  uses(): readonly number[] {
    return keyUses(this.keys).map(({ use }) => use)
  }
}

test('a key is followed by another one, from the first look to the last', async () => {
  const world = new World()
  const keeper = world.keeper()
  await world.walk(keeper, 8 * hour)
  expect(world.uses()).toEqual([15])
  const [view] = keeper.views()
  expect(view?.waiting).toMatchObject([{ for: 'parent', ds: dsText(world.keys[0]!) }])
  world.parent = [dsText(world.keys[0]!)]
  await world.walk(keeper, hour)
  expect(keeper.views()[0]?.waiting).toEqual([])

  const begun = await keeper.begin(zone, { role: null, isEmergency: false })
  const [steps, older] = [{ for: 'time' }, { for: 'key' }]
  expect(begun).toMatchObject({
    ok: true,
    value: { waiting: [{ ...steps, step: 'sign' }, { ...steps, step: 'give-ds' }, older] },
  })
  expect(world.uses()).toEqual([15, 5])
  expect(await keeper.begin(zone, { role: 'csk', isEmergency: false })).toMatchObject({ ok: false })
  await world.walk(keeper, 3 * hour)
  expect(world.uses()).toEqual([5, 15])
  await world.walk(keeper, 48 * hour)
  expect(world.uses()).toEqual([5, 15])
  world.parent = [dsText(world.keys[1]!)]
  await world.walk(keeper, 8 * hour)
  expect(world.uses()).toEqual([0, 15])
  const [old, next] = world.keys
  expect(world.said).toContain(`the CSK ${next!.tag} signs`)
  expect(world.said).toContain(`the CSK ${old!.tag} is out of the DNSKEY records`)
})

test('two keys in the place of one are made when the model says so', async () => {
  const world = new World()
  world.policy = { ...policy, model: 'kskzsk' }
  const keeper = world.keeper()
  await keeper.look()
  expect(world.keys.map(({ role, flags }) => [role, flags])).toEqual([
    ['csk', 257],
    ['ksk', 257],
    ['zsk', 256],
  ])
  expect(new Set(world.keys.map(({ tag }) => tag)).size).toBe(3)
})

test('the parent is asked each ten minutes while something waits, and else each hour', async () => {
  const world = new World()
  const keeper = world.keeper()
  world.parent = [dsText(world.keys[0]!)]
  await world.walk(keeper, 10 * hour)
  world.asked = 0
  await world.walk(keeper, 3 * hour)
  expect(world.asked).toBe(3)
  await keeper.begin(zone, { role: null, isEmergency: false })
  await keeper.look()
  world.asked = 0
  await world.walk(keeper, 2 * hour)
  expect(world.asked).toBeGreaterThanOrEqual(10)
})

test('a start goes on where the clock has gone on, and waits where it jumped', async () => {
  const world = new World()
  await world.walk(world.keeper(), 30 * minute)
  const untilMs = (keeper: KeyKeeper): number | null => keeper.views()[0]?.nextMs ?? null
  const held = world.keeper()
  await held.look()
  const before = untilMs(held)
  world.nowMs += 5 * minute
  const next = world.keeper()
  await next.look()
  expect(untilMs(next)).toBe(before)
  world.nowMs += 24 * hour
  const later = world.keeper()
  await later.look()
  expect(untilMs(later)).toBe(world.nowMs + 2 * hour + minute)
})

test('keys that another node has changed make it wait', async () => {
  const world = new World()
  const keeper = world.keeper()
  await world.walk(keeper, 8 * hour)
  const [key] = world.keys
  // It may have a DS by now.
  world.parent = null
  await world.walk(keeper, 15 * minute)
  world.keys = [{ ...key!, times: { ...key!.times, dsSubmittedMs: null } }]
  await keeper.look()
  expect(keeper.views()[0]?.nextMs).toBe(world.nowMs + 3 * hour + minute)
})

test('a roll ends without a flap where one of two nodes has lost the parent', async () => {
  const world = new World()
  let isThere = true
  const keepers = [world.keeper(), world.keeper(() => isThere)]
  world.parent = [dsText(world.keys[0]!)]
  await world.walk(keepers, 12 * hour)
  await keepers[0]!.begin(zone, { role: null, isEmergency: false })
  await world.walk(keepers, 12 * hour)
  isThere = false
  await world.walk(keepers, hour)
  world.parent = [dsText(world.keys[1]!)]
  world.changes = 0
  await world.walk(keepers, 24 * hour)
  expect(world.uses()).toEqual([0, 15])
  expect(world.changes).toBeLessThan(5)
  const view = { onAll: world.parent, onAny: world.parent }
  expect(keepers.map((one) => one.views()[0]!.parent)).toEqual([view, null])
})

test('a TTL that is lowered shortens no wait, also after a start', async () => {
  const world = new World()
  world.parent = [dsText(world.keys[0]!)]
  world.ttls = { keyTtlMs: 48 * hour, longestTtlMs: 48 * hour }
  const keeper = world.keeper()
  await world.walk(keeper, 60 * hour)
  await keeper.begin(zone, { role: null, isEmergency: false })
  world.ttls = { keyTtlMs: minute, longestTtlMs: minute }
  await world.walk(keeper, 10 * hour)
  const next = world.keeper()
  await world.walk(next, 38 * hour)
  expect(world.uses()).toEqual([15, 5])
  await world.walk(next, 2 * hour)
  expect(world.uses()).toEqual([5, 15])
  // By now nothing of before is cached: the old key needs two hours, and not two days.
  world.parent = [dsText(world.keys[1]!)]
  await world.walk(next, 5 * hour)
  expect(world.uses()).toEqual([0, 15])
})

test('a step waits while a node answers by keys of before, and then as long as ever', async () => {
  const world = new World()
  const keeper = world.keeper()
  world.parent = [dsText(world.keys[0]!)]
  await world.walk(keeper, 12 * hour)
  await keeper.begin(zone, { role: null, isEmergency: false })
  world.behind = ['dns3']
  await world.walk(keeper, 12 * hour)
  expect(world.uses()).toEqual([15, 5])
  const [, next] = world.keys
  expect(keeper.views()[0]?.waiting).toContainEqual({
    ...{ for: 'nodes', tag: next!.tag, nodes: ['dns3'] },
  })
  world.behind = []
  await world.walk(keeper, 3 * hour)
  expect(world.uses()).toEqual([15, 5])
  await world.walk(keeper, hour)
  expect(world.uses()).toEqual([5, 15])
  expect(keeper.views()[0]?.waiting.some((one) => one.for === 'nodes')).toBe(false)
})

test('keys of other signers come and go with the list of the zone, and rolls go on', async () => {
  const world = new World()
  const keeper = world.keeper()
  world.parent = [dsText(world.keys[0]!)]
  await world.walk(keeper, 12 * hour)
  const [ksk, zsk] = [257, 256].map((flags) => generateZoneKey(signingAlgorithm(13)!, flags).rdata)
  const other = generateZoneKey(signingAlgorithm(15)!).rdata
  world.listed = [ksk!, zsk!, other]
  await keeper.look()
  // One of another algorithm would make the zone bogus.
  expect(world.uses()).toEqual([15, 9, 1])
  await keeper.begin(zone, { role: null, isEmergency: false })
  await world.walk(keeper, 12 * hour)
  world.parent = [...world.keys.filter(({ flags }) => flags === 257).map((one) => dsText(one))]
  await world.walk(keeper, 12 * hour)
  expect(world.uses()).toEqual([0, 9, 1, 15])
  world.listed = [zsk!]
  await keeper.look()
  expect(world.uses()).toEqual([0, 1, 15])
  const { changes } = world
  await world.walk(keeper, hour)
  expect(world.changes).toBe(changes)
})

test('the keeper writes into a file what zones wait for', async () => {
  const world = new World()
  const keeper = world.keeper()
  await keeper.look()
  const path = join(directory, looksFile)
  expect(readKeptViews(path)).toEqual(keeper.views())
  expect(readKeptViews(join(directory, 'none'))).toEqual([])
})

test('a zone that is not signed cannot roll', async () => {
  const world = new World()
  const begun = await world.keeper().begin('other.', { role: null, isEmergency: false })
  expect(begun).toMatchObject({
    ok: false,
    error: expect.stringMatching(/is not signed/) as string,
  })
})

test('parents of many zones are asked eight at a time, and the rest in the next look', async () => {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const names = Array.from({ length: 100 }, (_, i) => `z${i}.example.`)
  const key = generateZoneKey(signingAlgorithm(13)!)
  const keys = new Map(names.map((name) => [name, [firstRecord(name, key, 0)]]))
  let [asked, open, most] = [0, 0, 0]
  const keeper = new KeyKeeper({
    vault: { keys: () => keys, change: async (name) => ok(keys.get(name) ?? []) },
    zones: () => names.map((name) => ({ name, policy, keyTtlMs: hour, longestTtlMs: hour })),
    parentOf: async () => {
      asked++
      most = Math.max(most, ++open)
      await Promise.resolve()
      open--
      return null
    },
    looks: createStoredLooks(join(directory, looksFile), log),
    ...{ clock: { nowMs: () => hour }, log },
  })
  await keeper.look()
  expect([asked, most]).toEqual([64, 8])
  await keeper.look()
  expect([asked, most]).toEqual([100, 8])
})

test('a person says what a parent has that cannot be asked: the roll ends', async () => {
  const world = new World()
  const keeper = world.keeper()
  await world.walk(keeper, 8 * hour)
  const [first] = world.keys
  const refused = (said: string) => ({
    ...{ ok: false, error: expect.stringContaining(said) as unknown },
  })
  expect(await keeper.seen(zone, first!.tag)).toMatchObject(
    refused('can be asked, and have no DS record'),
  )
  world.parent = null
  expect(await keeper.seen(zone, first!.tag)).toMatchObject({ ok: true, value: { waiting: [] } })
  await keeper.begin(zone, { role: null, isEmergency: false })
  const [, next] = world.keys
  expect(await keeper.seen(zone, next!.tag)).toMatchObject(refused('may not have its DS record'))
  await world.walk(keeper, 24 * hour)
  expect(world.uses()).toEqual([5, 15])
  expect(await keeper.seen(zone, first!.tag)).toMatchObject(refused('on its way out'))
  expect((await keeper.seen(zone, next!.tag)).ok).toBe(true)
  // Also by a node that starts meanwhile.
  await world.walk(world.keeper(), 12 * hour)
  expect(world.uses()).toEqual([0, 15])
})

test('a parent that can be asked again is believed in the place of a person', async () => {
  const world = new World()
  const keeper = world.keeper()
  await world.walk(keeper, 8 * hour)
  world.parent = null
  expect((await keeper.seen(zone, world.keys[0]!.tag)).ok).toBe(true)
  await world.walk(keeper, 2 * hour)
  expect(world.keys[0]!.times.dsSeenMs).not.toBeNull()
  world.parent = []
  await world.walk(keeper, 2 * hour)
  expect(world.keys[0]!.times).toMatchObject({ dsSeenMs: null, dsSaidMs: null })
  world.parent = [dsText(world.keys[0]!)]
  expect((await keeper.seen(zone, world.keys[0]!.tag)).ok).toBe(true)
  expect(world.keys[0]!.times.dsSaidMs).toBeNull()
})

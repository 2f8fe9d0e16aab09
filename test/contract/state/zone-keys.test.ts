import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { writeBackup } from '#state/backup/write-backup.ts'
import { zoneKeyLimits } from '#state/ports/zone-keys.ts'
import type { StoredZoneKey } from '#state/ports/zone-keys.ts'
import { restoreFrom } from '#test/support/filled-state.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { emptyTables } from '#test/support/sql-tables.ts'
import { valueOf } from '#test/support/store-values.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const key = (tag: number, more: Partial<StoredZoneKey> = {}): StoredZoneKey => ({
  ...{ tag, algorithm: 13, flags: 257, role: 'csk', publicKey: 'AQEDDQ==' },
  ...{ secretCiphertext: 'v1.sealed', times: { createdMs: 2 ** 45, removedMs: null } },
  ...more,
})
const zone = 'example.org.'

describe.each(persistentAdapters)('keys of zones in %s', (_name, adapter) => {
  const state = useState(adapter)
  const store = () => state().zoneKeys
  const set = (version: number, keys: readonly StoredZoneKey[], nowMs = 5_000, name = zone) =>
    valueOf(store().swap(name, version, keys, nowMs))
  const codeOf = async (version: number, keys: readonly StoredZoneKey[], name = zone) => {
    const done = await store().swap(name, version, keys, 5_000)
    return done.ok ? 'done' : done.error.code
  }

  test('are read back as they were stored, by name of their zones', async () => {
    expect(await valueOf(store().load())).toEqual({ revision: 0, zones: [] })
    const foreign = key(2, { secretCiphertext: null, role: 'zsk', flags: 256, times: {} })
    const first = await set(0, [key(1), foreign])
    const second = await set(0, [key(3)], 5_000, 'a.example.')
    expect(second).toBeGreaterThan(first)
    expect(await valueOf(store().load())).toEqual({
      revision: second,
      zones: [
        { zone: 'a.example.', version: second, keys: [key(3)] },
        { zone, version: first, keys: [key(1), foreign] },
      ],
    })
    expect(await valueOf(store().revision())).toBe(second)
  })

  test('tell all but one of the nodes that make a first key at once', async () => {
    const tries = Array.from({ length: 6 }, (_, i) => codeOf(0, [key(i + 1)]))
    const codes = (await Promise.all(tries)).toSorted()
    expect(codes).toEqual([...Array<string>(5).fill('changed-meanwhile'), 'done'])
    const { zones } = await valueOf(store().load())
    expect(zones.map(({ keys }) => keys.length)).toEqual([1])
  })

  test('let one of two nodes roll at the same time', async () => {
    const version = await set(0, [key(1)])
    const tries = [codeOf(version, [key(1), key(2)]), codeOf(version, [key(1), key(3)])]
    expect((await Promise.all(tries)).toSorted()).toEqual(['changed-meanwhile', 'done'])
    expect(await codeOf(version, [])).toBe('changed-meanwhile')
    expect(await codeOf(0, [key(4)])).toBe('changed-meanwhile')
  })

  test('the same zone never has a version twice, also where its keys went', async () => {
    const first = await set(0, [key(1)])
    const gone = await set(first, [])
    expect((await valueOf(store().load())).zones).toEqual([])
    const again = await set(0, [key(1)])
    expect([first, gone, again]).toEqual([first, first + 1, first + 2])
    expect(await codeOf(first, [key(2)])).toBe('changed-meanwhile')
  })

  test('revisions follow the clock, and rise where that goes back', async () => {
    const first = await set(0, [key(1)], 9_000_000)
    expect(first).toBe(9_000_001)
    expect(await set(first, [key(2)], 1_000)).toBe(first + 1)
  })

  test('a zone has so many keys, and not more', async () => {
    const most = Array.from({ length: zoneKeyLimits.keysPerZoneMax }, (_, i) => key(i))
    expect(await codeOf(0, [...most, key(99)])).toBe('too-many-keys')
    const long = key(1, { secretCiphertext: 'x'.repeat(zoneKeyLimits.textMax) })
    expect(await codeOf(0, [long])).toBe('too-many-keys')
    expect(await codeOf(0, most)).toBe('done')
  })

  test('come back from a backup above every revision that nodes may have', async () => {
    const path = join(tempDir('backup'), 'x.db')
    // In the past: the restore is later.
    const nowMs = Date.now() - 60_000
    const first = await set(0, [key(1)], nowMs)
    expect((await writeBackup(state().sql, path, nowMs)).ok).toBe(true)
    const later = await set(first, [key(1), key(2)], nowMs)
    await emptyTables(state().sql)
    expect(await restoreFrom(path, state().sql)).toMatchObject({ ok: true })
    const { revision, zones } = await valueOf(store().load())
    expect(revision).toBeGreaterThan(later)
    expect(zones).toEqual([{ zone, version: first, keys: [key(1)] }])
    expect(await set(first, [key(3)], nowMs)).toBeGreaterThan(revision)
  })
})

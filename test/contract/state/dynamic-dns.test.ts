import { describe, expect, test } from 'vitest'
import { dynamicDnsLimits, writtenTypes } from '#state/ports/dynamic-dns.ts'
import type { StoredTsigKey, StoredRecord, RecordChange } from '#state/ports/dynamic-dns.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { codeOf, hostileTexts, valueOf } from '#test/support/store-values.ts'

const { A, CNAME, TXT } = writtenTypes

const keyOf = (id: string, parts: Partial<StoredTsigKey> = {}): StoredTsigKey => ({
  ...{ id, tenantId: 'acme', name: `${id}.example.`, algorithm: 'hmac-sha256.' },
  ...{ scope: null, secretCiphertext: 'v1.sealed', createdAtMs: 1_000 },
  ...parts,
})
const rdataOf = (text: string): string =>
  Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]).toString('base64')
const recordOf = (id: string, parts: Partial<StoredRecord> = {}): StoredRecord => ({
  ...{ id, tenantId: 'acme', name: 'a.example.', type: TXT, rdata: rdataOf(id) },
  ...{ ttlSeconds: 60, createdAtMs: 1_000, writtenBy: 'system' },
  ...parts,
})
const add = (text: string, name = 'a.example.', ttlSeconds = 60): RecordChange => ({
  ...{ verb: 'add', name, type: TXT, rdata: rdataOf(text), ttlSeconds },
})
const remove = (text: string, name = 'a.example.'): RecordChange => ({
  ...{ verb: 'delete', name, type: TXT, rdata: rdataOf(text) },
})
const removeAll = (name = 'a.example.'): RecordChange => ({ verb: 'delete-all', name })

describe.each(persistentAdapters)('dynamic DNS in %s', (_name, adapter) => {
  const state = useState(adapter)

  describe('keys', () => {
    test('are listed as they were made, oldest first, each tenant its own', async () => {
      const { dynamicDns } = state()
      const first = keyOf('b', { createdAtMs: 1, scope: 'www.example.' })
      const second = keyOf('a', { createdAtMs: 2, algorithm: 'hmac-sha512.' })
      const other = keyOf('c', { tenantId: 'zenith' })
      for (const key of [second, other, first]) await valueOf(dynamicDns.createKey(key))
      expect(await valueOf(dynamicDns.listKeys({ tenantId: 'acme' }))).toEqual([first, second])
      expect(await valueOf(dynamicDns.listKeys('every-tenant'))).toHaveLength(3)
      for (const text of hostileTexts) {
        if (text.includes('\0')) continue
        expect(await valueOf(dynamicDns.listKeys({ tenantId: text }))).toEqual([])
      }
    })

    test('have names that no other tenant has', async () => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('a')))
      const twin = keyOf('b', { tenantId: 'zenith', name: 'a.example.' })
      expect(await codeOf(dynamicDns.createKey(twin))).toBe('name-taken')
      expect(await valueOf(dynamicDns.revisions())).toEqual({ keys: 1, records: 0 })
    })

    test('are at most so many of a tenant', async () => {
      const { dynamicDns } = state()
      const max = dynamicDnsLimits.keysPerTenantMax
      for (let i = 0; i < max; i++) await valueOf(dynamicDns.createKey(keyOf(`k${i}`)))
      expect(await codeOf(dynamicDns.createKey(keyOf('more')))).toBe('too-many-keys')
      await valueOf(dynamicDns.createKey(keyOf('more', { tenantId: 'zenith' })))
    })

    test('are deleted within the scope, once', async () => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('a')))
      expect(await valueOf(dynamicDns.deleteKey({ tenantId: 'zenith' }, 'a'))).toBeNull()
      expect(await valueOf(dynamicDns.deleteKey({ tenantId: 'acme' }, 'a'))).toBe(2)
      expect(await valueOf(dynamicDns.deleteKey('every-tenant', 'a'))).toBeNull()
    })
  })

  describe('records', () => {
    test('are made once, and deleted within the scope', async () => {
      const { dynamicDns } = state()
      const record = recordOf('r')
      const created = await valueOf(dynamicDns.createRecord(record))
      expect(created).toEqual({ revision: 1, added: [record], removed: [] })
      expect(await codeOf(dynamicDns.createRecord({ ...record, id: 's' }))).toBe('record-exists')
      expect(await valueOf(dynamicDns.listRecords({ tenantId: 'acme' }))).toEqual([record])
      expect(await valueOf(dynamicDns.listRecords({ tenantId: 'zenith' }))).toEqual([])
      expect(await valueOf(dynamicDns.deleteRecord({ tenantId: 'zenith' }, 'r'))).toBeNull()
      const gone = { revision: 2, added: [], removed: ['r'] }
      expect(await valueOf(dynamicDns.deleteRecord('every-tenant', 'r'))).toEqual(gone)
    })

    test('are limited in number and size for one name', async () => {
      const { dynamicDns } = state()
      const { recordsPerNameMax, rdataBytesMax, rdataBytesPerNameMax } = dynamicDnsLimits
      await valueOf(dynamicDns.createKey(keyOf('k')))
      const texts = Array.from({ length: recordsPerNameMax + 1 }, (_, i) => add(`t${i}`))
      expect(await codeOf(dynamicDns.applyChanges('k', texts, 1))).toBe('too-many-records')
      await valueOf(dynamicDns.applyChanges('k', texts.slice(1), 1))
      const large = (i: number): RecordChange => {
        const rdata = Buffer.alloc(rdataBytesMax, i).toString('base64')
        return { verb: 'add', name: 'large.example.', type: TXT, rdata, ttlSeconds: 1 }
      }
      const count = Math.floor(rdataBytesPerNameMax / rdataBytesMax)
      const fitting = Array.from({ length: count }, (_, i) => large(i))
      await valueOf(dynamicDns.applyChanges('k', fitting, 1))
      expect(await codeOf(dynamicDns.applyChanges('k', [large(99)], 1))).toBe('too-many-records')
    })
  })

  describe('an update', () => {
    /** Values before, changes, values after. */
    const rows: readonly [string, string[], RecordChange[], string[]][] = [
      ['adds', ['a'], [add('b')], ['a', 'b']],
      ['adds what is there: nothing', ['a'], [add('a')], ['a']],
      ['deletes one value', ['a', 'b'], [remove('a')], ['b']],
      ['deletes what is not there: nothing', ['a'], [remove('x')], ['a']],
      ['deletes all values', ['a', 'b'], [removeAll()], []],
      ['deletes, then adds', ['a', 'b'], [removeAll(), add('c')], ['c']],
      ['adds, then deletes', ['a'], [add('b'), removeAll()], []],
      ['deletes and adds again', ['a', 'b'], [remove('a'), add('a')], ['a', 'b']],
      ['leaves other names alone', ['a'], [removeAll('b.example.')], ['a']],
    ]
    test.each(rows)('%s', async (_says, before, changes, after) => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('k')))
      await valueOf(
        dynamicDns.applyChanges(
          'k',
          before.map((text) => add(text)),
          1,
        ),
      )
      const delta = await valueOf(dynamicDns.applyChanges('k', changes, 2))
      const records = await valueOf(dynamicDns.listRecords('every-tenant'))
      expect(records.map(({ rdata }) => rdata).sort()).toEqual(after.map(rdataOf).sort())
      const isChanged = before.join() !== after.join()
      expect(delta.revision).toBe(isChanged ? 2 : 1)
      expect(delta.added.length + delta.removed.length > 0).toBe(isChanged)
      expect((await valueOf(dynamicDns.revisions())).records).toBe(delta.revision)
    })

    test('deletes nothing of another tenant', async () => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('k')))
      await valueOf(dynamicDns.createKey({ ...keyOf('z'), tenantId: 'zenith' }))
      await valueOf(dynamicDns.applyChanges('k', [add('a'), add('b')], 1))
      await valueOf(dynamicDns.applyChanges('z', [add('z')], 2))
      for (const changes of [[removeAll()], [remove('a')], [add('y'), removeAll(), add('a')]]) {
        await valueOf(dynamicDns.applyChanges('z', changes, 3))
        const records = await valueOf(dynamicDns.listRecords('every-tenant'))
        expect(records.map(({ tenantId }) => tenantId)).toEqual(['acme', 'acme'])
      }
    })

    const of = (type: number, text: string, ttlSeconds = 60): RecordChange => ({
      ...{ verb: 'add', name: 'a.example.', type, rdata: rdataOf(text), ttlSeconds },
    })
    const gone = (type: number): RecordChange => ({
      verb: 'delete-rrset',
      name: 'a.example.',
      type,
    })
    /** Type, data and TTL before, and after. */
    const typed: readonly [string, RecordChange[], RecordChange[], string[]][] = [
      ['adds records of other types', [of(TXT, 'a')], [of(A, 'b')], ['16 a 60', '1 b 60']],
      ['adds the same data of two types', [of(TXT, 'a')], [of(A, 'a')], ['16 a 60', '1 a 60']],
      ['deletes one type', [of(TXT, 'a'), of(A, 'b')], [gone(A)], ['16 a 60']],
      ['deletes all types', [of(TXT, 'a'), of(A, 'b')], [removeAll()], []],
      ['gives a record a new TTL', [of(A, 'a')], [of(A, 'a', 9)], ['1 a 9']],
      ['keeps one with its TTL', [of(A, 'a')], [gone(A), of(A, 'a')], ['1 a 60']],
      ['replaces an alias', [of(CNAME, 'a')], [of(CNAME, 'b')], ['5 b 60']],
      ['leaves an alias alone', [of(CNAME, 'a')], [of(TXT, 'b'), of(A, 'b')], ['5 a 60']],
      ['makes no alias beside others', [of(A, 'a')], [of(CNAME, 'b')], ['1 a 60']],
      ['makes an alias in their place', [of(A, 'a')], [gone(A), of(CNAME, 'b')], ['5 b 60']],
    ]
    test.each(typed)('%s', async (_says, before, changes, after) => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('k')))
      await valueOf(dynamicDns.applyChanges('k', before, 1))
      await valueOf(dynamicDns.applyChanges('k', changes, 2))
      const { records } = await valueOf(dynamicDns.load())
      const shown = records.map(({ type, rdata, ttlSeconds }) => {
        return `${type} ${Buffer.from(rdata, 'base64').toString('latin1', 1)} ${ttlSeconds}`
      })
      expect(shown.sort()).toEqual(after.toSorted())
      expect(await valueOf(dynamicDns.listRecords({ tenantId: 'acme' }))).toEqual(records)
    })

    test('replaces no alias of another tenant, and a text by the API is beside none', async () => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('k')))
      await valueOf(dynamicDns.createKey({ ...keyOf('z'), tenantId: 'zenith' }))
      const { added } = await valueOf(dynamicDns.applyChanges('k', [of(CNAME, 'a')], 1))
      const delta = await valueOf(dynamicDns.applyChanges('z', [of(CNAME, 'b')], 1))
      expect(delta).toMatchObject({ added: [], removed: [] })
      expect(await codeOf(dynamicDns.createRecord(recordOf('r')))).toBe('is-alias')
      const deleted = await valueOf(dynamicDns.deleteRecord('every-tenant', added[0]!.id))
      expect(deleted?.removed).toEqual([added[0]!.id])
      await valueOf(dynamicDns.createRecord(recordOf('r')))
    })

    test('keeps the TTL of a text that was there', async () => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('k')))
      await valueOf(dynamicDns.applyChanges('k', [add('a', 'a.example.', 30)], 1))
      await valueOf(dynamicDns.applyChanges('k', [add('a', 'a.example.', 90)], 1))
      expect(await valueOf(dynamicDns.listRecords('every-tenant'))).toMatchObject([
        { ttlSeconds: 30, tenantId: 'acme' },
      ])
    })

    test('whose key was deleted changes nothing', async () => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('k')))
      await valueOf(dynamicDns.deleteKey('every-tenant', 'k'))
      expect(await codeOf(dynamicDns.applyChanges('k', [add('a')], 1))).toBe('key-gone')
      expect(await valueOf(dynamicDns.listRecords('every-tenant'))).toEqual([])
    })

    test('of a writer that is no key are written in its name, beside those of keys', async () => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('k')))
      await valueOf(dynamicDns.applyChanges('k', [add('a')], 1))
      const writer = { tenantId: 'default', writtenBy: 'kerberos:PC1$@EXAMPLE.COM' }
      const { added } = await valueOf(dynamicDns.applyChanges(writer, [add('b')], 2))
      expect(added).toMatchObject([writer])
      const removed = await valueOf(dynamicDns.applyChanges(writer, [removeAll()], 3))
      expect(removed.removed).toEqual(added.map(({ id }) => id))
    })

    test('decided on by what is no longer there changes nothing', async () => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('k')))
      const names = ['a.example.', 'b.example.']
      const { added } = await valueOf(dynamicDns.applyChanges('k', [add('a'), of(A, 'x')], 1))
      const ids = added.map(({ id }) => id)
      for (const wrong of [[], ids.slice(1), [...ids, 'other'], ['x', 'y']]) {
        const late = dynamicDns.applyChanges('k', [add('late')], 2, { names, ids: wrong })
        expect(await codeOf(late)).toBe('changed-meanwhile')
      }
      expect((await valueOf(dynamicDns.revisions())).records).toBe(1)
      // Elsewhere much may have changed, and the order says nothing.
      await valueOf(dynamicDns.applyChanges('k', [add('c', 'c.example.')], 3))
      const seen = { names, ids: ids.toReversed() }
      await valueOf(dynamicDns.applyChanges('k', [add('b')], 4, seen))
      const again = dynamicDns.applyChanges('k', [removeAll()], 5, seen)
      expect(await codeOf(again)).toBe('changed-meanwhile')
      const many = Array.from({ length: 1_100 }, (_, i) => `n${i}.example.`)
      await valueOf(dynamicDns.applyChanges('k', [add('d')], 6, { names: many, ids: [] }))
    })

    test('with more changes than allowed changes nothing', async () => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('k')))
      const length = dynamicDnsLimits.changesMax + 1
      const changes = Array.from({ length }, (_, i) => add('a', `n${i}.example.`))
      expect(await codeOf(dynamicDns.applyChanges('k', changes, 1))).toBe('too-many-changes')
      await valueOf(dynamicDns.applyChanges('k', changes.slice(1), 1))
    })

    test('and others at once: each has a revision of its own, and none is lost', async () => {
      const { dynamicDns } = state()
      await valueOf(dynamicDns.createKey(keyOf('k')))
      const updates = Array.from({ length: 16 }, (_, i) => [add(`t${i}`)])
      const deltas = await Promise.all(
        updates.map((changes) => valueOf(dynamicDns.applyChanges('k', changes, 1))),
      )
      const revisions = deltas.map(({ revision }) => revision).sort((a, b) => a - b)
      expect(revisions).toEqual(updates.map((_, i) => i + 1))
      expect((await valueOf(dynamicDns.load())).records).toHaveLength(16)
    })
  })

  test('everything is loaded with its revisions', async () => {
    const { dynamicDns } = state()
    const none = { revisions: { keys: 0, records: 0 }, keys: [], records: [] }
    expect(await valueOf(dynamicDns.load())).toEqual(none)
    const [key, record] = [keyOf('k'), recordOf('r')]
    await valueOf(dynamicDns.createKey(key))
    await valueOf(dynamicDns.createRecord(record))
    const revisions = { keys: 1, records: 1 }
    expect(await valueOf(dynamicDns.load())).toEqual({ revisions, keys: [key], records: [record] })
    expect(await valueOf(dynamicDns.revisions())).toEqual(revisions)
  })
})

import { describe, expect, test } from 'vitest'
import { auditLimits } from '#state/ports/audit.ts'
import type { AuditFilter, AuditPosition, AuditQuery } from '#state/ports/audit.ts'
import { settingsLimits } from '#state/ports/settings.ts'
import { usageLimits } from '#state/ports/usage.ts'
import { laneCount } from '#test/support/lane.ts'
import { fillAudit, longPast } from '#test/support/long-audit.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { auditEntry, codeOf, hostileTexts, valueOf } from '#test/support/store-values.ts'

describe.each(persistentAdapters)('records in %s', (_name, adapter) => {
  const state = useState(adapter)

  describe('the licence', () => {
    test('has one install id, whichever of many nodes asks first', async () => {
      const { licences } = state()
      const candidates = Array.from({ length: 6 }, (_, i) => `${i}`.repeat(32))
      const records = await Promise.all(candidates.map((one) => valueOf(licences.load(one))))
      const installIds = new Set(records.map(({ installId }) => installId))
      expect(installIds.size).toBe(1)
      expect(candidates).toContain([...installIds][0])
      expect(records[0]).toMatchObject({ licence: null, trial: null })
    })

    test('is kept with its source until it is removed', async () => {
      const { licences } = state()
      await valueOf(licences.load('i'))
      const licence = { token: 'payload.signature', source: 'api', savedAtMs: 5_000 }
      await valueOf(licences.saveLicence(licence))
      expect((await valueOf(licences.load('j'))).licence).toEqual(licence)
      await valueOf(licences.saveLicence(null))
      expect(await valueOf(licences.load('j'))).toEqual({
        installId: 'i',
        licence: null,
        trial: null,
      })
    })

    test('has one trial: the first stays', async () => {
      const { licences } = state()
      await valueOf(licences.load('i'))
      const first = { kind: 'offline', startedAtMs: 1, expiresAtMs: 2 } as const
      expect(await valueOf(licences.beginTrial(first))).toEqual(first)
      const second = { kind: 'online', startedAtMs: 3, expiresAtMs: 4 } as const
      expect(await valueOf(licences.beginTrial(second))).toEqual(first)
      expect((await valueOf(licences.load('i'))).trial).toEqual(first)
    })
  })

  describe('settings', () => {
    const values = [null, true, 1.5, 'text', [1, [2]], { a: { b: 'ü' } }, ...hostileTexts]

    test.each(values.map((value) => [value]))('are given back as they were set: %j', async (v) => {
      const { settings } = state()
      await valueOf(settings.set('key', v, 1))
      expect(await valueOf(settings.get('key'))).toEqual(v)
    })

    test('are replaced and deleted', async () => {
      const { settings } = state()
      expect(await valueOf(settings.get('b'))).toBeUndefined()
      await valueOf(settings.set('b', 1, 1))
      await valueOf(settings.set('a', 2, 1))
      await valueOf(settings.set('b', 3, 2))
      expect(await valueOf(settings.get('a'))).toBe(2)
      expect(await valueOf(settings.get('b'))).toBe(3)
      expect(await valueOf(settings.delete('b'))).toBe(true)
      expect(await valueOf(settings.delete('b'))).toBe(false)
    })

    test('have a size', async () => {
      const { settings } = state()
      const large = 'x'.repeat(settingsLimits.valueBytesMax)
      expect(await codeOf(settings.set('k', large, 1))).toBe('too-large')
    })
  })

  describe('usage', () => {
    const record = (period: string, dnsQueries: number, apiCalls = 0, tenantId = 'acme') => ({
      ...{ tenantId, period, dnsQueries, apiCalls },
    })

    test('adds up, hour by hour, and a batch counts once', async () => {
      const { usage } = state()
      const records = [record('2026-11-20T19', 5, 1), record('2026-11-20T19', 2)]
      await valueOf(usage.add({ id: 'b1', nowMs: 1, records }))
      await valueOf(usage.add({ id: 'b1', nowMs: 1, records }))
      await valueOf(usage.add({ id: 'b2', nowMs: 2, records: [record('2026-11-20T19', 1, 1)] }))
      expect(await valueOf(usage.range('acme', '2026-11-20T19', '2026-11-20T19'))).toEqual([
        record('2026-11-20T19', 8, 2),
      ])
    })

    test('a range includes both ends, crosses months and years, and is sorted', async () => {
      const { usage } = state()
      const hours = ['2027-01-01T00', '2026-12-31T23', '2026-11-30T23', '2026-12-01T00']
      const records = hours.map((hour, i) => record(hour, i + 1))
      await valueOf(usage.add({ id: 'b', nowMs: 1, records }))
      const range = async (from: string, to: string): Promise<string[]> =>
        (await valueOf(usage.range('acme', from, to))).map(({ period }) => period)
      expect(await range('2026-11-30T23', '2027-01-01T00')).toEqual([...hours].sort())
      expect(await range('2026-12-01T00', '2026-12-31T23')).toEqual([
        '2026-12-01T00',
        '2026-12-31T23',
      ])
      expect(await range('2027-01-01T01', '2027-12-31T23')).toEqual([])
    })

    test('is separate for each tenant', async () => {
      const { usage } = state()
      const records = [record('2026-11-20T19', 5), record('2026-11-20T19', 7, 0, 'other')]
      await valueOf(usage.add({ id: 'b', nowMs: 1, records }))
      expect(await valueOf(usage.range('other', '2026', '2027'))).toEqual([records[1]])
      expect(await valueOf(usage.range("acme' or '1'='1", '2026', '2027'))).toEqual([])
    })

    test('nodes that add the same hours at once lose nothing', async () => {
      const { usage } = state()
      const hours = Array.from({ length: 24 }, (_, i) => `2026-11-20T${`${i}`.padStart(2, '0')}`)
      const batches = Array.from({ length: 16 }, (_, i) => ({
        id: `b${i}`,
        nowMs: 1,
        records: (i % 2 === 0 ? hours : hours.toReversed()).map((hour) => record(hour, 1, 2)),
      }))
      await Promise.all(batches.map((batch) => valueOf(usage.add(batch))))
      expect(await valueOf(usage.range('acme', '2026', '2027'))).toEqual(
        hours.map((hour) => record(hour, 16, 32)),
      )
    })

    test('a range that is too wide is refused, not cut', async () => {
      const { usage } = state()
      const max = usageLimits.rangeRecordsMax
      const records = Array.from({ length: max + 1 }, (_, i) => record(`${100_000 + i}`, 1))
      await valueOf(usage.add({ id: 'a', nowMs: 1, records: records.slice(0, max) }))
      expect(await valueOf(usage.range('acme', '0', '9'))).toHaveLength(max)
      await valueOf(usage.add({ id: 'b', nowMs: 1, records: records.slice(max) }))
      expect(await codeOf(usage.range('acme', '0', '9'))).toBe('range-too-wide')
    })
  })

  describe('the audit copy', () => {
    const everything = { scope: 'every-tenant', fromMs: 0, toMs: 9_999, limit: 100 } as const

    test('gives entries back, newest first, page by page', async () => {
      const { audit } = state()
      const entries = ['a', 'b', 'c', 'd', 'e'].map((id, i) =>
        auditEntry(id, { atMs: 1_000 + Math.floor(i / 2), requestId: i === 0 ? 'r' : null }),
      )
      await valueOf(audit.append(entries))
      await valueOf(audit.append(entries.slice(0, 2)))
      const newestFirst = entries.toReversed()
      const whole = await valueOf(audit.query({ ...everything, limit: 5 }))
      expect(whole).toEqual({ entries: newestFirst, next: null })
      const pages: (readonly string[])[] = []
      for (let after: AuditPosition | null | undefined; after !== null;) {
        const query = { ...everything, limit: 2, ...(after && { after }) }
        const { entries, next } = await valueOf(audit.query(query))
        pages.push(entries.map(({ id }) => id))
        after = next
      }
      expect(pages).toEqual([['e', 'd'], ['c', 'b'], ['a']])
    })

    test('is asked for a time and a tenant', async () => {
      const { audit } = state()
      const entries = [1_000, 2_000, 3_000].map((atMs) =>
        auditEntry(`${atMs}`, { atMs, tenantId: atMs === 2_000 ? 'acme' : 'other' }),
      )
      await valueOf(audit.append(entries))
      const idsOf = async (parts: object): Promise<string[]> =>
        (await valueOf(audit.query({ ...everything, ...parts }))).entries.map(({ id }) => id)
      expect(await idsOf({ fromMs: 2_000, toMs: 3_000 })).toEqual(['2000'])
      expect(await idsOf({ scope: { tenantId: 'acme' } })).toEqual(['2000'])
      expect(await idsOf({ scope: { tenantId: `x' or true --` } })).toEqual([])
    })

    test('is asked for an actor, a method, a part of a path and what was refused', async () => {
      const { audit } = state()
      const rows = [
        ['a', { actor: 'abcd', method: 'PUT', path: '/api/v1/Pools/100%' }],
        ['b', { actor: 'wxyz', method: 'PUT', path: '/api/v1/pools/1000', status: 403 }],
        ['c', { actor: 'abcd', method: 'POST', path: '/api/v1/services', status: 400 }],
      ] as const
      await valueOf(
        audit.append(rows.map(([id, parts], i) => auditEntry(id, { atMs: i + 1, ...parts }))),
      )
      const idsOf = async (only: AuditFilter): Promise<string> =>
        (await valueOf(audit.query({ ...everything, only }))).entries.map(({ id }) => id).join('')
      expect(await idsOf({})).toBe('cba')
      expect(await idsOf({ actor: 'abcd' })).toBe('ca')
      expect(await idsOf({ method: 'PUT', actor: 'abcd' })).toBe('a')
      expect(await idsOf({ path: '/POOLS/1' })).toBe('ba')
      expect(await idsOf({ path: '0%' })).toBe('a')
      expect(await idsOf({ isRefused: true })).toBe('cb')
      expect(await idsOf({ isRefused: false, path: `x' or true --` })).toBe('')
    })

    test('has pages of a long past equally near, and a filter reads a part', async () => {
      const { audit, sql } = state()
      const count = laneCount(120_000, auditLimits.examinedMax + 2_000)
      await fillAudit(sql, count)
      const query = { ...everything, toMs: 1e12, limit: 3 }
      const idsOf = async (parts: Partial<AuditQuery>): Promise<readonly string[]> =>
        (await valueOf(audit.query({ ...query, ...parts }))).entries.map(({ id }) => id)
      const from = (number: number) => [0, 1, 2].map((i) => longPast.idOf(number - i))
      expect(await idsOf({})).toEqual(from(count - 1))
      const middle = Math.floor(count / 2)
      const at = (number: number) => ({ atMs: longPast.atMs(number), id: longPast.idOf(number) })
      expect(await idsOf({ after: at(middle) })).toEqual(from(middle - 1))
      expect(await idsOf({ scope: { tenantId: 'acme' }, after: at(middle) })).toEqual([])

      const only = { actor: 'rare' }
      const next = at(count - auditLimits.examinedMax)
      expect(await valueOf(audit.query({ ...query, only }))).toEqual({ entries: [], next })
      const last = { ...query, only, after: at(1_000) }
      expect(await idsOf(last)).toEqual([longPast.idOf(7)])
      expect((await valueOf(audit.query(last))).next).toBe(null)
    })

    test('is pruned by age and by number, oldest first', async () => {
      const { audit } = state()
      const entries = Array.from({ length: 10 }, (_, i) => auditEntry(`${i}`, { atMs: i }))
      await valueOf(audit.append(entries))
      expect(await valueOf(audit.prune(3, 4))).toBe(6)
      const left = await valueOf(audit.query(everything))
      expect(left.entries.map(({ id }) => id)).toEqual(['9', '8', '7', '6'])
      expect(await valueOf(audit.prune(3, 4))).toBe(0)
    })

    test('a tenant with many calls pushes out none of the others', async () => {
      const { audit } = state()
      const of = (tenantId: string, count: number, fromMs: number) =>
        Array.from({ length: count }, (_, i) => {
          const atMs = fromMs + i
          return auditEntry(`${tenantId}-${i}`, { tenantId, atMs })
        })
      await valueOf(audit.append([...of('a', 2, 1), ...of('b', 5, 10), ...of('c', 30, 100)]))
      expect(await valueOf(audit.prune(0, 12))).toBe(25)
      const { entries } = await valueOf(audit.query(everything))
      const left = ['c-29', 'c-28', 'c-27', 'c-26', 'c-25', 'b-4', 'b-3', 'b-2', 'b-1', 'b-0']
      expect(entries.map(({ id }) => id)).toEqual([...left, 'a-1', 'a-0'])
    })
  })
})

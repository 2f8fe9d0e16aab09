// Usage adds up to what was counted, in whatever parts, order and number of tries it arrives.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { UsageBatch, UsageRecord } from '#state/ports/usage.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { emptyTables } from '#test/support/sql-tables.ts'
import { valueOf } from '#test/support/store-values.ts'

const hours = ['2026-11-30T23', '2026-12-01T00', '2026-12-31T23', '2027-01-01T00', '2027-01-01T01']
const tenants = ['default', 'acme', `o'brien`]
/** Large enough that a 32-bit column or a sum of floats would show. */
const count = fc.integer({ min: 0, max: 2 ** 40 })
const record: fc.Arbitrary<UsageRecord> = fc.record({
  tenantId: fc.constantFrom(...tenants),
  period: fc.constantFrom(...hours),
  dnsQueries: count,
  apiCalls: count,
})
const batches = fc
  .array(fc.array(record, { maxLength: 12 }), { maxLength: 6 })
  .map((all) => all.map((records, i): UsageBatch => ({ id: `b${i}`, nowMs: 1, records })))
/** Which batches arrive, in which order; some more than once, some at the same moment. */
const arrivals = batches.chain((all) =>
  fc.record({
    all: fc.constant(all),
    again: fc.subarray(all),
    order: fc.infiniteStream(fc.nat()).map((stream) => [...stream.take(all.length * 2)]),
    atOnce: fc.boolean(),
  }),
)

function expected(all: readonly UsageBatch[], tenantId: string, from: string, to: string) {
  const records = all.flatMap((batch) => batch.records)
  const own = records.filter((one) => one.tenantId === tenantId)
  const byHour = Map.groupBy(own, ({ period }) => period)
  const sum = (of: readonly number[]): number => of.reduce((a, b) => a + b, 0)
  return [...byHour]
    .filter(([period]) => period >= from && period <= to)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([period, ones]) => ({
      ...{ tenantId, period },
      dnsQueries: sum(ones.map((one) => one.dnsQueries)),
      apiCalls: sum(ones.map((one) => one.apiCalls)),
    }))
}

describe.each(persistentAdapters)('usage in %s', (_name, adapter) => {
  const state = useState(adapter)

  test('is the sum of every batch, once, for each tenant and hour of a range', async () => {
    const range = fc.record({ from: fc.constantFrom(...hours), to: fc.constantFrom(...hours) })
    await fc.assert(
      fc.asyncProperty(arrivals, range, async ({ all, again, order, atOnce }, { from, to }) => {
        const { usage, sql } = state()
        await emptyTables(sql)
        const arriving = [...all, ...again]
          .map((batch, i) => ({ batch, place: order[i] ?? i }))
          .toSorted((a, b) => a.place - b.place)
        if (atOnce) await Promise.all(arriving.map(({ batch }) => valueOf(usage.add(batch))))
        else for (const { batch } of arriving) await valueOf(usage.add(batch))
        for (const tenantId of tenants) {
          const found = await valueOf(usage.range(tenantId, from, to))
          expect(found).toEqual(expected(all, tenantId, from, to))
        }
      }),
      { numRuns: 40 },
    )
  })
})

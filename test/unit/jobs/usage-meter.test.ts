import { expect, test } from 'vitest'
import { UsageMeter, waitingHoursMax } from '#jobs/usage-meter.ts'
import { err, ok } from '#lib/result.ts'
import type { UsageBatch } from '#state/ports/usage.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const hourMs = 3_600_000

/** A meter, and a store that is up or away as `world` says. */
function scene() {
  const time = new FakeTime(Date.UTC(2026, 0, 31, 23, 59))
  const world = { isAway: false, queries: new Map<string, number>() }
  const batches: UsageBatch[] = []
  const lines: string[] = []
  const note = (_fields: object, message: string): void => void lines.push(message)
  const meter = new UsageMeter({
    usage: {
      add: async (batch) => {
        batches.push(batch)
        return world.isAway ? err({ code: 'store-away', message: 'It is away.' }) : ok(undefined)
      },
    },
    takeQueries: () => {
      const taken = world.queries
      world.queries = new Map()
      return taken
    },
    clock: time.clock,
    log: { info: note, warn: note, error: note },
  })
  return { meter, time, world, batches, lines }
}

const record = (tenantId: string, period: string, dnsQueries: number, apiCalls: number) => ({
  ...{ tenantId, period, dnsQueries, apiCalls },
})

test('queries and calls go to the hour in which they were taken, once', async () => {
  const { meter, time, world, batches } = scene()
  world.queries.set('acme', 7)
  meter.countCall('acme')
  meter.countCall('zenith')
  await meter.flush()
  time.pass(hourMs)
  meter.countCall('acme')
  await meter.flush()
  await meter.flush()
  expect(batches.map(({ records }) => records)).toEqual([
    [record('acme', '2026-01-31T23', 7, 1), record('zenith', '2026-01-31T23', 0, 1)],
    [record('acme', '2026-02-01T00', 0, 1)],
  ])
})

test('a batch that a database did not take is sent again under its id', async () => {
  const { meter, time, world, batches, lines } = scene()
  world.isAway = true
  meter.countCall('acme')
  await meter.flush()
  for (let i = 0; i < 3; i++) {
    world.queries.set('acme', 10)
    await meter.flush()
  }
  time.pass(hourMs)
  world.isAway = false
  world.queries.set('acme', 1)
  await meter.flush()
  expect(new Set(batches.slice(0, 5).map(({ id }) => id)).size).toBe(1)
  expect(batches.at(-2)?.records).toEqual([record('acme', '2026-01-31T23', 0, 1)])
  expect(batches.at(-1)?.records).toEqual([
    record('acme', '2026-01-31T23', 30, 0),
    record('acme', '2026-02-01T00', 1, 0),
  ])
  expect(batches.at(-1)?.id).not.toBe(batches.at(-2)?.id)
  expect(lines).toEqual(Array.from({ length: 4 }, () => 'usage is not stored yet: It is away.'))
})

test('waiting usage is bounded, and the log says what was lost', async () => {
  const { meter, time, world, batches, lines } = scene()
  world.isAway = true
  meter.countCall('first')
  await meter.flush()
  for (let i = 0; i < waitingHoursMax + 5; i++) world.queries.set(`t${i}`, 2)
  await meter.flush()
  time.pass(hourMs)
  world.queries.set('t0', 2)
  await meter.flush()
  world.isAway = false
  await meter.flush()
  expect(batches.at(-1)?.records).toHaveLength(waitingHoursMax)
  expect(lines.at(-1)).toBe('usage was lost: the store was away for too long')
})

test('two flushes at once send nothing twice', async () => {
  const { meter, world, batches } = scene()
  world.queries.set('acme', 7)
  await Promise.all([meter.flush(), meter.flush()])
  expect(batches).toHaveLength(1)
})

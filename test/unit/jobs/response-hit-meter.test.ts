import { beforeEach, expect, test } from 'vitest'
import { ResponseHitMeter } from '#jobs/response-hit-meter.ts'
import { err, ok } from '#lib/result.ts'
import { responseHitLimits } from '#state/ports/response-hits.ts'
import type { ResponseHits } from '#state/ports/response-hits.ts'
import { FakeTime } from '#test/support/fake-time.ts'

/** Store that all nodes share. */
const stored = new Map<string, number>()
const batches: string[] = []
let isAway = false
/** The store has written, but its answer is lost. */
let isMute = false
const away = err({ code: 'store-away', message: 'away' } as const)

const store: ResponseHits = {
  add: async ({ id, hits }) => {
    if (isAway) return away
    if (!batches.includes(id)) {
      batches.push(id)
      for (const [uid, count] of hits) stored.set(uid, (stored.get(uid) ?? 0) + count)
    }
    return isMute ? away : ok(undefined)
  },
  forget: async (uids) => {
    for (const uid of uids) stored.delete(uid)
    return ok(undefined)
  },
  totals: async () => (isAway ? away : ok(new Map(stored))),
}

function node() {
  const counted = new Map<string, number>()
  const lines: string[] = []
  const note = (_fields: object, message: string) => void lines.push(message)
  const meter = new ResponseHitMeter({
    store,
    isThere: () => true,
    counted: () => new Map(counted),
    clock: new FakeTime(1_000).clock,
    log: { info: note, warn: note, error: note },
  })
  const totals = async () => Object.fromEntries(await meter.totals())
  return { counted, lines, flush: () => meter.flush(), totals }
}

beforeEach(() => {
  stored.clear()
  batches.length = 0
  isAway = isMute = false
})

test('hits of all nodes are one sum, with those not stored yet by the asked node', async () => {
  const [one, two] = [node(), node()]
  one.counted.set('a', 2)
  two.counted.set('a', 3).set('b', 1)
  await one.flush()
  await two.flush()
  one.counted.set('a', 7)
  expect(await one.totals()).toEqual({ a: 10, b: 1 })
  expect(await two.totals()).toEqual({ a: 5, b: 1 })
  await one.flush()
  expect(await two.totals()).toEqual({ a: 10, b: 1 })
})

test('a rule without hits causes no write', async () => {
  const { counted, flush } = node()
  counted.set('a', 1)
  for (let i = 0; i < 3; i++) await flush()
  expect(batches).toHaveLength(1)
})

test('a batch whose word was lost counts once', async () => {
  const { counted, flush, totals } = node()
  counted.set('a', 2)
  isMute = true
  await flush()
  isMute = false
  counted.set('a', 3)
  await flush()
  expect(await totals()).toEqual({ a: 3 })
})

test('while the store is away hits are kept, shown as far as known, and told of once', async () => {
  const { counted, lines, flush, totals } = node()
  stored.set('a', 10)
  counted.set('a', 1)
  expect(await totals()).toEqual({ a: 11 })
  isAway = true
  await flush()
  counted.set('a', 2)
  await flush()
  expect(await totals()).toEqual({ a: 12 })
  expect(lines).toEqual(['hits of response rules and redirects are not stored yet: away'])
  isAway = false
  await flush()
  expect(await totals()).toEqual({ a: 12 })
  expect(lines.at(-1)).toBe('hits of response rules and redirects are stored')
})

test('the count of a rule goes with it; one that comes back begins anew', async () => {
  const { counted, flush, totals } = node()
  counted.set('a', 5).set('b', 1)
  await flush()
  counted.delete('a')
  await flush()
  expect(await totals()).toEqual({ b: 1 })
  counted.set('a', 2)
  await flush()
  expect(await totals()).toEqual({ a: 2, b: 1 })
})

test('many rules are several batches', async () => {
  const { counted, flush } = node()
  const count = responseHitLimits.rulesPerBatchMax + 1
  for (let i = 0; i < count; i++) counted.set(`r${i}`, 1)
  await flush()
  expect([batches.length, stored.size]).toEqual([2, count])
})

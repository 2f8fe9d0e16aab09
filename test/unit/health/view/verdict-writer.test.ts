import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Log } from '#lib/log.ts'
import { VerdictWriter } from '#health/view/verdict-writer.ts'
import { createMemoryHealthVerdicts } from '../../../support/memory-health-verdicts.ts'
import type { HealthVerdicts, StoredVerdict } from '#state/ports/health-verdicts.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const note = (): void => undefined
const log: Log = { info: note, warn: note, error: note }

/** A memory store that can be away, and that counts the calls. */
function flakyStore(): {
  store: HealthVerdicts
  calls: string[]
  setAway: (away: boolean) => void
} {
  const inner = createMemoryHealthVerdicts()
  const calls: string[] = []
  let isAway = false
  const orFail = async (name: string, work: () => Promise<void>): Promise<void> => {
    calls.push(name)
    if (isAway) throw new Error('away')
    await work()
  }
  const store: HealthVerdicts = {
    load: inner.load,
    save: (verdicts) => orFail(`save ${verdicts.length}`, () => inner.save(verdicts)),
    forget: (owners) => orFail(`forget ${owners.length}`, () => inner.forget(owners)),
  }
  return { store, calls, setAway: (away) => (isAway = away) }
}

const verdict = (memberUid: string, healthy: boolean): StoredVerdict => ({
  memberUid,
  ipAddress: '192.0.2.1',
  healthy,
  warming: false,
  atMs: 1,
})

test('verdicts that arrive during a write are one more write, the newest per member', async () => {
  const { store, calls } = flakyStore()
  const writer = new VerdictWriter(store, log)
  writer.save([verdict('m1', false)])
  writer.save([verdict('m2', false), verdict('m3', false)])
  writer.save([verdict('m2', true)])
  writer.forget([verdict('m3', false)])
  await writer.close()
  expect(calls).toEqual(['save 1', 'save 1', 'forget 1'])
  expect(await store.load()).toEqual([verdict('m1', false), verdict('m2', true)])
})

test('a store that is away is asked again, more rarely, then given the newest', async () => {
  const { store, calls, setAway } = flakyStore()
  const writer = new VerdictWriter(store, log)
  setAway(true)
  for (let i = 0; i < 3_600; i++) {
    writer.save([verdict('m1', i % 2 === 0), verdict(`m${i % 5}`, true)])
    await vi.advanceTimersByTimeAsync(1_000)
  }
  // 1, 2, 4 … 60 s apart: about 66 in an hour.
  expect(calls.length).toBeGreaterThan(50)
  expect(calls.length).toBeLessThan(70)
  setAway(false)
  writer.save([verdict('m1', false)])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(calls.at(-1)).toBe('save 5')
  expect((await store.load()).find(({ memberUid }) => memberUid === 'm1')?.healthy).toBe(false)
  await writer.close()
})

test('verdicts that arrive during a failed write are newer than those in it', async () => {
  const { store, setAway } = flakyStore()
  const writer = new VerdictWriter(store, log)
  setAway(true)
  writer.save([verdict('m1', false), verdict('m2', false)])
  writer.save([verdict('m1', true)])
  await vi.advanceTimersByTimeAsync(10)
  setAway(false)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await store.load()).toEqual([verdict('m1', true), verdict('m2', false)])
  await writer.close()
})

test('close writes what is left once, and gives up when the store is away', async () => {
  const { store, calls, setAway } = flakyStore()
  const writer = new VerdictWriter(store, log)
  setAway(true)
  writer.save([verdict('m1', false)])
  await vi.advanceTimersByTimeAsync(10)
  await writer.close()
  expect(calls).toEqual(['save 1', 'save 1'])
  expect(vi.getTimerCount()).toBe(0)
})

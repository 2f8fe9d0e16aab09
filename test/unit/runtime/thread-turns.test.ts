// Responders ask for short turns, and take nothing from an operator who has chosen otherwise.
import { release } from 'node:os'
import { afterAll, expect, test } from 'vitest'
import { assert } from '#lib/assert.ts'
import { loadLibc } from '#runtime/libc.ts'
import type { Libc } from '#runtime/libc.ts'
import { askForShortTurns, turnMicros } from '#runtime/thread-turns.ts'

const libc = loadLibc()
assert(typeof libc !== 'string', 'the tests run on Linux')
/** struct sched_attr: sched_setattr(2). */
const attrBytes = 48
const before = new Uint8Array(attrBytes)
libc.threadAttributes(before)
afterAll(() => libc.setThreadAttributes(before))

interface Attributes {
  readonly policy: number
  readonly nice: number
  readonly runtimeNs: bigint
}

function attributesOf(octets: Uint8Array): Attributes {
  const view = new DataView(octets.buffer)
  return {
    policy: view.getUint32(4, true),
    nice: view.getInt32(16, true),
    runtimeNs: view.getBigUint64(24, true),
  }
}

/** A system that schedules the thread so. */
function system({ policy, nice }: { policy: number; nice: number }, { fails = false } = {}) {
  const given: Attributes[] = []
  const calls: Libc = {
    ...(libc as Libc),
    threadAttributes: (octets) => {
      const view = new DataView(octets.buffer)
      view.setUint32(0, attrBytes, true)
      view.setUint32(4, policy, true)
      view.setInt32(16, nice, true)
      return fails ? -1 : 0
    },
    setThreadAttributes: (octets) => {
      given.push(attributesOf(octets))
      return 0
    },
  }
  return { calls, given }
}

test('the length of a turn is set, and the rest stays', () => {
  const { calls, given } = system({ policy: 0, nice: 5 })
  expect(askForShortTurns(calls)).toBe(true)
  expect(given).toEqual([{ policy: 0, nice: 5, runtimeNs: 500_000n }])
})

test.each([
  ['real-time, first in first out', 1],
  ['real-time, in turn', 2],
  ['batch', 3],
  ['idle', 5],
  ['by deadlines', 6],
])('a thread that is scheduled otherwise (%s) stays so', (_, policy) => {
  const { calls, given } = system({ policy, nice: 0 })
  expect(askForShortTurns(calls)).toBe(false)
  expect(given).toEqual([])
})

test('a system without the call is left alone', () => {
  const { calls, given } = system({ policy: 0, nice: 0 }, { fails: true })
  expect(askForShortTurns(calls)).toBe(false)
  expect(given).toEqual([])
})

test('this system takes it: since Linux 6.12 turns get shorter, before that nothing changes', () => {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  const hasTurns = major > 6 || (major === 6 && minor >= 12)
  expect(askForShortTurns(libc)).toBe(true)
  const now = new Uint8Array(attrBytes)
  libc.threadAttributes(now)
  const { runtimeNs } = attributesOf(now)
  expect(runtimeNs).toBe(hasTurns ? BigInt(turnMicros * 1_000) : 0n)
  expect(attributesOf(now)).toEqual({ ...attributesOf(before), runtimeNs })
})

// Responders take shorter turns while they wait for queries, and nothing from an operator who has
// chosen otherwise.
import { release } from 'node:os'
import { afterAll, describe, expect, test } from 'vitest'
import { assert } from '#lib/assert.ts'
import { loadLibc } from '#system/sockets/libc.ts'
import type { Libc } from '#system/sockets/libc.ts'
import { SchedulerSlice } from '#system/worker/scheduler-slice.ts'

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

const usual: Attributes = { policy: 0, nice: 5, runtimeNs: 1_400_000n }
const short: Attributes = { ...usual, runtimeNs: 980_000n }

/** A system that schedules the thread so. */
function system({ policy, nice, runtimeNs }: Attributes, { fails = false } = {}) {
  const given: Attributes[] = []
  const calls: Libc = {
    ...(libc as Libc),
    threadAttributes: (octets) => {
      const view = new DataView(octets.buffer)
      view.setUint32(0, attrBytes, true)
      view.setUint32(4, policy, true)
      view.setInt32(16, nice, true)
      view.setBigUint64(24, runtimeNs, true)
      return fails ? -1 : 0
    },
    setThreadAttributes: (octets) => {
      given.push(attributesOf(octets))
      return 0
    },
  }
  return { turns: new SchedulerSlice(calls), given }
}

test.each([
  { cores: 1, from: 700_000n, to: 490_000n },
  { cores: 2, from: 1_400_000n, to: 980_000n },
  { cores: 8, from: 2_800_000n, to: 1_960_000n },
])('on $cores cores turns go from $from to $to ns at the start, and the rest stays', (row) => {
  const { given } = system({ policy: 0, nice: 5, runtimeNs: row.from })
  expect(given).toEqual([{ policy: 0, nice: 5, runtimeNs: row.to }])
})

describe('by the length of batches', () => {
  const look = 1_024
  test.each([
    ['short ones leave turns short', [1, 2, 5], [short]],
    ['long ones make turns usual', [8], [short, usual]],
    ['it takes calm to make them short again', [8, 6, 7, 24, 5], [short, usual, short]],
    ['it takes long ones to make them usual', [6, 7, 1, 7], [short]],
  ] as const)('%s', (_, means, expected) => {
    const { turns, given } = system(usual)
    for (const mean of means) for (let batch = 0; batch < look; batch++) turns.took(mean)
    expect(given).toEqual(expected)
  })

  test('does not change for one long batch among many short ones', () => {
    const { turns, given } = system(usual)
    for (let batch = 0; batch < 10 * look; batch++) turns.took(batch % 100 === 0 ? 24 : 1)
    expect(given).toEqual([short])
  })
})

describe('turns stay as they are', () => {
  test.each([
    ['real-time, first in first out', { ...usual, policy: 1 }, {}],
    ['real-time, in turn', { ...usual, policy: 2 }, {}],
    ['batch', { ...usual, policy: 3 }, {}],
    ['idle', { ...usual, policy: 5 }, {}],
    ['by deadlines', { ...usual, policy: 6 }, {}],
    ['a system that does not tell how long they are', { ...usual, runtimeNs: 0n }, {}],
    ['a system without the call', usual, { fails: true }],
  ])('%s', (_, attributes, options) => {
    const { turns, given } = system(attributes, options)
    for (let batch = 0; batch < 5_000; batch++) turns.took(batch < 2_500 ? 24 : 1)
    expect(given).toEqual([])
  })
})

test('this system shortens them from Linux 6.12 on, and gives them back', () => {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  const hasTurns = major > 6 || (major === 6 && minor >= 12)
  const { runtimeNs } = attributesOf(before)
  expect(runtimeNs > 0n).toBe(hasTurns)
  const now = (): Attributes => {
    const octets = new Uint8Array(attrBytes)
    libc.threadAttributes(octets)
    return attributesOf(octets)
  }
  const turns = new SchedulerSlice(libc)
  expect(now()).toEqual({ ...attributesOf(before), runtimeNs: (runtimeNs * 7n) / 10n })
  for (let batch = 0; batch < 2_000; batch++) turns.took(24)
  expect(now()).toEqual(attributesOf(before))
})

// Queries that a responder leaves for another thread: which, how many, and when none.
import { expect, test } from 'vitest'
import { BatchTimer, timedEvery } from '#answer/counters/batch-timer.ts'
import { ringLimits, ringQueryBytesMax } from '#answer/samples/query-ring.ts'
import { QuerySampler } from '#answer/samples/query-sampler.ts'
import { QuerySamples } from '#answer/samples/query-samples.ts'
import { listSource } from '#test/support/memory-source.ts'
import { query } from '#test/support/dns/message.ts'

const packet = query('www.example.org. A')
const usual = timedEvery - 1

function scene() {
  const samples = new QuerySamples(1)
  const sampler = new QuerySampler(samples.rings[0], usual)
  const give = (...packets: readonly Buffer[]): number => {
    const source = listSource([packets])
    source.clients.set([192, 0, 2, 7])
    const count = source.receive()
    return sampler.take(source, count)
  }
  return { samples, give }
}

test('queries are not copied without a reader, and the usual batches are timed', () => {
  const { samples, give } = scene()
  expect(give(packet)).toBe(usual)
  expect(samples.drain(64)).toEqual([])
})

test('a query comes with the address of its client', () => {
  const { samples, give } = scene()
  samples.turn(true)
  give(packet)
  expect(samples.drain(64)).toEqual([
    { query: Uint8Array.from(packet), client: Uint8Array.of(192, 0, 2, 7) },
  ])
  expect(samples.drain(64)).toEqual([])
})

test('queries longer than a slot, or without a client address, are left out', () => {
  const { samples, give } = scene()
  samples.turn(true)
  give(Buffer.alloc(ringQueryBytesMax + 1, 1), Buffer.alloc(0), Buffer.alloc(ringQueryBytesMax, 2))
  expect(samples.drain(64).map(({ query: { length } }) => length)).toEqual([ringQueryBytesMax])
})

test('a full ring takes no more, and after it was emptied goes round', () => {
  const { samples, give } = scene()
  samples.turn(true)
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < ringLimits.slots + 9; i++) give(Buffer.from([round, i]))
    const seen = samples.drain(1_000).map(({ query: [first, second] }) => [first, second])
    expect(seen).toEqual(Array.from({ length: ringLimits.slots }, (_, i) => [round, i]))
  }
})

test('samples beyond the wanted number are dropped', () => {
  const { samples, give } = scene()
  samples.turn(true)
  give(packet, packet, packet)
  expect([samples.drain(2).length, samples.drain(2).length]).toEqual([2, 0])
})

test('each batch is looked at where few queries come, and seldom where many do', () => {
  const { samples, give } = scene()
  samples.turn(true)
  const masks: number[] = []
  for (let i = 0; i < 8; i++) {
    masks.push(give(packet))
    samples.drain(64)
  }
  expect(masks).toEqual([63, 31, 15, 7, 3, 1, 0, 0])
  for (let i = 0; i < 8; i++) {
    masks.push(give(...Array.from({ length: 40 }, () => packet)))
    samples.drain(64)
  }
  expect(masks.slice(8)).toEqual([0, 1, 3, 7, 15, 31, 63, 63])
  samples.turn(false)
  expect(give(packet)).toBe(usual)
})

test('a thread that follows a dead one goes on in its ring', () => {
  const { samples, give } = scene()
  samples.turn(true)
  give(packet)
  const next = new QuerySampler(samples.rings[0], usual)
  const source = listSource([[Buffer.from([9])]])
  next.take(source, source.receive())
  expect(samples.drain(64).map(({ query: { length } }) => length)).toEqual([packet.length, 1])
})

test('the timer looks at the batches that the sampler asks for', () => {
  let mask = 0
  const looked: number[] = []
  const sampler = { take: (_source: unknown, count: number) => (looked.push(count), mask) }
  const timer = new BatchTimer({ timed: () => undefined }, () => 0, sampler)
  const source = listSource([])
  for (let batch = 0; batch < 4; batch++) timer.begin(source, batch)
  mask = 3
  for (let batch = 4; batch < 12; batch++) timer.begin(source, batch)
  expect(looked).toEqual([0, 1, 2, 3, 4, 8])
})

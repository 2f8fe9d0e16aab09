// The loop of a responder over a source of packets that is no socket.
import { expect, test } from 'vitest'
import { noLimit } from '#answer/counters/query-bucket.ts'
import { Transaction } from '#answer/transaction.ts'
import { Counters } from '#answer/counters/counters.ts'
import { RateLimiter } from '#answer/rate-limit/limiter.ts'
import { createRateMemory } from '#answer/rate-limit/rate-memory.ts'
import { Control } from '#server/threads/responder-control.ts'
import { respond } from '#server/threads/responder.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import { listSource } from '#test/support/memory-source.ts'
import { rates, rateSettings } from '#test/support/rate-limits.ts'

const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 }

test('answers the batches of any source, and ends at a stop when no packet is left', () => {
  const control = new Int32Array(new SharedArrayBuffer(16))
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const tx = new Transaction(settings, 1, counters)
  const batches = [[query('a.test. A'), query('b.test. A')], [], [query('c.test. A')]]
  const source = listSource(batches, () => {
    Atomics.store(control, Control.Generation, Control.Stop)
  })
  const took: number[] = []
  const timed: (string | number)[] = []
  const rested: number[] = []
  let takeOvers = 0
  respond(source, tx, {
    control,
    bucket: { take: () => noLimit, giveBack: () => undefined },
    scripts: { startBatch: () => undefined },
    turns: { took: (packets) => void took.push(packets) },
    timer: { begin: () => void timed.push('begin'), end: (queries) => void timed.push(queries) },
    rest: (packets) => void rested.push(packets),
    takeOver: () => void takeOvers++,
    handOver: () => undefined,
  })
  const names = source.sent.map((reply) => decodeMessage(reply).questions[0]?.name)
  expect(names).toEqual(['a.test.', 'b.test.', 'c.test.'])
  // Without a bundle every query is refused, and nothing is published to take over.
  expect(source.sent.map((reply) => decodeMessage(reply).rcode)).toEqual([5, 5, 5])
  expect(took).toEqual([2, 1])
  expect(timed).toEqual(['begin', 2, 'begin', 1])
  expect(rested).toEqual([2, 0, 1])
  expect(takeOvers).toBe(0)
})

test('judges the answers of a batch together, and sends those that have room', () => {
  const control = new Int32Array(new SharedArrayBuffer(16))
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const tx = new Transaction(settings, 1, counters)
  const limits = rateSettings({ rates: rates(2, { slip: 1 }) })
  tx.limiter = new RateLimiter(createRateMemory(limits, 1, 1, 0), 0, 1, counters, () => 0)
  const batch = ['a.test. A', 'b.test. A', 'c.test. A'].map((question) => query(question))
  const source = listSource([batch, batch], () => {
    Atomics.store(control, Control.Generation, Control.Stop)
  })
  respond(source, tx, {
    control,
    bucket: { take: () => noLimit, giveBack: () => undefined },
    scripts: { startBatch: () => undefined },
    turns: { took: () => undefined },
    timer: { begin: () => undefined, end: () => undefined },
    rest: () => undefined,
    takeOver: () => undefined,
    handOver: () => undefined,
  })
  const sent = source.sent.map((reply) => decodeMessage(reply))
  // All are errors to one network, of which there is room for two.
  expect(sent.map(({ tc }) => tc)).toEqual([false, false, true, true, true, true])
  expect(sent.map(({ questions }) => questions[0]?.name)).toEqual(
    ['a', 'b', 'c', 'a', 'b', 'c'].map((label) => `${label}.test.`),
  )
  expect(counters.snapshot()).toMatchObject({ truncated: 4, byRcode: { 5: 6 } })
})

test('logs what is left of an answer that a limit takes back', () => {
  const control = new Int32Array(new SharedArrayBuffer(16))
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const tx = new Transaction(settings, 1, counters)
  const limits = rateSettings({ rates: rates(1, { slip: 0 }) })
  tx.limiter = new RateLimiter(createRateMemory(limits, 1, 1, 0), 0, 1, counters, () => 0)
  const batch = ['a.test. A', 'b.test. A'].map((question) => query(question))
  const source = listSource([batch], () => {
    Atomics.store(control, Control.Generation, Control.Stop)
  })
  const logged: number[] = []
  respond(source, tx, {
    control,
    bucket: { take: () => noLimit, giveBack: () => undefined },
    scripts: { startBatch: () => undefined },
    turns: { took: () => undefined },
    timer: { begin: () => undefined, end: () => undefined },
    rest: () => undefined,
    tap: {
      adopt: () => undefined,
      first: () => 0,
      asked: () => undefined,
      answered: (_tx, _reply, _offset, written) => logged.push(written),
    },
    takeOver: () => undefined,
    handOver: () => undefined,
  })
  expect(logged).toEqual([batch[0]!.length, 0])
  expect(source.sent.length).toBe(1)
})

test('takes over before the batch that comes after a publication', () => {
  const control = new Int32Array(new SharedArrayBuffer(16))
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const tx = new Transaction(settings, 1, counters)
  const source = listSource([[query('a.test. A')]], () => {
    Atomics.store(control, Control.Generation, Control.Stop)
  })
  const order: string[] = []
  Atomics.store(control, Control.Generation, 1)
  respond(source, tx, {
    control,
    bucket: { take: () => noLimit, giveBack: () => undefined },
    scripts: { startBatch: () => void order.push('batch') },
    turns: { took: () => undefined },
    timer: { begin: () => undefined, end: () => undefined },
    rest: () => undefined,
    takeOver: () => void order.push('take over'),
    handOver: () => undefined,
  })
  expect(order).toEqual(['take over', 'batch'])
})

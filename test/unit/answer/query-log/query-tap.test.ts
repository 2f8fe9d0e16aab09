// Tests the records that an answering thread writes to its ring: which queries, which fields, and
// losses when the ring is full.
import { describe, expect, test } from 'vitest'
import { createRoutingState } from '#routing/state/candidates.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { answer } from '#answer/answer.ts'
import { noLimit } from '#answer/counters/query-bucket.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Carrier, Transaction, Transport } from '#answer/transaction.ts'
import { Counters } from '#answer/counters/counters.ts'
import { droppedOf, LoggedQueries } from '#answer/query-log/logged-queries.ts'
import type { LoggedQuery } from '#answer/query-log/logged-queries.ts'
import { noTap, QueryTap } from '#answer/query-log/query-tap.ts'
import type { Tap } from '#answer/query-log/query-tap.ts'
import { LogCell, queryBytesMax, ringBytes, ringLimits } from '#answer/query-log/ring.ts'
import { Control } from '#server/threads/responder-control.ts'
import { respond } from '#server/threads/responder.ts'
import { listSource } from '#test/support/memory-source.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { query } from '#test/support/dns/message.ts'
import { loggedModel } from '#test/support/query-log-scene.ts'

const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 }
const bundle = bundleOf(loggedModel)

function viewOf() {
  const { bytes, digest } = bundle
  const routing = createRoutingState(bundle, 1).buffers
  return createServingView({ number: 1, bundle: bytes, digest, routing, tables: noRoutingTables })
}

function newTransaction(seed = 1): Transaction {
  const tx = new Transaction(settings, seed, new Counters(new SharedArrayBuffer(Counters.bytes)))
  tx.adopt(viewOf())
  return tx
}

function newRing(sampleEvery: number): SharedArrayBuffer {
  const ring = new SharedArrayBuffer(ringBytes)
  new Int32Array(ring)[LogCell.SampleEvery] = sampleEvery
  return ring
}

function newTap(ring: SharedArrayBuffer, seed = 7): QueryTap {
  const tap = new QueryTap(ring, seed, () => 0)
  tap.adopt(viewOf())
  return tap
}

/** A responder answers the batches. @returns the replies */
function respondTo(tap: Tap, batches: readonly (readonly Buffer[])[]): readonly Buffer[] {
  const control = new Int32Array(new SharedArrayBuffer(16))
  const source = listSource(batches, () => {
    Atomics.store(control, Control.Generation, Control.Stop)
  })
  Atomics.store(control, Control.Generation, 1)
  respond(source, newTransaction(), {
    control,
    bucket: { take: () => noLimit, giveBack: () => undefined },
    scripts: { startBatch: () => undefined },
    turns: { took: () => undefined },
    timer: { begin: () => undefined, end: () => undefined },
    rest: () => undefined,
    tap,
    takeOver: () => undefined,
    handOver: () => undefined,
  })
  return source.sent
}

function drained(ring: SharedArrayBuffer): readonly LoggedQuery[] {
  const logged: LoggedQuery[] = []
  new LoggedQueries([ring], { nowMs: () => 1_000, machineMs: () => 0 }).drain((one) => {
    logged.push(one)
  })
  return logged
}

const numbered = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, id) => query('turns.test. A', { id }))
const batchesOf = (packets: readonly Buffer[], size: number): Buffer[][] =>
  Array.from({ length: Math.ceil(packets.length / size) }, (_, i) =>
    packets.slice(i * size, (i + 1) * size),
  )
const idsOf = (logged: readonly LoggedQuery[]): readonly number[] =>
  logged.map(({ query: octets }) => Buffer.from(octets).readUInt16BE(0))

describe('which queries are logged', () => {
  test.each([1, 3, 24])('every query is logged with a rate of one, in batches of %i', (size) => {
    const ring = newRing(1)
    respondTo(newTap(ring), batchesOf(numbered(50), size))
    expect(idsOf(drained(ring))).toEqual(Array.from({ length: 50 }, (_, i) => i))
  })

  test.each([2, 9])('a rate of one in %i holds on average, whatever the batches', (sampleEvery) => {
    const count = sampleEvery * 400
    const chosen = [1, 24].map((size) => {
      const ring = newRing(sampleEvery)
      respondTo(newTap(ring), batchesOf(numbered(count), size))
      return idsOf(drained(ring))
    })
    // The gaps are drawn, and known to these dice; the standard deviation of their sum is 12.
    expect(chosen[0]!.length).toBeGreaterThan(340)
    expect(chosen[0]!.length).toBeLessThan(460)
    expect(chosen[1]).toEqual(chosen[0])
    const gaps = chosen[0]!.slice(1).map((id, i) => id - chosen[0]![i]!)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(sampleEvery * 2 - 1)
    // Each of a service's three turns is seen about as often as the others.
    const turns = [0, 1, 2].map((turn) => chosen[0]!.filter((id) => id % 3 === turn).length)
    expect(Math.min(...turns)).toBeGreaterThan(chosen[0]!.length / 5)
  })

  test('without a tap none, with the same answers', () => {
    const ring = newRing(1)
    const packets = batchesOf(numbered(10), 4)
    expect(respondTo(noTap, packets)).toEqual(respondTo(newTap(ring), packets))
  })
})

describe('a logged query', () => {
  test('query and reply, octet by octet, also where one is written over the other', () => {
    const ring = newRing(1)
    const packets = numbered(3)
    const replies = respondTo(newTap(ring), [packets])
    const logged = drained(ring)
    expect(logged.map((one) => Buffer.from(one.query))).toEqual(packets)
    expect(logged.map((one) => Buffer.from(one.reply!))).toEqual(replies)
    expect(logged.map(({ clientPort, client }) => [clientPort, client.length])).toEqual(
      packets.map(() => [5_353, 4]),
    )
  })

  test('has no reply if it was not answered', () => {
    const ring = newRing(1)
    const response = query('turns.test. A', { qr: true })
    respondTo(newTap(ring), [[response, Buffer.from('half')]])
    expect(drained(ring).map(({ reply, replyBytes }) => [reply, replyBytes])).toEqual([
      [undefined, 0],
      [undefined, 0],
    ])
  })

  test('the seed draws the same again', () => {
    const ring = newRing(1)
    const packets = Array.from({ length: 40 }, () => query('dice.test. A'))
    const replies = respondTo(newTap(ring), batchesOf(packets, 9))
    const tx = newTransaction(99)
    const again = drained(ring).map(({ seed, query: octets }) => {
      tx.random.restart(seed)
      const reply = Buffer.alloc(512)
      return reply.subarray(0, answer(tx, octets, 0, octets.length, reply, 0, reply.length))
    })
    expect(again).toEqual(replies)
    // Not because there is but one answer.
    expect(new Set(replies.map((reply) => reply.at(-1))).size).toBe(3)
  })

  test('a query that another thread answers is not', () => {
    const ring = newRing(1)
    const tap = newTap(ring)
    const tx = newTransaction()
    const octets = query('test. AXFR')
    for (const written of [-1, 30]) {
      expect(tap.first(1)).toBe(0)
      tap.asked(tx, octets, 0, octets.length, 53)
      expect(tap.answered(tx, octets, 0, written)).toBe(-1)
    }
    expect(drained(ring)).toHaveLength(1)
  })

  test('a client in IPv6 with an IPv4 address in it is one of IPv4', () => {
    const ring = newRing(1)
    const tap = newTap(ring)
    const tx = newTransaction()
    tx.transport = Transport.Tcp
    for (const address of [
      '00000000000000000000ffffc0000207',
      '20010db8000000000000000000000007',
    ]) {
      tx.source = Buffer.from(address, 'hex')
      tx.sourceBytes = 16
      tap.first(1)
      tap.asked(tx, query('x.test. A'), 0, 20, 53)
      tap.answered(tx, Buffer.alloc(40), 0, 40)
    }
    const [v4, v6] = drained(ring)
    expect([v4?.protocol, Buffer.from(v4!.client).toString('hex')]).toEqual(['tcp', 'c0000207'])
    expect(v6?.client).toHaveLength(16)
  })

  test.each([
    [Transport.Udp, Carrier.Plain, 'udp'],
    [Transport.Tcp, Carrier.Plain, 'tcp'],
    [Transport.Tcp, Carrier.Tls, 'dot'],
    [Transport.Tcp, Carrier.Https, 'doh'],
  ] as const)('transport %d in carrier %d is %s', (transport, carrier, protocol) => {
    const ring = newRing(1)
    const tap = newTap(ring)
    const tx = Object.assign(newTransaction(), { transport, carrier })
    tap.first(1)
    tap.asked(tx, query('x.test. A'), 0, 20, 53)
    tap.answered(tx, Buffer.alloc(40), 0, 40)
    expect(drained(ring)[0]?.protocol).toBe(protocol)
  })
})

describe('where there is no room', () => {
  test('in the ring, queries are answered and counted, and later ones logged again', () => {
    const ring = newRing(1)
    const tap = newTap(ring)
    const packets = numbered(ringLimits.slots + 5)
    expect(respondTo(tap, batchesOf(packets, 24))).toHaveLength(packets.length)
    expect(droppedOf([ring])).toBe(5)
    expect(idsOf(drained(ring))).toEqual(Array.from({ length: ringLimits.slots }, (_, i) => i))
    respondTo(tap, [numbered(2)])
    expect(idsOf(drained(ring))).toEqual([0, 1])
    expect(droppedOf([ring])).toBe(5)
  })

  test('in a slot, a long query is counted, and a long reply left out', () => {
    const ring = newRing(1)
    const tap = newTap(ring)
    const tx = newTransaction()
    const take = (queryBytes: number, replyBytes: number): void => {
      tap.first(1)
      tap.asked(tx, Buffer.alloc(queryBytes, 1), 0, queryBytes, 53)
      tap.answered(tx, Buffer.alloc(replyBytes, 2), 0, replyBytes)
    }
    take(queryBytesMax + 1, 20)
    take(queryBytesMax, 65_535)
    take(0, 0)
    take(queryBytesMax, 1_232)
    expect(droppedOf([ring])).toBe(2)
    const seen = drained(ring).map(({ query: { length }, reply, replyBytes }) => [
      length,
      reply?.length,
      replyBytes,
    ])
    expect(seen).toEqual([
      [queryBytesMax, undefined, 65_535],
      [queryBytesMax, 1_232, 1_232],
    ])
  })

  test('a thread that follows a dead one goes on in its ring', () => {
    const ring = newRing(1)
    respondTo(newTap(ring), [numbered(3)])
    respondTo(newTap(ring), [numbered(2)])
    expect(idsOf(drained(ring))).toEqual([0, 1, 2, 0, 1])
  })
})

// Records of the query log: each is read as it was written, and any octets at all are read or
// refused, in bounded time, without a throw.
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { recordJson, recordLine } from '#why/query-log/print.ts'
import { recordsOf } from '#why/query-log/read-file.ts'
import { Random } from '#lib/random.ts'
import { maskMessage } from '#answer/query-log/client-mask.ts'
import { DnstapEncoder } from '#answer/query-log/dnstap.ts'
import { readDnstap } from '#answer/query-log/dnstap-reader.ts'
import { ControlType, controlFrame, frameHead } from '#answer/query-log/frame-stream.ts'
import type { LoggedQuery } from '#answer/query-log/logged-queries.ts'
import { query } from '#test/support/dns/message.ts'
import { mutated } from '../fuzz/targets/mutator.ts'

const address = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }),
  fc.uint8Array({ minLength: 16, maxLength: 16 }),
)
const choice = fc.record({
  tenant: fc.string(),
  service: fc.string(),
  pool: fc.string({ minLength: 1 }),
  reason: fc.constantFrom('round-robin', 'geo-ip,failover'),
  isFallback: fc.boolean(),
  turn: fc.option(fc.nat({ max: 2 ** 32 - 1 }), { nil: undefined }),
  chosen: fc.constant(1),
  members: fc.tuple(fc.string({ minLength: 1 })),
})
const logged: fc.Arbitrary<LoggedQuery> = fc.record({
  askedMs: fc.integer({ min: 0, max: 4e12 }),
  answeredMs: fc.integer({ min: 0, max: 4e12 }),
  protocol: fc.constantFrom('udp', 'tcp', 'dot', 'doh'),
  client: address,
  clientPort: fc.nat({ max: 65_535 }),
  query: fc.uint8Array({ maxLength: 512 }),
  reply: fc.uint8Array({ minLength: 12, maxLength: 1_500 }),
  replyBytes: fc.constant(100),
  extendedError: fc.constantFrom(-1, 0, 15),
  seed: fc.nat({ max: 2 ** 32 - 1 }),
  digest: fc.constant('d'.repeat(64)),
  commit: fc.constant('c'.repeat(40)),
  choice: fc.option(choice),
})
const settings = { node: 'n1', version: 'gslbd', truncateClients: false }
const encoder = new DnstapEncoder(settings)

describe('a record', () => {
  test('says what was logged', () => {
    fc.assert(
      fc.property(logged, (one) => {
        const read = readDnstap(encoder.encode(one))!
        expect(read.askedMs).toBe(one.askedMs)
        expect(read.protocol).toBe(one.protocol)
        expect(read.clientPort).toBe(one.clientPort)
        expect(Buffer.from(read.query!)).toEqual(Buffer.from(one.query))
        expect(Buffer.from(read.reply!)).toEqual(Buffer.from(one.reply!))
        expect(read.extra).toMatchObject({ digest: one.digest, commit: one.commit, node: 'n1' })
        if (one.choice === null) return
        const { service, pool, turn, members } = one.choice
        expect([read.extra?.service, read.extra?.pool, read.extra?.turn]).toEqual([
          service,
          pool,
          turn,
        ])
        expect([read.extra?.member, read.extra?.seed]).toEqual([members[0], one.seed])
      }),
    )
  })

  test('with cut addresses has nothing of their ends, whatever the messages are', () => {
    const cut = new DnstapEncoder({ ...settings, truncateClients: true })
    fc.assert(
      fc.property(logged, (one) => {
        const read = readDnstap(cut.encode(one))!
        expect(read.client).toMatch(/^(\d+\.\d+\.\d+\.0|[0-9a-f:]+)$/)
        expect(read.clientPort).toBeUndefined()
        expect(read.query === undefined).toBe(maskMessage(one.query) === undefined)
      }),
    )
  })
})

/** Whatever it is: lines and sentences, at most a sentence behind the last record. */
function read(octets: Uint8Array): string {
  const results = [...recordsOf([octets])]
  for (const [i, result] of results.entries()) {
    if (!result.ok) expect(i).toBe(results.length - 1)
    else {
      expect(recordLine(result.value)).not.toMatch(/\p{Cc}/u)
      JSON.parse(recordJson(result.value))
    }
  }
  return results.map((result) => (result.ok ? 'record' : result.error)).join('; ')
}

const framed = (record: Uint8Array): Buffer => Buffer.concat([frameHead(record.length), record])
const start = controlFrame(ControlType.Start)
const honest = Buffer.concat([
  start,
  framed(
    encoder.encode({
      ...{ askedMs: 1e12, answeredMs: 1e12, protocol: 'udp', client: Buffer.from([192, 0, 2, 1]) },
      ...{ clientPort: 53, query: query('www.test. A'), reply: query('www.test. A', { qr: true }) },
      ...{ replyBytes: 26, extendedError: -1, seed: 1, digest: 'd', commit: 'c', choice: null },
    }),
  ),
  controlFrame(ControlType.Stop),
])

describe('a file', () => {
  test('that is whole is read', () => {
    expect(read(honest)).toBe('record')
  })

  test('that is damaged in any way is read or refused', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        read(mutated([honest], new Random(seed)))
      }),
      { numRuns: 2_000 },
    )
  })

  test('with any octets as a record is read or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (octets) => {
        read(Buffer.concat([start, framed(octets)]))
      }),
      { numRuns: 1_000 },
    )
  })

  const corpus = new URL('../fuzz/corpus/query-log/', import.meta.url)
  test.each(readdirSync(corpus).sort())('%s is read as its name says', (name) => {
    const text = readFileSync(new URL(name, corpus), 'utf8')
    const octets = Buffer.from(text.replace(/#.*/g, '').replace(/\s+/g, ''), 'hex')
    const outcome = name.split('.')[1]!
    expect(read(octets).replaceAll(/[^a-z0-9]+/gi, '-')).toContain(outcome)
  })
})

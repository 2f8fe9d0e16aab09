// Sessions of HTTP/2 by nghttp2: requests in any pieces, and octets that no client should send.
import { readFileSync, readdirSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HttpsReplies, HttpsRequests, opening } from '#bench/load/https-frames.ts'
import { Random } from '#lib/random.ts'
import { httpsLimits } from '#server/stream/https-limits.ts'
import { Http2Engine } from '#system/http2/http2-session.ts'
import type { Http2Session } from '#system/http2/http2-session.ts'
import { laneCount } from '#test/support/lane.ts'
import { countFrom, testSeed } from '#test/support/random.ts'
import { mutated } from '../fuzz/targets/mutator.ts'

const engine = new Http2Engine(httpsLimits)

interface Scene {
  readonly session: Http2Session
  /** What a session said, in words. */
  readonly heard: string[]
  readonly open: ReadonlySet<number>
}

/** Answers each request with its body and as many octets more. */
function scene(moreBytes: number): Scene {
  const heard: string[] = []
  const open = new Set<number>()
  const bodies = new Map<number, Buffer>()
  const session = engine.open({
    onBegin: (stream) => {
      open.add(stream)
      return true
    },
    onHeader: (name, value) => heard.push(`${name}: ${value}`),
    onHeaders: (stream) => heard.push(`${stream} headers`),
    onBody: (stream, octets) => {
      bodies.set(stream, Buffer.concat([bodies.get(stream) ?? Buffer.alloc(0), octets]))
    },
    onEnd: (stream) => {
      const body = bodies.get(stream) ?? Buffer.alloc(0)
      heard.push(`${stream} ${body.toString('hex')}`)
      session.respond(stream, [[':status', '200']], Buffer.concat([body, Buffer.alloc(moreBytes)]))
    },
    onReplied: (stream) => heard.push(`${stream} replied`),
    onClose: (stream) => open.delete(stream),
    onControl: () => true,
    onRefused: () => true,
    onInvalid: () => true,
  })
  return { session, heard, open }
}

/** Feeds a session piece by piece. @returns what it sends */
function feed(session: Http2Session, octets: Buffer, pieces: readonly number[]): Buffer {
  const sent: Buffer[] = []
  let [at, i, isOver] = [0, 0, false]
  while (at < octets.length) {
    const end = Math.min(octets.length, at + Math.max(1, pieces[i++ % pieces.length]!))
    const mayGoOn = !isOver
    isOver = !session.take(octets.subarray(at, end))
    expect(isOver || mayGoOn).toBe(true)
    for (let out = session.output(); out !== undefined; out = session.output()) sent.push(out)
    at = end
  }
  return Buffer.concat(sent)
}

test('requests are heard and answered alike, wherever their octets are cut', () => {
  const property = fc.property(
    fc.constantFrom('GET' as const, 'POST' as const),
    fc.uint8Array({ minLength: 1, maxLength: 300 }),
    fc.integer({ min: 1, max: 5 }),
    fc.nat(40_000),
    fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
    (method, query, count, moreBytes, pieces) => {
      const requests = new HttpsRequests(method, '/dns-query', query)
      const all = Array.from({ length: count }, () => requests.next())
      const octets = Buffer.concat([opening(), ...all])
      const [whole, cut] = [scene(moreBytes), scene(moreBytes)]
      const replies = new HttpsReplies(() => undefined)
      replies.take(feed(whole.session, octets, [octets.length]))
      feed(cut.session, octets, pieces)
      expect(cut.heard.filter((said) => !said.endsWith('replied'))).toEqual(
        whole.heard.filter((said) => !said.endsWith('replied')),
      )
      expect([replies.good, replies.ended, whole.open.size, cut.open.size]).toEqual([
        ...[count, count, 0, 0],
      ])
      for (const { session } of [whole, cut]) session.free()
    },
  )
  fc.assert(property, { seed: testSeed, numRuns: laneCount(2_000) })
})

const folder = new URL('../fuzz/corpus/http2/', import.meta.url)
const seeds = readdirSync(folder).map((name) =>
  Buffer.from(readFileSync(new URL(name, folder), 'latin1').replaceAll('\n', ''), 'hex'),
)

test('any octets leave the next session as it should be, and open no stream too many', () => {
  const random = new Random(testSeed)
  const count = countFrom('GSLB_FUZZ_COUNT', laneCount(200_000, 5_000))
  for (let i = 0; i < count; i++) {
    const octets = mutated(seeds, random)
    const { session, open } = scene(random.below(2_000))
    feed(session, octets, [1 + random.below(600)])
    expect(open.size).toBeLessThanOrEqual(httpsLimits.streamsMax)
    session.free()
    expect([session.take(octets), session.output(), session.isOver]).toEqual([
      ...[false, undefined, true],
    ])
  }
  const { session, heard } = scene(0)
  const asks = Buffer.concat([opening(), new HttpsRequests('GET', '/', Buffer.of(1)).next()])
  feed(session, asks, [asks.length])
  expect(heard.at(-1)).toMatch(/replied$/)
  session.free()
})

// What is signed before anybody asks: all that a zone answers again and again is there when it is
// asked for, after a swap, with other keys, when members go down, and as time goes by.
import { describe, expect, test } from 'vitest'
import { signatureLimits, SignatureTable } from '#answer/signing/signature-table.ts'
import { signatureBytes } from '#answer/signing/signature-table.ts'
import { packKeys } from '#answer/signing/signing-keys.ts'
import { inceptionAt, validity } from '#answer/signing/signature-times.ts'
import { everyUse } from '#dns/dnssec/key-record.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import type { ZoneKey } from '#dns/dnssec/zone-key.ts'
import { aheadLimits, AheadWalk } from '#server/ahead/ahead-walk.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { answering, full, nowSeconds, signaturesIn } from '#test/support/dns/signed-answers.ts'
import type { Answering } from '#test/support/dns/signed-answers.ts'
import { signatureWrites } from '#test/support/dns/signature-writes.ts'
import { signedModel, signedName } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const zone = wireName(signedName)
const up = ['192.0.2.10', '192.0.2.11']
const model = signedModel(15, up)
const bundle = bundleOf(model)
const [key, other] = [0, 1].map(() => generateZoneKey(signingAlgorithm(15)!)) as [ZoneKey, ZoneKey]
const packed = (...keys: readonly ZoneKey[]): SharedArrayBuffer =>
  packKeys(keys.map((one) => ({ zone, key: one, use: everyUse })))

/** None of them has an SOA record, whose serial is another one with each commit. */
const records = [
  'www A',
  'mail A',
  'mail AAAA',
  'text TXT',
  '@ MX',
  '@ NS',
  'alias2 A',
  'host.old A',
]
const ofKeys = ['@ DNSKEY', '@ CDS', '@ CDNSKEY']
const balanced = ['app A', 'many A', 'toapp A']
const denials = ['x.safe A', 'x.sub A', 'www NSEC', 'app NSEC', 'empty.non NSEC', '@ NSEC']
const questions = [...records, ...ofKeys, ...balanced, ...denials].map(full)

function world(keys = packed(key)) {
  const node = answering(bundle, keys)
  /** Time that moves by so much at each look at it, in milliseconds. */
  const clock = { atMs: 0, byMs: 0 }
  const monotonicMs = (): number => (clock.atMs += clock.byMs)
  const walk = new AheadWalk({ monotonicMs })
  const pass = (): number => {
    const before = walk.made
    clock.atMs += aheadLimits.pauseMsMax
    walk.turn()
    return walk.made - before
  }
  const take = (): number => {
    walk.take(node.generation())
    return pass()
  }
  return { node, walk, clock, pass, take }
}

const writes = (node: Answering): number => signatureWrites(node.generation().signing.signatures)

/** Signatures that answers had to wait for. */
function madeFor(node: Answering, ...asked: readonly string[]): number {
  const before = writes(node)
  for (const question of asked) expect(signaturesIn(node.ask(question)), question).not.toEqual([])
  return writes(node) - before
}

const tagsIn = (node: Answering, question: string): number[] =>
  signaturesIn(node.ask(question)).map(({ rdata }) => rdata.readUInt16BE(16))

test.each(questions)('%s was signed ahead', (question) => {
  const { node, take } = world()
  take()
  expect(madeFor(node, question)).toBe(0)
})

test.each(['none A', 'x.star A', 'x.any A', '@ SOA'])(
  '%s is signed when it is asked for',
  (name) => {
    const { node, take } = world()
    take()
    expect(madeFor(node, full(name))).toBeGreaterThan(0)
  },
)

test('a member is signed for while another one is answered', () => {
  const { node, take } = world()
  take()
  const first = node.ask(full('app A')).answer[0]!.rdataText
  node.setHealth(0, false)
  expect(madeFor(node, full('app A'), full('many A'))).toBe(0)
  expect(node.ask(full('app A')).answer[0]!.rdataText).not.toBe(first)
  node.setHealth(0, true)
  expect(madeFor(node, full('app A'))).toBe(0)
  expect(node.ask(full('app A')).answer[0]!.rdataText).toBe(first)
})

describe('after a swap', () => {
  test('the walk signs what has changed, and nothing else', () => {
    const { node, take } = world()
    expect(take()).toBeGreaterThan(40)
    expect(take()).toBe(0)
    const services = model.services.map((one, i) => (i === 0 ? { ...one, ttlSeconds: 77 } : one))
    node.serve(bundleOf({ ...model, services }))
    expect(take()).toBe(up.length)
    expect(madeFor(node, ...questions)).toBe(0)
  })

  test('a pass goes on with the new bundle, and one more looks for what it has missed', () => {
    const { node, walk, clock, pass, take } = world()
    walk.take(node.generation())
    clock.byMs = aheadLimits.workMs
    expect(walk.turn()).toBe(aheadLimits.restMs)
    expect(walk.made).toBeLessThan(20)
    clock.byMs = 0
    node.serve(bundleOf(signedModel(15, ['192.0.2.12'])))
    take()
    pass()
    expect(madeFor(node, ...questions)).toBe(0)
  })

  test('passes that follow each other leave most of the time to others', () => {
    const { node, walk, clock, take } = world()
    take()
    clock.byMs = 1
    let worked = 0
    const startedMs = clock.atMs
    for (let i = 0; i < 40; i++) {
      node.serve(i % 2 === 0 ? bundleOf(signedModel(15, ['192.0.2.12'])) : bundle)
      walk.take(node.generation())
      const beganMs = clock.atMs
      const restMs = walk.turn()
      worked += clock.atMs - beganMs
      clock.atMs += restMs
    }
    expect(worked / (clock.atMs - startedMs)).toBeLessThan(0.15)
    expect(walk.made).toBeGreaterThan(40)
  })
})

describe('with other keys', () => {
  test('all is signed by them, and nothing is answered with a key that is not published', () => {
    const { node, take } = world()
    take()
    for (const keys of [[key, other], [other], [key]]) {
      node.take(packed(...keys))
      take()
      expect(madeFor(node, ...questions)).toBe(0)
      const published = node
        .ask(full('@ DNSKEY'))
        .answer.filter(({ type }) => type === 48)
        .map(({ rdata }) => keys.find((one) => rdata.equals(one.rdata))?.tag)
      expect(published).toEqual(keys.map(({ tag }) => tag))
      for (const question of questions) {
        const tags = new Set(tagsIn(node, question))
        expect([...tags].sort(), question).toEqual([...published].sort())
      }
    }
  })

  test('without a key nothing is signed, and with one again all', () => {
    const { node, take } = world(packed())
    expect(take()).toBe(0)
    node.take(packed(key))
    expect(take()).toBeGreaterThan(40)
  })
})

describe('as time goes by', () => {
  /** Inception and expiration of all signatures hold now. */
  const areValid = (node: Answering, now: number): boolean =>
    questions.every((question) =>
      signaturesIn(node.ask(question)).every(({ rdata }) => {
        const [expiration, inception] = [rdata.readUInt32BE(8), rdata.readUInt32BE(12)]
        return inception + validity.backdated <= now && now + 3 * 86_400 < expiration
      }),
    )

  test('no query waits for a signature that was renewed', () => {
    const { node, pass, take } = world()
    take()
    let renewed = 0
    const step = aheadLimits.passSeconds
    const end = nowSeconds + validity.period + validity.overlap
    for (let now = nowSeconds; now < end; now += step) {
      node.at(now)
      expect(madeFor(node, ...questions)).toBe(0)
      renewed += pass()
    }
    expect(areValid(node, end)).toBe(true)
    expect(renewed).toBeGreaterThan(40)
  })

  test.each([
    ['a day forwards', 86_400],
    ['a day back', -86_400],
    ['a month forwards', 30 * 86_400],
    ['a month back', -30 * 86_400],
  ])('the clock jumps %s, and all is signed for that time', (_how, seconds) => {
    const { node, pass, take } = world()
    take()
    node.at(nowSeconds + seconds)
    expect(areValid(node, nowSeconds + seconds)).toBe(true)
    pass()
    expect(madeFor(node, ...questions)).toBe(0)
    expect(areValid(node, nowSeconds + seconds)).toBe(true)
  })

  test('a pass begins when the time of one is over, not before', () => {
    const { node, walk, clock, take } = world()
    take()
    clock.byMs = aheadLimits.workMs
    const rests = [1, aheadLimits.passSeconds - 1, aheadLimits.passSeconds].map((seconds) => {
      node.at(nowSeconds + seconds)
      return walk.turn()
    })
    expect(rests).toEqual([aheadLimits.lookMs, aheadLimits.lookMs, aheadLimits.restMs])
  })
})

describe('where the table is full', () => {
  /** With what others have asked for: no slot is free. */
  function fill(node: Answering): void {
    const table = new SignatureTable(node.generation().signing.signatures)
    const signature = new Uint8Array(signatureBytes)
    const sets = signatureLimits.ofZoneMin / 4
    for (let i = 0; i < signatureLimits.ofZoneMin; i++) {
      const other = Math.floor(i / sets)
      table.keep(i, other, inceptionAt(nowSeconds, other), false, signature)
    }
  }

  test('nothing of it is displaced, and answers are signed when they are asked for', () => {
    const { node, walk, take } = world()
    fill(node)
    const before = writes(node)
    node.at(nowSeconds)
    expect(take()).toBe(0)
    expect(walk.leftOut).toBeGreaterThan(40)
    expect(writes(node)).toBe(before)
    expect(madeFor(node, full('app A'))).toBe(1)
  })
})

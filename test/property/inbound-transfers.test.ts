// Zone transfers as they come in, whole and by changes: cut into messages anywhere, signed or not,
// and hostile ones.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HeaderOffset } from '#dns/header.ts'
import { RrType } from '#dns/rrtype.ts'
import { ReplyCheck } from '#dns/tsig/check-replies.ts'
import { MessageSigner, tsigBytesMax } from '#dns/tsig/sign-message.ts'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { readTsig } from '#dns/tsig/tsig-record.ts'
import { Random } from '#lib/random.ts'
import type { Result } from '#lib/result.ts'
import { questionMessage } from '#zones/inbound/ask-primary.ts'
import { isNewer, TransferReader } from '#zones/inbound/transfer-reader.ts'
import type { Transferred } from '#zones/inbound/transfer-reader.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { laneCount } from '#test/support/lane.ts'
import { countFrom, testSeed } from '#test/support/random.ts'
import { mutated } from '../fuzz/targets/mutator.ts'

const zone = wireName('example.com.')
const id = 4_711
const nowSeconds = 1_800_000_000
const rounds = countFrom('GSLB_FUZZ_COUNT', laneCount(20_000, 1_500))
const key: TsigKey = {
  name: wireName('transfer.example.'),
  algorithm: tsigAlgorithm('hmac-sha256.')!,
  secret: Buffer.alloc(32, 7),
}

interface Record {
  readonly name: string
  readonly type: number
  readonly rdata: Uint8Array
}

const a = (name: string, last: number): Record => ({
  ...{ name: `${name}.example.com.`, type: RrType.A },
  rdata: Uint8Array.of(192, 0, 2, last),
})

function soa(serial: number): Record {
  const numbers = Buffer.alloc(20)
  for (const [i, value] of [serial, 3_600, 600, 86_400, 60].entries()) {
    numbers.writeUInt32BE(value, i * 4)
  }
  const rdata = Buffer.concat([wireName('ns.example.com.'), wireName('root.example.com.'), numbers])
  return { name: 'example.com.', type: RrType.SOA, rdata }
}

function wireOf({ name, type, rdata }: Record): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(300, 4)
  fixed.writeUInt16BE(rdata.length, 8)
  return Buffer.concat([wireName(name), fixed, rdata])
}

/** @param cuts how many records each message has */
function messagesOf(records: readonly Record[], cut: () => number): Buffer[] {
  const messages: Buffer[] = []
  for (let at = 0; at < records.length;) {
    const some = records.slice(at, at + cut())
    at += some.length
    const head = Buffer.alloc(HeaderOffset.End)
    head.writeUInt16BE(id, HeaderOffset.Id)
    head[HeaderOffset.Flags1] = 0x84
    head.writeUInt16BE(some.length, HeaderOffset.AnCount)
    messages.push(Buffer.concat([head, ...some.map(wireOf)]))
  }
  return messages
}

function read(
  messages: readonly Uint8Array[],
  serial: number | undefined,
): Result<Transferred | undefined, string> {
  const qtype = serial === undefined ? RrType.AXFR : RrType.IXFR
  const reader = new TransferReader({ id, zone, qtype, serial })
  let last: Result<Transferred | undefined, string> = { ok: true, value: undefined }
  for (const message of messages) {
    last = reader.take(message)
    if (!last.ok || last.value !== undefined) return last
  }
  return last
}

const wholeZone = (random: Random, count: number): Record[] =>
  Array.from({ length: count }, (_, i) => a(`n${i}`, random.below(256)))

test('a zone comes whole, wherever its messages are cut', () => {
  const random = new Random(testSeed)
  for (let round = 0; round < 50; round++) {
    const records = wholeZone(random, random.below(40))
    const all = [soa(9), ...records, soa(9)]
    const got = read(
      messagesOf(all, () => 1 + random.below(7)),
      round % 2 === 0 ? undefined : 5,
    )
    if (!got.ok || got.value?.is !== 'whole') throw new Error(JSON.stringify(got))
    expect(got.value.soa).toEqual({ serial: 9, refresh: 3_600, retry: 600, expire: 86_400 })
    expect([...got.value.records].map(({ rdata }) => rdata[3])).toEqual(
      records.map(({ rdata }) => rdata[3]),
    )
  }
})

test('changes come in their order, wherever their messages are cut', () => {
  const random = new Random(testSeed)
  for (let round = 0; round < 50; round++) {
    const steps = 1 + random.below(4)
    const wanted: [boolean, number][] = []
    const all: Record[] = [soa(5 + steps)]
    for (let step = 0; step < steps; step++) {
      for (const isAdded of [false, true]) {
        all.push(soa(5 + step + Number(isAdded)))
        for (let i = random.below(4); i > 0; i--) {
          const last = random.below(256)
          all.push(a(`n${i}`, last))
          wanted.push([isAdded, last])
        }
      }
    }
    all.push(soa(5 + steps))
    const got = read(
      messagesOf(all, () => 1 + random.below(5)),
      5,
    )
    if (!got.ok || got.value?.is !== 'changes') throw new Error(JSON.stringify(got))
    const { changes } = got.value
    expect(changes.map(({ isAdded, record }) => [isAdded, record.rdata[3]])).toEqual(wanted)
  }
})

describe('what a server must not send', () => {
  const together = (): number => 99
  const rows: readonly [string, readonly Record[], number | undefined, string][] = [
    ['no SOA record first', [a('www', 1), soa(9)], undefined, 'does not begin with the SOA'],
    ['a name outside', [soa(9), { ...a('www', 1), name: 'example.net.' }], undefined, 'outside'],
    ['records after the end', [soa(9), soa(9), a('www', 1)], undefined, 'after the end'],
    ['another SOA at the end', [soa(9), a('www', 1), soa(8)], undefined, 'changed the zone while'],
    [
      'a gap between changes',
      [soa(9), soa(5), soa(6), soa(7), soa(9), soa(9)],
      5,
      'a gap between them',
    ],
    [
      'a SOA record below',
      [soa(9), { ...soa(9), name: 'a.example.com.' }],
      undefined,
      'SOA record of',
    ],
    ['a SOA record cut short', [{ ...soa(9), rdata: soa(9).rdata.slice(1) }], undefined, 'cut off'],
    ['a meta type', [soa(9), { ...a('www', 1), type: 255 }], undefined, 'which no zone has'],
  ]
  test.each(rows)('%s', (_, records, serial, says) => {
    const got = read(messagesOf(records, together), serial)
    expect(got).toMatchObject({ ok: false })
    expect(got.ok ? '' : got.error).toContain(says)
  })

  test('the serial, where it has no authority for the zone', () => {
    const [message] = messagesOf([soa(9)], together)
    const take = (qtype: number) =>
      new TransferReader({ id, zone, qtype, serial: 5 }).take(message!)
    expect(take(RrType.SOA)).toMatchObject({ ok: true, value: { is: 'current' } })
    message![HeaderOffset.Flags1] = 0x80
    expect(take(RrType.SOA)).toMatchObject({ ok: false })
    expect(take(RrType.IXFR)).toMatchObject({ ok: true })
  })

  test('more than the limits permit', () => {
    const records = [soa(9), ...wholeZone(new Random(1), 20), soa(9)]
    const limits = { recordsMax: 10, bytesMax: 10_000, changedRecordsMax: 3 }
    const take = (all: readonly Record[], serial?: number, more = {}) =>
      new TransferReader(
        { id, zone, qtype: serial === undefined ? RrType.AXFR : RrType.IXFR, serial },
        { ...limits, ...more },
      ).take(messagesOf(all, together)[0]!)
    expect(take(records)).toEqual({ ok: false, error: 'sends more than 10 records' })
    expect(take(records, undefined, { bytesMax: 100 })).toMatchObject({ ok: false })
    const changes = [soa(6), soa(5), ...wholeZone(new Random(1), 9)]
    expect(take(changes, 5)).toEqual({ ok: false, error: 'sends more than 3 changed records' })
  })
})

test('a lone SOA record that is not newer says that nothing has changed', () => {
  for (const serial of [5, 4, 0x8000_0006]) {
    const got = read(
      messagesOf([soa(serial)], () => 1),
      5,
    )
    expect(got).toMatchObject({ ok: true, value: { is: 'current', soa: { serial } } })
  }
  expect(isNewer(1, 0xffff_ffff)).toBe(true)
  expect(isNewer(0, 0)).toBe(false)
})

/** Signs some messages: the first and the last of them always, and one of a hundred. */
function signedReplies(messages: readonly Buffer[], random: Random, signLast = true): Uint8Array[] {
  const question = questionMessage(
    { id, zone, qtype: RrType.AXFR, serial: undefined },
    key,
    nowSeconds,
  )
  const signer = new MessageSigner(key, macOf(question))
  return messages.map((message, i) => {
    const isLast = i === messages.length - 1
    if (i > 0 && (isLast ? !signLast : random.below(3) > 0)) {
      signer.skip(message, message.length)
      return message
    }
    const into = Buffer.alloc(message.length + tsigBytesMax(key))
    message.copy(into)
    return into.subarray(0, signer.sign(into, message.length, nowSeconds))
  })
}

function macOf(message: Uint8Array): Uint8Array {
  const record = readTsig(message)
  if (record === null || record === 'malformed') throw new Error('it is not signed')
  return record.mac
}

function replyCheck(): ReplyCheck {
  const question = questionMessage(
    { id, zone, qtype: RrType.AXFR, serial: undefined },
    key,
    nowSeconds,
  )
  return new ReplyCheck(key, macOf(question))
}

test('replies with signatures here and there are right, and each octet of them matters', () => {
  const random = new Random(testSeed)
  for (let round = 0; round < 40; round++) {
    const all = [soa(9), ...wholeZone(random, 20), soa(9)]
    const replies = signedReplies(
      messagesOf(all, () => 1 + random.below(4)),
      random,
    )
    const check = replyCheck()
    for (const reply of replies)
      expect(check.take(reply, nowSeconds)).toEqual({ ok: true, value: null })
    expect(check.isSigned).toBe(true)
    const at = random.below(replies.length)
    const spoiled = replies.map((reply) => Buffer.from(reply))
    const octet = random.below(spoiled[at]!.length)
    spoiled[at]![octet]! ^= 1 << random.below(8)
    const other = replyCheck()
    const areTaken = spoiled.every((reply) => other.take(reply, nowSeconds).ok)
    // The id in the header is replaced by the one in the signature.
    expect(areTaken && other.isSigned && octet > 1).toBe(false)
  }
})

test('replies without a signature at the begin or the end are refused', () => {
  const random = new Random(testSeed)
  const messages = messagesOf([soa(9), ...wholeZone(random, 9), soa(9)], () => 2)
  expect(replyCheck().take(messages[0]!, nowSeconds)).toEqual({
    ok: false,
    error: 'answers without a signature',
  })
  const check = replyCheck()
  for (const reply of signedReplies(messages, random, false)) check.take(reply, nowSeconds)
  expect(check.isSigned).toBe(false)
  const late = signedReplies(messages, random)[0]!
  const old = replyCheck().take(late, nowSeconds + 301)
  expect(old.ok ? '' : old.error).toContain('a clock that is 301 s from')
})

const corpus = join(import.meta.dirname, '../fuzz/corpus/inbound-transfer')
const collected = readdirSync(corpus)
  .sort()
  .map((name) => {
    const text = readFileSync(join(corpus, name), 'utf8')
    return { name, bytes: Buffer.from(text.replace(/#.*/g, '').replace(/\s+/g, ''), 'hex') }
  })

describe('hostile messages', () => {
  test.each(collected)('$name is refused, or read, and never thrown at', ({ name, bytes }) => {
    const got = read([bytes], 5)
    expect(got.ok).toBe(name.startsWith('good-'))
  })

  test('mutated ones are refused, or read, and never thrown at', () => {
    const random = new Random(testSeed)
    const others = collected.map(({ bytes }) => bytes)
    for (let round = 0; round < rounds; round++) {
      const message = mutated(others, random)
      const got = read([message], random.below(2) === 0 ? undefined : 5)
      if (got.ok && got.value?.is === 'whole') expect(got.value.records.length).toBeLessThan(200)
      replyCheck().take(message, nowSeconds)
    }
  })
})

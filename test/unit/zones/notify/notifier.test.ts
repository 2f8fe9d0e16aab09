// When secondary servers are told of changes, and told again. Time is moved by hand; the secondary
// is a socket. RFC 1996 section 3.6.
import { createSocket } from 'node:dgram'
import type { RemoteInfo, Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { formatName } from '#dns/name.ts'
import { checkTsig } from '#dns/tsig/check-tsig.ts'
import { MessageSigner, tsigBytesMax } from '#dns/tsig/sign-message.ts'
import { TsigError } from '#dns/tsig/tsig-key.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { coalesceMs, Notifier, retryMs } from '#zones/notify/notifier.ts'
import { decodeMessage } from '#test/support/dns/message.ts'
import { testKey } from '#test/support/dns/signed.ts'
import type { TsigRecord } from '#dns/tsig/tsig-record.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const nowMs = 1_700_000_000_000
let time: FakeTime
let secondary: Socket
let port: number
let heard: { readonly octets: Buffer; readonly from: RemoteInfo }[]
let lines: object[]
let notifier: Notifier | undefined

beforeEach(async () => {
  time = new FakeTime(nowMs)
  heard = []
  lines = []
  secondary = createSocket('udp4').bind(0, '127.0.0.1')
  secondary.on('message', (octets, from) => heard.push({ octets, from }))
  await once(secondary, 'listening')
  port = secondary.address().port
})
afterEach(() => {
  notifier?.stop()
  secondary.close()
})

function start(zones = ['example.com.'], key?: TsigKey, source = ''): Notifier {
  const line = (fields: object): void => void lines.push(fields)
  notifier = new Notifier({
    targets: [{ address: '127.0.0.1', port }],
    source,
    zones: () => zones.map(wireName),
    keyName: 'k.example.',
    key: () => key,
    nowMs: time.clock.nowMs,
    after: time.after,
    log: { info: line, warn: line, error: line },
  })
  return notifier
}

const hears = (count: number) =>
  waitUntil(`${count} messages`, () => (heard.length >= count ? true : undefined))
const asked = (): string[] => heard.map(({ octets }) => decodeMessage(octets).questions[0]!.name)

/** Answers the message that came last. */
function reply(rcode = 0, change: (octets: Buffer) => void = () => undefined): void {
  const { octets, from } = heard.at(-1)!
  const answer = Buffer.from(octets)
  answer.writeUInt8(answer.readUInt8(2) | 0x80, 2)
  answer.writeUInt8(rcode, 3)
  change(answer)
  secondary.send(answer, from.port, from.address)
}

test('changes of one second are told once, for each zone', async () => {
  const own = start(['example.com.', 'example.net.'])
  own.changed()
  time.pass(coalesceMs - 1)
  own.changed()
  expect(own.counts.sent).toBe(0)
  time.pass(1)
  await hears(2)
  expect(asked().sort()).toEqual(['example.com.', 'example.net.'])
  expect(decodeMessage(heard[0]!.octets)).toMatchObject({ opcode: 4, aa: true, qr: false })
  expect(own.counts).toEqual({ sent: 2, acknowledged: 0, failed: 0 })
})

test('an unanswered NOTIFY is retried with growing delays, and given up in the end', async () => {
  const own = start()
  own.changed()
  time.pass(coalesceMs)
  for (const [tries, delayMs] of retryMs.entries()) {
    expect(own.counts.sent).toBe(tries + 1)
    time.pass(delayMs - 1)
    expect(own.counts.sent).toBe(tries + 1)
    time.pass(1)
  }
  expect(own.counts).toEqual({ sent: retryMs.length, acknowledged: 0, failed: 1 })
  expect(lines).toMatchObject([{ server: '127.0.0.1', port, zone: 'example.com.' }])
  expect(time.waiting).toBe(0)
  await hears(retryMs.length)
})

test('an answered NOTIFY is not retried; an error is logged', async () => {
  const own = start()
  own.changed()
  time.pass(coalesceMs)
  await hears(1)
  reply()
  await waitUntil('the answer', () => own.counts.acknowledged === 1)
  time.pass(100_000)
  expect(own.counts.sent).toBe(1)
  own.changed()
  time.pass(coalesceMs)
  await hears(2)
  reply(5)
  await waitUntil('the refusal', () => own.counts.failed === 1)
  expect(lines).toMatchObject([
    {
      others: 0,
      reason:
        'REFUSED: it may not take NOTIFY from this address, or not with this key or none; sent ' +
        'without k.example., the key of dns.axfr.notifyKey, which is not here',
    },
  ])
  expect(time.waiting).toBe(0)
})

test.each<readonly [string, (octets: Buffer) => void]>([
  ['another ID', (octets) => octets.writeUInt16BE(octets.readUInt16BE(0) ^ 1, 0)],
  ['a question', (octets) => octets.writeUInt8(octets.readUInt8(2) & 0x7f, 2)],
  ['another opcode', (octets) => octets.writeUInt8(0x80, 2)],
])('an answer with %s counts for nothing', async (_what, change) => {
  const own = start()
  own.changed()
  time.pass(coalesceMs)
  await hears(1)
  reply(0, change)
  reply(0)
  await waitUntil('the good answer', () => own.counts.acknowledged === 1)
  expect(own.counts).toEqual({ sent: 1, acknowledged: 1, failed: 0 })
})

test('a change while the one before is told starts anew', async () => {
  const own = start()
  own.changed()
  time.pass(coalesceMs + retryMs[0]!)
  await hears(2)
  own.changed()
  time.pass(coalesceMs)
  await hears(3)
  reply()
  await waitUntil('the answer', () => own.counts.acknowledged === 1)
  time.pass(100_000)
  expect(own.counts).toEqual({ sent: 3, acknowledged: 1, failed: 0 })
})

test('a limited number of many zones is notified at once, the others follow', async () => {
  const zones = Array.from({ length: 100 }, (_, i) => `z${i}.example.`)
  const own = start(zones)
  secondary.on('message', () => reply())
  own.changed()
  time.pass(coalesceMs)
  expect(own.counts.sent).toBe(64)
  await waitUntil('all answers', () => own.counts.acknowledged === 100)
  expect(new Set(asked())).toEqual(new Set(zones))
})

test('what a secondary refuses of many zones for one reason is one line', async () => {
  const key = testKey('key.example.')
  const own = start(
    Array.from({ length: 100 }, (_, i) => `z${i}.example.`),
    key,
  )
  secondary.on('message', (octets: Buffer, from: RemoteInfo) => {
    const end = octets.indexOf(Buffer.from([0, 6, 0, 1])) + 4
    const answer = Buffer.alloc(end + tsigBytesMax(key))
    octets.copy(answer, 0, 0, end)
    answer.writeUInt16BE(0xa4_09, 2)
    answer.writeUInt16BE(0, 10)
    const record = { timeSeconds: nowMs / 1_000, fudgeSeconds: 300 } as TsigRecord
    const signer = new MessageSigner(key)
    const length = signer.signRefusal(answer, end, record, TsigError.BadTime, nowMs / 1_000)
    secondary.send(answer.subarray(0, length), from.port, from.address)
  })
  own.changed()
  time.pass(coalesceMs)
  await waitUntil('all answers', () => own.counts.failed === 100)
  const reason = 'NOTAUTH: it has a clock that is far from ours (BADTIME)'
  expect(lines).toEqual([{ server: '127.0.0.1', port, zone: 'z0.example.', others: 99, reason }])
})

test('with a key it is signed', async () => {
  const key = testKey('key.example.')
  const own = start(['example.com.'], key)
  own.changed()
  time.pass(coalesceMs)
  await hears(1)
  const check = checkTsig(
    heard[0]!.octets,
    (name) => (formatName(name) === 'key.example.' ? key : undefined),
    nowMs / 1_000,
  )
  expect(check.is).toBe('signed')
})

test('after a stop nothing is sent', () => {
  const own = start()
  own.changed()
  own.stop()
  own.changed()
  time.pass(100_000)
  expect([own.counts.sent, time.waiting]).toEqual([0, 0])
})

test('is sent from the address that the node listens at', async () => {
  const own = start(['example.com.'], undefined, '127.0.0.5')
  own.changed()
  time.pass(coalesceMs)
  await hears(1)
  expect(heard[0]!.from.address).toBe('127.0.0.5')
  reply()
  await waitUntil('the answer', () => own.counts.acknowledged === 1 || undefined)
})

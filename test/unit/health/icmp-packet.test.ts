// Echo packets: what goes out can be read by others, what comes in can be anything.
import { readFileSync, readdirSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeReply,
  encodeRequest,
  internetChecksum,
  tokenBytes,
} from '#health/probes/icmp-packet.ts'
import type { Echo, IcmpFamily } from '#health/probes/icmp-packet.ts'

const families = ['v4', 'v6'] as const
const echo: fc.Arbitrary<Echo> = fc.record({
  identifier: fc.nat(0xffff),
  sequence: fc.nat(0xffff),
  token: fc
    .uint8Array({ minLength: tokenBytes, maxLength: tokenBytes })
    .map((octets) => Buffer.from(octets).toString('hex')),
})

/** As a host answers: the same octets under another type. */
function replyTo(family: IcmpFamily, request: Buffer): Buffer {
  const reply = Buffer.from(request)
  reply[0] = family === 'v4' ? 0 : 129
  return reply
}

test('an echoed packet is read as it was sent, with an IP header of any length', () => {
  const headerWords = fc.integer({ min: 5, max: 15 })
  fc.assert(
    fc.property(fc.constantFrom(...families), echo, headerWords, (family, sent, words) => {
      const reply = replyTo(family, encodeRequest(family, sent))
      expect(decodeReply(family, reply, false)).toEqual(sent)
      const header = Buffer.alloc(words * 4)
      header[0] = 0x40 | words
      expect(decodeReply(family, Buffer.concat([header, reply]), true)).toEqual(sent)
    }),
  )
})

test('a request of IPv4 carries a checksum that verifies', () => {
  fc.assert(
    fc.property(echo, (sent) => {
      expect(internetChecksum(encodeRequest('v4', sent))).toBe(0)
    }),
  )
})

test('a request, an error and a longer reply are no replies to us', () => {
  const sent = { identifier: 1, sequence: 2, token: 'ab'.repeat(tokenBytes) }
  for (const family of families) {
    const request = encodeRequest(family, sent)
    const reply = replyTo(family, request)
    const unreachable = Buffer.from(request)
    unreachable[0] = family === 'v4' ? 3 : 1
    for (const packet of [request, unreachable, Buffer.concat([reply, Buffer.of(0)])]) {
      expect(decodeReply(family, packet, false)).toBeUndefined()
    }
  }
})

test('any octets at all are read or refused', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...families),
      fc.uint8Array({ maxLength: 300 }),
      fc.boolean(),
      (family, octets, hasIpHeader) => {
        const reply = decodeReply(family, Buffer.from(octets), hasIpHeader)
        expect(reply === undefined || reply.token.length === 2 * tokenBytes).toBe(true)
      },
    ),
  )
})

test('the collected hostile packets are refused', () => {
  const corpus = new URL('../../fuzz/corpus/icmp-reply/', import.meta.url)
  const names = readdirSync(corpus)
  expect(names.length).toBeGreaterThan(3)
  for (const name of names) {
    const text = readFileSync(new URL(name, corpus), 'utf8')
    const packet = Buffer.from(text.replace(/#.*/g, '').replace(/\s+/g, ''), 'hex')
    for (const family of families) {
      expect(decodeReply(family, packet, true), name).toBeUndefined()
      expect(decodeReply(family, packet, false), name).toBeUndefined()
    }
  }
})

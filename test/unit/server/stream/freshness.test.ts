// For how long caches of HTTP may keep a reply.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { freshSeconds } from '#server/stream/freshness.ts'
import { query } from '#test/support/dns/message.ts'

interface Row {
  readonly type?: number
  readonly ttl: number
  readonly rdata?: readonly number[]
}

/** @param minimum the last field of its rdata */
const soa = (ttl: number, minimum: number): Row => {
  const last = Buffer.alloc(4)
  last.writeUInt32BE(minimum)
  return { type: 6, ttl, rdata: [0, 0, ...Buffer.alloc(16), ...last] }
}

function record({ type = 1, ttl, rdata = [192, 0, 2, 1] }: Row): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(ttl, 6)
  head.writeUInt16BE(rdata.length, 10)
  return Buffer.concat([head, Buffer.from(rdata)])
}

function reply(rcode: number, answers: readonly Row[], authority: readonly Row[] = []): Buffer {
  const octets = Buffer.concat([query('a.test. A'), ...[...answers, ...authority].map(record)])
  octets[3] = rcode
  octets.writeUInt16BE(answers.length, 6)
  octets.writeUInt16BE(authority.length, 8)
  octets.writeUInt16BE(0, 10)
  return octets
}

test.each([
  ['the smallest of the answers', 0, [{ ttl: 300 }, { ttl: 20 }, { ttl: 60 }], [], 20],
  ['an answer, whatever the authority has', 0, [{ ttl: 300 }], [{ type: 2, ttl: 5 }], 300],
  ['NODATA by the minimum of the SOA', 0, [], [soa(3_600, 30)], 30],
  ['NXDOMAIN by the TTL of the SOA', 3, [], [soa(15, 300)], 15],
  ['an alias to nothing', 3, [{ type: 5, ttl: 60 }], [soa(3_600, 30)], 30],
  ['a referral', 0, [], [{ type: 2, ttl: 86_400 }], 0],
  ['SERVFAIL', 2, [], [soa(3_600, 30)], 0],
  ['REFUSED', 5, [], [], 0],
  ['a TTL with its first bit', 0, [{ ttl: 0xffff_ffff }], [], 0],
] as const)('%s', (_name, rcode, answers, authority, seconds) => {
  expect(freshSeconds(reply(rcode, answers, authority))).toBe(seconds)
})

test('octets of any kind are read to their end, and no further', () => {
  const whole = reply(0, [{ ttl: 300 }, { ttl: 20 }], [soa(3_600, 30)])
  for (let length = 0; length < whole.length; length++) {
    expect(freshSeconds(whole.subarray(0, length))).toBe(0)
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
      expect(freshSeconds(octets)).toBeGreaterThanOrEqual(0)
    }),
  )
})

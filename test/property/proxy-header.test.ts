// Headers of the PROXY protocol, right ones and hostile ones, in one piece and in many.
import { readFileSync, readdirSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAddress, parseAddress } from '#dns/address.ts'
import { Random } from '#lib/random.ts'
import { ConnectionStart } from '#server/stream/connection-start.ts'
import { Admission, ProxyGate } from '#system/sockets/proxy-gate.ts'
import { ProxyHeader, ProxyRead, proxyHeaderBytesMax } from '#system/sockets/proxy-header.ts'
import { laneCount } from '#test/support/lane.ts'
import { proxyHeader } from '#test/support/proxy-writer.ts'
import { countFrom, testSeed } from '#test/support/random.ts'
import { mutated } from '../fuzz/targets/mutator.ts'

const folder = new URL('../fuzz/corpus/proxy-header/', import.meta.url)
const seeds = readdirSync(folder).map((name) =>
  Buffer.from(readFileSync(new URL(name, folder), 'latin1').replaceAll('\n', ''), 'hex'),
)
const count = countFrom('GSLB_FUZZ_COUNT', laneCount(200_000, 20_000))
const everybody = [
  { octets: new Uint8Array(4), prefixBits: 0 },
  { octets: new Uint8Array(16), prefixBits: 0 },
]
const gateOf = (): ProxyGate => new ProxyGate(everybody, { proxyHeader: () => undefined })

const headers = fc.record({
  client: fc.oneof(fc.ipV4(), fc.ipV6()),
  port: fc.nat(65_535),
  family: fc.constantFrom(1, 2),
  tlvs: fc.array(
    fc.tuple(
      fc.nat(255).filter((type) => type !== 3),
      fc.uint8Array({ maxLength: 40 }).map((octets) => Buffer.from(octets)),
    ),
    { maxLength: 8 },
  ),
  checksum: fc.constantFrom(undefined, 'right' as const),
})

test('a header that was written is read, behind anything and before anything', () => {
  fc.assert(
    fc.property(headers, fc.nat(20), fc.uint8Array(), ({ client, port, ...parts }, at, rest) => {
      const address = parseAddress(client)
      if (!address.ok) return
      const family = (address.value.length === 4 ? 0x10 : 0x20) | parts.family
      const { tlvs, checksum } = parts
      const sum = checksum === undefined ? {} : { checksum }
      const written = proxyHeader(client, port, { family, tlvs, ...sum })
      const octets = Buffer.concat([Buffer.alloc(at), written, rest])
      const header = new ProxyHeader()
      expect(header.read(octets, at, octets.length)).toBe(written.length)
      const read = header.address.subarray(16 - address.value.length)
      expect([formatAddress(read), header.port]).toEqual([formatAddress(address.value), port])
      for (let end = at; end < at + written.length; end++) {
        expect(header.read(octets, at, end)).toBe(ProxyRead.Unfinished)
      }
    }),
    { seed: testSeed, numRuns: laneCount(2_000) },
  )
})

describe(`${count} hostile beginnings`, () => {
  test('are read within their octets and their limit, the same whatever lies beyond', () => {
    const random = new Random(testSeed)
    const header = new ProxyHeader()
    for (let i = 0; i < count; i++) {
      const octets = mutated(seeds, random)
      const read = header.read(octets, 0, octets.length)
      const port = header.port
      expect(read).toBeLessThanOrEqual(Math.min(octets.length, proxyHeaderBytesMax))
      const more = Buffer.concat([octets, Buffer.alloc(64, random.below(256))])
      const again = header.read(more, 0, octets.length)
      expect([again, header.port]).toEqual([read, port])
      if (read > 0) expect(header.read(more, 0, more.length)).toBe(read)
      if (read > 0) expect(header.read(octets, 0, read - 1)).toBe(ProxyRead.Unfinished)
    }
  })

  test('end the same in one segment and in many', () => {
    const random = new Random(testSeed + 1)
    for (let i = 0; i < count / 4; i++) {
      const octets = Buffer.concat([mutated(seeds, random), Buffer.alloc(40, 7)])
      const isProxy = random.below(4) > 0
      const whole = new ConnectionStart(gateOf(), isProxy).take(octets)
      const start = new ConnectionStart(gateOf(), isProxy)
      let at = 0
      let cut: ReturnType<ConnectionStart['take']> = null
      while (cut === null && at < octets.length) {
        const end = at + 1 + random.below(20)
        cut = start.take(octets.subarray(at, end))
        at = end
      }
      if (cut !== null && cut !== 'refused') {
        cut = { ...cut, rest: Buffer.concat([cut.rest, octets.subarray(at)]) }
      }
      expect(cut).toEqual(whole)
    }
  })

  test('a datagram is admitted or refused at once', () => {
    const random = new Random(testSeed + 2)
    const gate = gateOf()
    for (let i = 0; i < count / 4; i++) {
      const octets = mutated(seeds, random)
      const admitted = gate.admitDatagram(octets, 0, octets.length, random.below(2) === 0)
      expect(admitted).not.toBe(Admission.Unfinished)
      expect(admitted).toBeLessThanOrEqual(octets.length)
    }
  })
})

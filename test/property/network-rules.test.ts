// Rules of client networks as ranges: each client gets what looking at every rule would give it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ClientRange, ClientRanges } from '#bundle/format/model.ts'
import type { Arrangement, NetworkRule } from '#compiler/values/network-rules.ts'
import { arrangeGeoRules, arrangeMapRules, readRules } from '#compiler/values/written-rules.ts'
import { formatAddress, isMappedIpv4 } from '#dns/address.ts'
import { laneCount } from '#test/support/lane.ts'

type Client = Uint8Array

interface WrittenRule {
  readonly cidr: string
  readonly endpoint: string
  readonly priority: number
}

/** Few distinct octets, so that networks hold one another. */
const octet = fc.constantFrom(0, 1, 128, 192, 255)
const address4 = fc.tuple(octet, octet, octet, octet).map((octets) => Uint8Array.from(octets))
const address6 = fc
  .tuple(octet, octet, octet, octet)
  .map(([a, b, c, d]) => Uint8Array.of(0x20, 1, 0xd, 0xb8, a, b, 0, 0, 0, 0, 0, 0, 0, 0, c, d))
const mapped = address4.map((octets) =>
  Uint8Array.of(...new Array<number>(10).fill(0), 0xff, 0xff, ...octets),
)
const client: fc.Arbitrary<Client> = fc.oneof(address4, address6, mapped)

function cidrOf(address: Uint8Array, prefixBits: number): string {
  const network = address.map((value, i) => {
    const bits = Math.min(Math.max(prefixBits - i * 8, 0), 8)
    return value & (0xff00 >> bits)
  })
  return `${formatAddress(network)}/${prefixBits}`
}

const cidr = fc.oneof(
  fc.tuple(address4, fc.integer({ min: 0, max: 32 })),
  fc.tuple(address6, fc.constantFrom(0, 1, 16, 32, 33, 40, 41, 48, 64, 112, 120, 127, 128)),
  fc.tuple(mapped, fc.integer({ min: 96, max: 128 })),
)
const rule: fc.Arbitrary<WrittenRule> = fc.record({
  cidr: cidr.map(([address, bits]) => cidrOf(address, bits)),
  endpoint: fc.integer({ min: 1, max: 6 }).map((n) => `192.0.2.${n}`),
  priority: fc.integer({ min: 0, max: 3 }),
})
const rules = fc.array(rule, { maxLength: 40 })

/** IPv4-mapped addresses are matched as IPv4. */
const canonical = (address: Client): Client =>
  isMappedIpv4(address) ? address.subarray(12) : address

function holds({ network }: NetworkRule, address: Client): boolean {
  if (network.octets.length !== address.length) return false
  for (let bit = 0; bit < network.prefixBits; bit++) {
    const mask = 0x80 >> (bit & 7)
    if (((network.octets[bit >> 3]! ^ address[bit >> 3]!) & mask) !== 0) return false
  }
  return true
}

type Compare = (a: NetworkRule, b: NetworkRule) => number

function reference(all: readonly NetworkRule[], address: Client, compare: Compare): string[] {
  const matching = all.filter((one) => holds(one, canonical(address))).sort(compare)
  return [...new Set(matching.map(({ endpoint }) => endpoint))]
}

function numberOf(address: Client): bigint {
  return address.reduce((sum, value) => (sum << 8n) | BigInt(value), 0n)
}

function lookUp(ranges: ClientRanges, address: Client): readonly string[] {
  const octets = canonical(address)
  const at = numberOf(octets)
  const family: readonly ClientRange<number | bigint>[] =
    octets.length === 4 ? ranges.v4 : ranges.v6
  return family.find(({ start, end }) => start <= at && at <= end)?.endpoints ?? []
}

const kinds: readonly [
  name: string,
  arrange: (rules: readonly NetworkRule[]) => Arrangement,
  compare: Compare,
][] = [
  [
    'geo rules: the longest prefix, then the lower priority, then the order of the file',
    arrangeGeoRules,
    (a, b) =>
      b.network.prefixBits - a.network.prefixBits || a.priority - b.priority || a.index - b.index,
  ],
  ['map rules: the order of the file', arrangeMapRules, (a, b) => a.index - b.index],
]

describe.each(kinds)('%s', (_name, arrange, compare) => {
  test('every client gets the members of all its rules in order', () => {
    fc.assert(
      fc.property(rules, fc.array(client, { minLength: 1, maxLength: 30 }), (written, clients) => {
        const read = readRules(written)
        expect(read).toHaveLength(written.length)
        const { ranges } = arrange(read)
        for (const address of clients) {
          expect(lookUp(ranges, address)).toEqual(reference(read, address, compare))
        }
      }),
      { numRuns: laneCount(1_500) },
    )
  })

  test('so do the first and the last client of every range, and those beside them', () => {
    fc.assert(
      fc.property(rules, (written) => {
        const read = readRules(written)
        const { ranges } = arrange(read)
        const edges = ranges.v4.flatMap(({ start, end }) => [start - 1, start, end, end + 1])
        for (const edge of edges.filter((at) => at >= 0 && at <= 0xffff_ffff)) {
          const address = new Uint8Array(4)
          new DataView(address.buffer).setUint32(0, edge)
          expect(lookUp(ranges, address)).toEqual(reference(read, address, compare))
        }
      }),
      { numRuns: laneCount(500) },
    )
  })

  test('ranges ascend and are disjoint', () => {
    fc.assert(
      fc.property(rules, (written) => {
        const { v4, v6 } = arrange(readRules(written)).ranges
        for (const family of [v4, v6] as readonly (readonly ClientRange<number | bigint>[])[]) {
          family.forEach(({ start, end }, i) => {
            expect(start <= end).toBe(true)
            if (i > 0) expect(family[i - 1]!.end < start).toBe(true)
          })
        }
      }),
    )
  })

  test('without a redundant rule every client gets the same', () => {
    fc.assert(
      fc.property(rules, fc.array(client, { maxLength: 20 }), (written, clients) => {
        const read = readRules(written)
        for (const [redundant, twin] of arrange(read).redundant) {
          expect(twin).not.toBe(redundant)
          expect(twin.endpoint).toBe(redundant.endpoint)
          const others = read.filter((one) => one !== redundant)
          for (const address of clients) {
            expect(reference(others, address, compare)).toEqual(reference(read, address, compare))
          }
        }
      }),
      { numRuns: laneCount(500) },
    )
  })

  test('the rules ahead of one hold all of its clients and come before it', () => {
    fc.assert(
      fc.property(rules, (written) => {
        for (const [one, ahead] of arrange(readRules(written)).ahead) {
          for (const other of ahead) {
            expect(holds(other, one.network.octets)).toBe(true)
            expect(other.network.prefixBits).toBeLessThanOrEqual(one.network.prefixBits)
            expect(compare(other, one)).toBeLessThan(0)
          }
        }
      }),
      { numRuns: laneCount(1_000) },
    )
  })
})

test('a hundred thousand nested and neighbouring networks are arranged in seconds', () => {
  const read: NetworkRule[] = Array.from({ length: 100_000 }, (_, index) => {
    const prefixBits = 8 + (index % 25)
    const octets = new Uint8Array(4)
    // A multiplier without a common divisor with 2^32 visits addresses all over the space.
    const address =
      (Math.imul(index, 2_654_435_761) >>> 0) &
      (prefixBits === 32 ? -1 : ~(2 ** (32 - prefixBits) - 1))
    new DataView(octets.buffer).setInt32(0, address)
    const endpoint = `192.0.2.${index % 50}`
    return { index, network: { octets, prefixBits }, endpoint, priority: 0 }
  })
  const started = process.cpuUsage()
  const { ranges } = arrangeMapRules(read)
  expect(process.cpuUsage(started).user).toBeLessThan(10_000_000)
  expect(ranges.v4.length).toBeGreaterThan(50_000)
})

test('rules beyond the limits of a bundle are named', () => {
  const written = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      cidr: '198.51.100.0/24',
      endpoint: `192.0.2.${i + 1}`,
    }))
  expect(arrangeMapRules(readRules(written(64))).crowded).toBeUndefined()
  const { crowded, ranges } = arrangeMapRules(readRules(written(65)))
  expect(crowded?.index).toBe(64)
  expect(ranges.v4[0]?.endpoints).toHaveLength(64)
})

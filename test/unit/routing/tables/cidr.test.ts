// Networks as text, and nested networks as disjoint ranges.
import { describe, expect, test } from 'vitest'
import { formatAddress } from '#dns/address.ts'
import { Random } from '#lib/random.ts'
import { parseCidr } from '#routing/tables/cidr.ts'
import { prefixesToRanges } from '#test/support/prefix-ranges.ts'
import type { ValuedCidr } from '#test/support/prefix-ranges.ts'
import { RangeTable, buildRangeTable } from '#routing/tables/range-table.ts'

describe('a network in CIDR notation', () => {
  test.each([
    ['192.0.2.0/24', '192.0.2.0', 24],
    ['0.0.0.0/0', '0.0.0.0', 0],
    ['192.0.2.1/32', '192.0.2.1', 32],
    ['10.128.0.0/9', '10.128.0.0', 9],
    ['2001:db8::/32', '2001:db8::', 32],
    ['::/0', '::', 0],
    ['2001:db8::1/128', '2001:db8::1', 128],
    ['::ffff:192.0.2.0/120', '192.0.2.0', 24],
    ['::ffff:0:0/96', '0.0.0.0', 0],
    ['::ffff:c000:201/128', '192.0.2.1', 32],
  ])('%s is read', (text, address, prefixBits) => {
    const parsed = parseCidr(text)
    expect(parsed.ok && [formatAddress(parsed.value.octets), parsed.value.prefixBits]).toEqual([
      address,
      prefixBits,
    ])
  })

  test.each([
    ['', 'is not a network; write one as 192.0.2.0/24'],
    ['office', '"office" is not a network'],
    ['/24', 'is not a network'],
    ['192.0.2/24', 'is not a network'],
    ['010.0.0.0/8', 'is not a network'],
    ['192.0.2.1', 'for this one address write 192.0.2.1/32'],
    ['2001:db8::1', 'for this one address write 2001:db8::1/128'],
    ['192.0.2.0/', '"" is not a prefix length of IPv4; write a number from 0 to 32'],
    ['192.0.2.0/33', '"33" is not a prefix length of IPv4'],
    ['192.0.2.0/024', '"024" is not a prefix length'],
    ['192.0.2.0/-1', '"-1" is not a prefix length'],
    ['192.0.2.0/255.255.255.0', 'is not a prefix length'],
    ['2001:db8::/129', '"129" is not a prefix length of IPv6; write a number from 0 to 128'],
    ['192.0.2.1/1', 'beyond its prefix of 1 bit; write 128.0.0.0/1'],
    ['192.0.2.1/24', 'has bits set beyond its prefix of 24 bits; write 192.0.2.0/24'],
    ['10.0.0.1/0', 'write 0.0.0.0/0'],
    ['2001:db8::1/64', 'write 2001:db8::/64'],
    ['::ffff:192.0.2.1/120', 'write 192.0.2.0/24'],
  ])('"%s" is refused with what to write', (text, sentence) => {
    const parsed = parseCidr(text)
    expect(parsed.ok ? 'accepted' : parsed.error).toContain(sentence)
  })

  test('strange text is not repeated at length', () => {
    const parsed = parseCidr('x'.repeat(100_000))
    expect(parsed.ok ? 'accepted' : parsed.error.length).toBeLessThan(200)
  })
})

const network = (text: string, value: number): ValuedCidr => {
  const parsed = parseCidr(text)
  if (!parsed.ok) throw new Error(parsed.error)
  return { ...parsed.value, value }
}

/** Nested networks: short prefixes that hold long ones, duplicates, neighbours. */
function randomNetworks(random: Random, count: number, size: 4 | 16): ValuedCidr[] {
  return Array.from({ length: count }, (_, i) => {
    const octets = new Uint8Array(size).map((_octet, at) => (at < 2 ? random.below(8) : 0))
    for (let at = 2; at < size; at++) octets[at] = random.below(4) === 0 ? random.below(256) : 0
    const prefixBits = random.below(size * 8 + 1)
    const kept = octets.map((octet, at) => {
      const bits = Math.min(Math.max(prefixBits - at * 8, 0), 8)
      return octet & (0xff00 >> bits)
    })
    return { octets: kept, prefixBits, value: i + 1 }
  })
}

function holds({ octets, prefixBits }: ValuedCidr, address: Uint8Array): boolean {
  for (let bit = 0; bit < prefixBits; bit++) {
    const mask = 0x80 >> (bit & 7)
    if (((octets[bit >> 3]! ^ address[bit >> 3]!) & mask) !== 0) return false
  }
  return true
}

/** Every network is tried; the first of the longest wins. */
function bruteForce(networks: readonly ValuedCidr[], address: Uint8Array): number {
  let best: ValuedCidr | undefined
  for (const candidate of networks) {
    if (best !== undefined && candidate.prefixBits <= best.prefixBits) continue
    if (holds(candidate, address)) best = candidate
  }
  return best?.value ?? 0
}

describe('networks as ranges', () => {
  test('the longest prefix wins, and what lies around it stays', () => {
    const { ranges4 } = prefixesToRanges([
      network('10.0.0.0/8', 1),
      network('10.1.0.0/16', 2),
      network('10.1.1.0/24', 3),
    ])
    expect(ranges4).toEqual([
      { start: 0x0a00_0000, end: 0x0a00_ffff, value: 1 },
      { start: 0x0a01_0000, end: 0x0a01_00ff, value: 2 },
      { start: 0x0a01_0100, end: 0x0a01_01ff, value: 3 },
      { start: 0x0a01_0200, end: 0x0a01_ffff, value: 2 },
      { start: 0x0a02_0000, end: 0x0aff_ffff, value: 1 },
    ])
  })

  test('take the first of equal prefixes', () => {
    const networks = [network('10.0.0.0/8', 5), network('10.0.0.0/8', 6)]
    expect(prefixesToRanges(networks).ranges4.map(({ value }) => value)).toEqual([5])
  })

  test.each([
    [4, 1],
    [4, 2],
    [16, 3],
    [16, 4],
  ] as const)('of %i octets equal a search through every network', (size, seed) => {
    const random = new Random(seed)
    const networks = randomNetworks(random, 200, size)
    const { ranges4, ranges6 } = prefixesToRanges(networks)
    const table = new RangeTable(buildRangeTable(ranges4, ranges6))
    for (let i = 0; i < 25_000; i++) {
      const near = networks[random.below(networks.length)]!.octets
      const address = near.map((octet) => (random.below(3) === 0 ? random.below(256) : octet))
      const view = new DataView(address.buffer)
      const word = (at: number): number => view.getUint32(at * 4)
      const found =
        size === 4
          ? table.value4(table.find4(word(0)))
          : table.value6(table.find6(word(0), word(1), word(2), word(3)))
      if (found !== bruteForce(networks, address)) {
        expect(`${formatAddress(address)}: ${found}`).toBe(bruteForce(networks, address))
      }
    }
  })
})

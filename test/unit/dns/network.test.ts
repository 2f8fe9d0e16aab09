// Tests membership in networks, and internal addresses with their exceptions.
import { BlockList } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatAddress, parseAddress } from '#dns/address.ts'
import { isForbiddenAddress, isInNetwork, isInternalAddress, isLocalAddress } from '#dns/network.ts'

function octetsOf(text: string): Uint8Array {
  const octets = parseAddress(text)
  if (!octets.ok) throw new Error(text)
  return octets.value
}

test('a network holds what another implementation says that it holds', () => {
  const address = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes })
  const pair = fc.constantFrom(4, 16).chain((bytes) =>
    fc.record({
      start: address(bytes),
      near: address(bytes),
      prefixBits: fc.nat(bytes * 8),
      shared: fc.nat(bytes),
    }),
  )
  fc.assert(
    fc.property(pair, ({ start, near, prefixBits, shared }) => {
      // Random addresses are hardly ever neighbours.
      near.set(start.subarray(0, shared))
      const reference = new BlockList()
      const family = start.length === 4 ? 'ipv4' : 'ipv6'
      reference.addSubnet(formatAddress(start), prefixBits, family)
      const expected = reference.check(formatAddress(near), family)
      expect(isInNetwork(near, { octets: start, prefixBits })).toBe(expected)
    }),
  )
})

const internal: readonly (readonly [what: string, ...string[]])[] = [
  ['this host', '127.0.0.1', '127.255.255.255', '0.0.0.0', '0.1.2.3', '::1', '::'],
  ['private networks', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1'],
  ['shared networks of providers', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
  ['the link, and cloud metadata', '169.254.169.254', 'fe80::1', 'fd00:ec2::254', '192.0.0.192'],
  ['the server of the platform', '168.63.129.16'],
  ['groups and what is reserved', '224.0.0.1', '255.255.255.255', 'ff02::1', '198.18.0.1'],
  [
    'documentation',
    '192.0.2.1',
    '198.51.100.255',
    '203.0.113.0',
    '2001:db8:ffff::1',
    '3fff:fff::1',
  ],
  ['what protocols have for themselves', '192.0.0.8', '2001:2::1', '2001:1ff::1', '2001:10::1'],
  [
    'nowhere, and old relays',
    '100::1',
    '100:0:0:1::1',
    '5f00::1',
    '192.88.99.1',
    '2002:c000:201::',
  ],
  ['IPv4 in IPv6 clothes', '::ffff:127.0.0.1', '::10.0.0.1', '64:ff9b::a9fe:a9fe', '2002:a00:1::'],
  ['translated and tunnelled', '::ffff:0:127.0.0.1', '64:ff9b:1::1', '2001:0:1::1'],
]
for (const [what, ...addresses] of internal) {
  for (const address of addresses) {
    test(`${what}: ${address} is internal`, () => {
      expect(isInternalAddress(octetsOf(address))).toBe(true)
    })
  }
}

const open = [
  ...['1.1.1.1', '172.15.255.255', '172.32.0.1', '100.63.255.255', '100.128.0.0', '9.9.9.9'],
  ...['192.0.1.255', '192.0.3.0', '192.31.196.1', '192.88.98.1', '198.51.99.1', '203.0.114.1'],
]
const open6 = [
  ...[
    '2001:200::1',
    '2001:db7::1',
    '2001:db9::1',
    '3fff:1000::1',
    '2620:4f:8000::1',
    '100:0:0:2::1',
  ],
  '2606:4700::1111',
  '2001:4860::1',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
  '2002:808::',
]
test.each([...open, ...open6])('%s is not internal', (address) => {
  expect(isInternalAddress(octetsOf(address))).toBe(false)
})

test('an allowed network lifts the ban on itself alone, however its addresses are written', () => {
  const allowed = [{ octets: octetsOf('10.1.0.0'), prefixBits: 16 }]
  const isForbidden = (text: string): boolean => isForbiddenAddress(octetsOf(text), allowed)
  expect(['10.1.2.3', '::ffff:10.1.2.3', '8.8.8.8'].map(isForbidden)).toEqual([false, false, false])
  expect(['10.2.2.3', '::ffff:10.2.2.3', '127.0.0.1'].map(isForbidden)).toEqual([true, true, true])
})

test.each([
  ['127.0.0.1', true],
  ['169.254.169.254', true],
  ['::1', true],
  ['fe80::1', true],
  ['::ffff:127.0.0.1', true],
  ['64:ff9b::7f00:1', true],
  ['2002:a9fe:a9fe::', true],
  ['fd00:ec2::254', true],
  ['10.0.0.1', false],
  ['fd00::1', false],
  ['192.0.2.1', false],
  ['2001:db8::1', false],
])('%s is of the node, its link or its cloud: %s', (text, isLocal) => {
  expect(isLocalAddress(octetsOf(text))).toBe(isLocal)
})

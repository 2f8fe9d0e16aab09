// Packets behind proxies: whose address counts, what is refused, and where replies go.
import { describe, expect, test } from 'vitest'
import { formatAddress, parseAddress } from '#dns/address.ts'
import type { Network } from '#dns/network.ts'
import { assert } from '#lib/assert.ts'
import { loadLibc } from '#system/sockets/libc.ts'
import type { Libc } from '#system/sockets/libc.ts'
import type { PacketSource } from '#system/sockets/packet-source.ts'
import { ProxyGate, proxyOutcomeNames } from '#system/sockets/proxy-gate.ts'
import { ProxySource } from '#system/sockets/proxy-source.ts'
import { allocatedBytesPerCall } from '#test/support/allocated-bytes.ts'
import { MemoryMachine } from '#test/support/memory-source.ts'
import { localHeader, proxyHeader } from '#test/support/proxy-writer.ts'

const loaded = loadLibc()
assert(typeof loaded !== 'string', 'the tests run on Linux')
const libc: Libc = loaded

const octetsOf = (text: string): Uint8Array => {
  const parsed = parseAddress(text)
  if (!parsed.ok) throw new Error(text)
  return parsed.value
}
const network = (text: string): Network => {
  const [address = '', bits] = text.split('/')
  return { octets: octetsOf(address), prefixBits: Number(bits) }
}

describe('a network of proxies', () => {
  test.each([
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['192.0.2.0/24', '::ffff:192.0.2.7', true],
    ['192.0.2.0/24', '2001:db8::c000:207', false],
    ['192.0.2.7/32', '192.0.2.7', true],
    ['192.0.2.7/32', '192.0.2.6', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['2001:db8::/33', '2001:db8:7fff::1', true],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['2001:db8::1/128', '2001:db8::1', true],
    ['2001:db8::1/128', '2001:db8::2', false],
    ['::/0', '2001:db8::1', true],
  ])('%s: %s %s', (cidr, address, expected) => {
    const gate = new ProxyGate([network('198.51.100.0/24'), network(cidr)], {
      proxyHeader: () => undefined,
    })
    const octets = octetsOf(address)
    const padded = Buffer.concat([Buffer.alloc(3), octets])
    expect(gate.isProxy(padded, 3, octets.length)).toBe(expected)
  })
})

/** A source in memory, of which the clients 127.0.0.1 to 127.0.0.9 are proxies. */
function open(): {
  readonly send: (client: number, octets: Buffer) => void
  readonly source: PacketSource
  readonly repliesTo: (client: number) => readonly string[]
  readonly counts: Readonly<Record<string, number>>
} {
  const machine = new MemoryMachine()
  const wanted = { listenAddr: '127.0.0.1', port: 0, threads: 1, boundAtOnce: 1, handed: [] }
  const places = machine.row.open(libc, { ...wanted, replyBytesMax: 1_232 })
  if (!places.ok) throw new Error(places.error)
  const counts: Record<string, number> = {}
  const gate = new ProxyGate([network('127.0.0.0/29')], {
    proxyHeader: (outcome) => {
      const name = proxyOutcomeNames[outcome]
      counts[name] = (counts[name] ?? 0) + 1
    },
  })
  const inner = machine.row.attach(libc, places.value.placeOf(0))
  return {
    send: (client, octets) => void machine.deliver(places.value.port, client, octets),
    source: new ProxySource(inner, gate),
    repliesTo: (client) => machine.sentTo(client),
    counts,
  }
}

const text = (source: PacketSource, slot: number): string => {
  const at = source.slotOffset(slot)
  return Buffer.from(source.buffer.subarray(at, at + source.queryLength(slot))).toString()
}
const clientOf = (source: PacketSource, slot: number): string => {
  const at = source.clientOffset(slot)
  return formatAddress(source.clients.subarray(at, at + source.clientBytes))
}

const query = Buffer.from('a query of some octets')
const behind = (header: Buffer): Buffer => Buffer.concat([header, query])

const rows = [
  ['a client', 1, behind(proxyHeader('192.0.2.9', 4_242)), '::ffff:c000:209', 'client'],
  ['a client of IPv6', 1, behind(proxyHeader('2001:db8::9', 4_242)), '2001:db8::9', 'client'],
  ['a proxy for itself', 1, behind(localHeader()), '::ffff:7f00:1', 'own'],
  ['a proxy without a header', 1, query, '', 'missing'],
  ['a proxy with half a header', 1, localHeader().subarray(0, 14), '', 'malformed'],
  [
    'a proxy with a wrong checksum',
    1,
    behind(proxyHeader('192.0.2.9', 1, { checksum: 'wrong' })),
    '',
    'malformed',
  ],
  ['a stranger', 9, query, '::ffff:7f00:9', undefined],
  ['a stranger with a header', 9, behind(proxyHeader('192.0.2.9', 1)), '', 'stranger'],
  ['a stranger with half a signature', 9, localHeader().subarray(0, 8), '::ffff:7f00:9', undefined],
] as const

test.each(rows)('from %s', (_what, sender, datagram, client, outcome) => {
  const { send, source, counts } = open()
  send(sender, datagram)
  expect(source.receive()).toBe(1)
  if (client === '') expect(source.queryLength(0)).toBe(0)
  else expect(clientOf(source, 0)).toBe(client)
  if (outcome === 'client')
    expect([text(source, 0), source.clientPort(0)]).toEqual([query.toString(), 4_242])
  expect(counts).toEqual(outcome === undefined ? {} : { [outcome]: 1 })
})

test('the client of one packet is not taken for that of the next one', () => {
  const { send, source } = open()
  for (const datagram of [proxyHeader('2001:db8::9', 7), localHeader()].map(behind)) {
    send(1, datagram)
    source.receive()
    source.setReply(0, 0)
    source.send(1)
  }
  expect([clientOf(source, 0), source.clientPort(0)]).toEqual(['::ffff:7f00:1', 5_353])
})

test('the reply goes to the proxy, without a header', () => {
  const { send, source, repliesTo } = open()
  send(1, behind(proxyHeader('192.0.2.9', 4_242)))
  source.receive()
  source.setReply(0, Buffer.from(source.buffer.buffer).write('reply', source.slotOffset(0)))
  expect(source.send(1)).toBe(0)
  expect(repliesTo(1)).toEqual(['reply'])
})

test('packets allocate nothing', () => {
  const slots = 16
  const datagrams = [
    behind(proxyHeader('192.0.2.9', 4_242, { checksum: 'right' })),
    behind(proxyHeader('2001:db8::9', 4_242)),
    query,
  ]
  const buffer = new Uint8Array(slots * 2_048)
  const lengths = new Uint16Array(slots)
  const clients = new Uint8Array(slots * 4).fill(127)
  const inner: PacketSource = {
    ...{ buffer, slotBytes: 2_048, clients, clientBytes: 4 },
    receive: () => {
      for (let slot = 0; slot < slots; slot++) {
        const datagram = datagrams[slot % 3]!
        for (let i = 0; i < datagram.length; i++) buffer[slot * 2_048 + i] = datagram[i]!
        lengths[slot] = datagram.length
      }
      return slots
    },
    slotOffset: (slot) => slot * 2_048,
    clientOffset: (slot) => slot * 4,
    clientPort: () => 5_353,
    queryLength: (slot) => lengths[slot]!,
    envelope: () => buffer,
    setReply: () => undefined,
    send: () => 0,
  }
  const counts = new Float64Array(8)
  const proxyHeaderOf = (outcome: number): void => void (counts[outcome]! += 1)
  const gate = new ProxyGate([network('127.0.0.0/8')], { proxyHeader: proxyHeaderOf })
  const source = new ProxySource(inner, gate)
  const repeat = (times: number): void => {
    for (let i = 0; i < times; i++) source.receive()
  }
  expect(allocatedBytesPerCall(repeat, 2_000)).toBeLessThan(1)
  expect(counts[0]).toBeGreaterThan(0)
})

// A node behind load balancers: whose address counts for who may ask what, over UDP and TCP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAddress } from '#dns/address.ts'
import type { Network } from '#dns/network.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { exchangeUdp, framed, isDroppedUdp, TcpClient } from '#test/support/dns/client.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { a } from '#test/support/dns/record.ts'
import { localHeader, proxyHeader } from '#test/support/proxy-writer.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const network = (text: string): Network => {
  const [address = '', bits] = text.split('/')
  const octets = parseAddress(address)
  if (!octets.ok) throw new Error(text)
  return { octets: octets.value, prefixBits: Number(bits) }
}
/** Clients that may transfer zones; the proxy is none of them. */
const allow = [network('192.0.2.0/24'), network('2001:db8:5::/48')]
const transfers = { enabled: true, requireTsig: false, allow }

/** Behind what is a proxy: this machine, or one that is not here. */
const nodes = new Map<string, RunningNode>()
beforeAll(async () => {
  for (const threads of [1, 0]) {
    for (const proxies of ['127.0.0.0/8', '192.0.2.0/24']) {
      const settings = { threads, transfers, proxies: [network(proxies)] }
      nodes.set(`${proxies} ${threads}`, await startNode(conformanceConfig, settings))
    }
  }
})
afterAll(async () => {
  for (const node of nodes.values()) await node.stop()
})

function counted(node: RunningNode): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { byProxyOutcome } of node.node.counters()) {
    for (const [name, count] of Object.entries(byProxyOutcome)) {
      sums[name] = (sums[name] ?? 0) + count
    }
  }
  return sums
}

const soa = query('example.org. SOA', { id: 1 })
const ixfr = query('example.org. IXFR', {
  authority: [a('example.org. 0 IN SOA . . 0 0 0 0 0')],
})
const refused = 5
const clients = [
  ['a client that may transfer', proxyHeader('192.0.2.9', 1), 0],
  ['one of IPv6', proxyHeader('2001:db8:5::9', 1), 0],
  ['an IPv4 address in IPv6', proxyHeader('::ffff:192.0.2.9', 1, { family: 0x21 }), 0],
  ['a client that may not', proxyHeader('198.51.100.9', 1), refused],
  ['the proxy itself', localHeader(), refused],
] as const

describe.each([1, 0])('with dns.threads: %i', (threads) => {
  const behind = (): RunningNode => nodes.get(`127.0.0.0/8 ${threads}`)!
  const apart = (): RunningNode => nodes.get(`192.0.2.0/24 ${threads}`)!

  test.each(clients)('%s is the client over UDP', async (_who, header, rcode) => {
    const reply = decodeMessage(await exchangeUdp(behind(), Buffer.concat([header, ixfr])))
    expect(reply.rcode).toBe(rcode)
  })

  test.each(clients)('%s is the client over TCP', async (_who, header, rcode) => {
    const client = await TcpClient.connect(behind())
    // The header and all that follows in pieces, as a network may deliver it.
    const octets = Buffer.concat([header, framed(query('example.org. AXFR'))])
    for (let at = 0; at < octets.length; at += 7) {
      client.sendRaw(octets.subarray(at, at + 7))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(decodeMessage(await client.receive()).rcode).toBe(rcode)
    client.destroy()
  })

  test("a proxy's message without a header, or with a wrong one, gets no answer", async () => {
    const node = behind()
    const before = counted(node)
    // Its id is what its header begins with: by that its answer is known.
    const good = Buffer.concat([localHeader(), query('example.org. SOA', { id: 0x0d0a })])
    const wrong = proxyHeader('192.0.2.9', 1, { checksum: 'wrong' })
    const isDropped = (bytes: Buffer): Promise<boolean> => isDroppedUdp(node, bytes, good)
    expect(decodeMessage(await exchangeUdp(node, good)).rcode).toBe(0)
    expect(await isDropped(soa)).toBe(true)
    expect(await isDropped(Buffer.concat([wrong, soa]))).toBe(true)
    for (const octets of [framed(soa), Buffer.concat([wrong, framed(soa)])]) {
      const client = await TcpClient.connect(node)
      client.sendRaw(octets)
      await client.closed()
    }
    await waitUntil('counted', () => {
      const { missing = 0, malformed = 0 } = counted(node)
      return missing - before['missing']! === 2 && malformed - before['malformed']! === 2
    })
  })

  test('headers of others are ignored, and their messages are answered as ever', async () => {
    const node = apart()
    const before = counted(node)
    const header = proxyHeader('192.0.2.9', 1)
    const good = query('example.org. SOA', { id: 2 })
    expect(await isDroppedUdp(node, Buffer.concat([header, soa]), good)).toBe(true)
    const liar = await TcpClient.connect(node)
    liar.sendRaw(Buffer.concat([header, framed(query('example.org. AXFR'))]))
    await liar.closed()
    const client = await TcpClient.connect(node)
    client.send(soa)
    expect(decodeMessage(await client.receive()).rcode).toBe(0)
    client.destroy()
    await waitUntil('counted', () => counted(node)['stranger']! - before['stranger']! === 2)
    expect(counted(node)).toMatchObject({ client: 0, own: 0, missing: 0, malformed: 0 })
  })
})

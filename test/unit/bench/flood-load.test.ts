// The flood of a benchmark: whose addresses it has, how fast it is, and what it counts; and clients
// beside it.
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { encodeQuery } from '#bench/data/query-wire.ts'
import { floodLoad, victimHosts } from '#bench/load/flood-load.ts'
import { SteadyClient } from '#bench/load/steady-client.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import { waitUntil } from '#test/support/wait-until.ts'

async function server(reply: (message: Buffer, address: string) => Buffer): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  onTestFinished(() => void socket.close())
  await once(socket, 'listening')
  socket.on('message', (message, { address, port }) => {
    socket.send(reply(message, address), port, address)
  })
  return socket
}

test('a flood has hosts of so many networks, and a rate, and counts the replies', async () => {
  const addresses = new Set<string>()
  const ids = new Set<number>()
  const one = await server((message, address) => {
    addresses.add(address)
    ids.add(message.readUInt16BE(0))
    return Buffer.concat([message, message])
  })
  const octets = Buffer.from(encodeQuery('a.example'))
  const plan = { query: octets.toString('hex'), perSecond: 4_000, seconds: 0.5, networks: 3 }
  const found = await floodLoad({ port: one.address().port, ...plan }, 0)
  expect(found.sent).toBeGreaterThan(500)
  expect(found.sent).toBeLessThanOrEqual(found.seconds * plan.perSecond)
  expect(found.sentBytes).toBe(found.sent * octets.length)
  expect(found.replies).toBeGreaterThan(0)
  expect(found.replyBytes).toBe(found.replies * octets.length * 2)
  expect(ids.size).toBeGreaterThan(100)
  const parts = [...addresses].map((address) => address.split('.').map(Number))
  expect(new Set(parts.map(([a, b, c]) => `${a}.${b}.${c}`))).toEqual(
    new Set(['127.64.0', '127.64.1', '127.64.2']),
  )
  const hosts = parts.map((octetsOf) => octetsOf[3]!)
  expect([Math.min(...hosts) > 0, Math.max(...hosts) < victimHosts]).toEqual([true, true])
})

test.each([true, false])('a client with a cookie (%s) counts whole answers', async (hasCookie) => {
  let asked = 0
  const cookies = new Set<string>()
  const one = await server((message) => {
    const given = decodeMessage(message).opt?.options[0]?.data ?? Buffer.alloc(0)
    const isWhole = !hasCookie || given.length === 24
    cookies.add(given.toString('hex'))
    // Every other answer is truncated, from when the client has its cookie.
    const isTruncated = isWhole && asked++ % 2 === 1
    const data = Buffer.concat([given.subarray(0, 8), Buffer.alloc(16, 7)])
    const opt = { options: [{ code: 10, data }] }
    const reply = query('a.example. A', { id: message.readUInt16BE(0), opt })
    reply[2] = isTruncated ? 0x82 : 0x80
    return reply
  })
  const client = new SteadyClient({
    ...{ port: one.address().port, address: '127.64.0.201', qname: 'a.example' },
    ...{ query: { edns: 'plain' }, everyMs: 5, hasCookie },
  })
  await client.open()
  client.start()
  await waitUntil('questions', () => asked >= 20)
  await sleep(0)
  const counts = await client.stop()
  expect(counts.asked).toBe(asked)
  expect([counts.whole, counts.truncated]).toEqual([Math.ceil(asked / 2), Math.floor(asked / 2)])
  // Without the server's part once, then with it.
  expect(cookies.size).toBe(hasCookie ? 2 : 1)
})

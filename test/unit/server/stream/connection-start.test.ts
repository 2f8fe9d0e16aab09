// Connections of load balancers: for whom they count, and how long their header may take.
import { afterEach, expect, test } from 'vitest'
import { TcpServer } from '#server/stream/tcp.ts'
import type { TcpLimits } from '#server/stream/tcp-limits.ts'
import { ProxyGate } from '#system/sockets/proxy-gate.ts'
import { framed, TcpClient } from '#test/support/dns/client.ts'
import { localHeader, proxyHeader } from '#test/support/proxy-writer.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const proxies = [{ octets: Uint8Array.of(127, 0, 0, 0), prefixBits: 8 }]
const message = Buffer.alloc(12)
const opened: { readonly server: TcpServer; readonly clients: TcpClient[] }[] = []

afterEach(async () => {
  for (const { server, clients } of opened.splice(0)) {
    for (const client of clients) client.destroy()
    await server.close()
  }
})

async function start(limits: Partial<TcpLimits>) {
  const server = new TcpServer({
    // Says who asks: the last octet of the address, and the port.
    answer: (_query, _length, reply, _max, { address, port }) => {
      reply[0] = address[15]!
      reply[1] = port
      return 12
    },
    monotonicMs: () => performance.now(),
    limits: { closeTimeoutMs: 500, ...limits },
    gate: new ProxyGate(proxies, { proxyHeader: () => undefined }),
  })
  const listening = await server.listen('127.0.0.1', 0)
  if (!listening.ok) throw new Error(listening.error)
  const { port } = listening.value
  const clients: TcpClient[] = []
  opened.push({ server, clients })
  const send = async (octets: Buffer): Promise<TcpClient> => {
    const client = await TcpClient.connect({ host: '127.0.0.1', port })
    clients.push(client)
    client.sendRaw(octets)
    return client
  }
  return { server, send }
}

const asks = (header: Buffer): Buffer => Buffer.concat([header, framed(message)])
const clientOf = async (client: TcpClient): Promise<number[]> => [
  ...(await client.receive()).subarray(0, 2),
]

test('a load balancer has as many connections as the clients that it names', async () => {
  const { server, send } = await start({ connectionsPerClientMax: 1 })
  for (let i = 1; i <= 5; i++) {
    const client = await send(asks(proxyHeader(`192.0.2.${i}`, 40 + i)))
    expect(await clientOf(client)).toEqual([i, 40 + i])
  }
  expect(server.stats).toMatchObject({ open: 5, refused: 0, evicted: 0 })
})

test('a client has no more connections behind a load balancer than without one', async () => {
  const { server, send } = await start({ connectionsPerClientMax: 2 })
  // In the middle of a message, so that they are not idle.
  const busy = Buffer.concat([asks(proxyHeader('192.0.2.1', 1)), framed(message).subarray(0, 5)])
  const [first, second] = [await send(busy), await send(busy)]
  expect([await clientOf(first), await clientOf(second)]).toEqual([
    [1, 1],
    [1, 1],
  ])
  await (await send(asks(proxyHeader('192.0.2.1', 1)))).closed()
  expect(server.stats).toMatchObject({ open: 2, refused: 1 })
  // The load balancer's own connections count for itself.
  expect(await clientOf(await send(asks(localHeader())))).toEqual([1, expect.any(Number)])
  first.destroy()
  await waitUntil('one is gone', () => server.stats.open === 2)
  expect(await clientOf(await send(asks(proxyHeader('192.0.2.1', 9))))).toEqual([1, 9])
})

test('a header must be whole within the time for a message', async () => {
  const { server, send } = await start({ messageTimeoutMs: 100 })
  const client = await send(proxyHeader('192.0.2.1', 1).subarray(0, 20))
  await client.closed()
  expect(server.stats).toMatchObject({ messageTimeouts: 1, queries: 0 })
})

test('a connection that ends within its header is closed without an answer', async () => {
  const { server, send } = await start({})
  const client = await send(proxyHeader('192.0.2.1', 1).subarray(0, 20))
  client.socket.end()
  await client.closed()
  await waitUntil('closed', () => server.stats.open === 0)
  expect(server.stats.queries).toBe(0)
})

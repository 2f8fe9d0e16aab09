// RFC 7766: the TCP server's framing, times and limits, on real sockets.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { TcpServer } from '#server/stream/tcp.ts'
import type { AnswerStream } from '#server/stream/tcp-connection.ts'
import type { TcpLimits } from '#server/stream/tcp-limits.ts'
import { TcpClient, framed } from '../../../support/dns/client.ts'
import { waitUntil } from '../../../support/wait-until.ts'

/** Sends the message back with QR set. */
const echo: AnswerStream = (query, length, reply) => {
  if (length < 12) return 0
  reply.set(query.subarray(0, length))
  reply[2] = 0x80
  return length
}

const servers: TcpServer[] = []
const clients: TcpClient[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

async function start(
  limits: Partial<TcpLimits> = {},
  answer = echo,
): Promise<{ server: TcpServer; port: number; connect: () => Promise<TcpClient> }> {
  const monotonicMs = (): number => performance.now()
  const server = new TcpServer({
    answer,
    monotonicMs,
    limits: { closeTimeoutMs: 500, ...limits },
  })
  const listening = await server.listen('127.0.0.1', 0)
  if (!listening.ok) throw new Error(listening.error)
  const { port } = listening.value
  servers.push(server)
  const connect = async (): Promise<TcpClient> => {
    const client = await TcpClient.connect({ host: '127.0.0.1', port })
    clients.push(client)
    return client
  }
  return { server, port, connect }
}

function message(id: number, bytes = 12): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUInt16BE(id)
  return buffer
}

async function idsFrom(client: TcpClient, count: number): Promise<number[]> {
  const ids: number[] = []
  for (let i = 0; i < count; i++) ids.push((await client.receive()).readUInt16BE(0))
  return ids
}

test('between two messages of a long reply other work of the thread has its turn', async () => {
  let written = 0
  let turns = 0
  const early: number[] = []
  const next = (into: Uint8Array): number => {
    if (turns < written) early.push(written)
    if (written === 1_000) return 0
    written++
    setImmediate(() => turns++)
    into.fill(0, 0, 12)
    return 12
  }
  const { connect } = await start({}, () => ({ next, end: () => undefined }))
  const client = await connect()
  client.send(message(1))
  for (let i = 0; i < 1_000; i++) await client.receive()
  expect(early).toEqual([])
})

describe('framing', () => {
  test('a message that comes one octet at a time is answered once, whole', async () => {
    const { server, connect } = await start()
    const client = await connect()
    for (const octet of framed(message(7, 40))) {
      client.sendRaw(Buffer.from([octet]))
      await new Promise((resolve) => setImmediate(resolve))
    }
    const reply = await client.receive()
    expect(reply.length).toBe(40)
    expect(server.stats.queries).toBe(1)
  })

  test('messages in one segment are answered in order', async () => {
    const { connect } = await start()
    const client = await connect()
    client.send(message(1), message(2, 300), message(3))
    expect(await idsFrom(client, 3)).toEqual([1, 2, 3])
  })

  test('a segment that ends inside the next message loses nothing', async () => {
    const { server, connect } = await start()
    const client = await connect()
    const stream = framed(message(1), message(2, 900), message(3))
    client.sendRaw(stream.subarray(0, 15))
    expect(await idsFrom(client, 1)).toEqual([1])
    await waitUntil('the counters to move', () => server.stats.bytesReceived === 15)
    client.sendRaw(stream.subarray(15))
    expect(await idsFrom(client, 2)).toEqual([2, 3])
  })

  test('a message of 65,535 octets is read and answered whole', async () => {
    const { connect } = await start()
    const client = await connect()
    client.send(message(9, 65_535), message(10))
    expect((await client.receive()).length).toBe(65_535)
    expect(await idsFrom(client, 1)).toEqual([10])
  })

  test('more pipelined messages than one turn answers are all answered', async () => {
    const { connect } = await start({ messagesPerTurnMax: 3 })
    const client = await connect()
    const ids = Array.from({ length: 1_000 }, (_, i) => i)
    client.send(...ids.map((id) => message(id)))
    expect(await idsFrom(client, ids.length)).toEqual(ids)
  })
})

describe('a connection', () => {
  test('stays open after a reply, for the next query', async () => {
    const { server, connect } = await start()
    const client = await connect()
    client.send(message(1))
    await client.receive()
    client.send(message(2))
    expect(await idsFrom(client, 1)).toEqual([2])
    expect(server.stats.accepted).toBe(1)
  })

  test('is closed when no message came for the idle timeout', async () => {
    const { server, connect } = await start({ idleTimeoutMs: 60 })
    const client = await connect()
    await client.closed()
    expect(server.stats.idleTimeouts).toBe(1)
  })

  test('a message that trickles is cut off at the message timeout', async () => {
    const { server, connect } = await start({ messageTimeoutMs: 80, idleTimeoutMs: 60_000 })
    const client = await connect()
    const trickle = setInterval(() => client.sendRaw(Buffer.from([1])), 10)
    try {
      await client.closed()
    } finally {
      clearInterval(trickle)
    }
    expect(server.stats.messageTimeouts).toBe(1)
  })

  test('a client that has closed its half still gets its answers, then the end', async () => {
    const { connect } = await start({ messagesPerTurnMax: 2 })
    const client = await connect()
    client.send(message(1), message(2), message(3), message(4), message(5))
    client.socket.end()
    expect(await idsFrom(client, 5)).toEqual([1, 2, 3, 4, 5])
    await client.closed()
  })

  test('a message without a reply ends the connection after the replies before it', async () => {
    const { server, connect } = await start()
    const client = await connect()
    client.send(message(1), message(2), Buffer.alloc(3), message(4))
    expect(await idsFrom(client, 2)).toEqual([1, 2])
    await client.closed()
    expect(server.stats.dropped).toBe(1)
    await expect(client.receive()).rejects.toThrow('closed the connection')
  })

  test('a reset by the client leaves the others served', async () => {
    const { server, connect } = await start()
    const [rude, polite] = [await connect(), await connect()]
    rude.send(message(1))
    rude.socket.resetAndDestroy()
    polite.send(message(2))
    expect(await idsFrom(polite, 1)).toEqual([2])
    await waitUntil('the counters to move', () => server.stats.open === 1)
  })
})

describe('a client that does not read', () => {
  const big: AnswerStream = (query, _length, reply) => {
    reply[0] = query[0] as number
    reply[1] = query[1] as number
    return 60_000
  }
  const flood = (): Buffer[] => Array.from({ length: 2_000 }, (_, i) => message(i))

  test('makes the server stop answering, and gets the rest when it reads again', async () => {
    // One turn could answer them all: only the client's slowness stops it.
    const { server, connect } = await start({ messagesPerTurnMax: 1_000_000 }, big)
    const client = await connect()
    client.socket.pause()
    client.send(...flood())
    await waitUntil('the counters to move', () => server.stats.queries > 0)
    const answered = await settled(() => server.stats.queries)
    expect(answered).toBeLessThan(1_000)
    client.socket.resume()
    const ids = await idsFrom(client, 2_000)
    expect(ids).toEqual(ids.map((_, i) => i))
  })

  test('is not read from either, however it spreads its queries', async () => {
    const { server, connect } = await start({}, big)
    const client = await connect()
    client.socket.pause()
    for (const query of flood()) {
      client.send(query)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await settled(() => server.stats.queries)).toBeLessThan(1_000)
  })

  test('is cut off after the write timeout', async () => {
    const { server, connect } = await start({ writeTimeoutMs: 100 }, big)
    const client = await connect()
    client.socket.pause()
    client.send(...flood())
    await waitUntil(
      'the counters to move',
      () => server.stats.writeTimeouts === 1 && server.stats.open === 0,
    )
  })
})

describe('limits on connections', () => {
  test('over the total, the connection that was idle longest makes room', async () => {
    const { server, connect } = await start({ connectionsMax: 3 })
    const [first, second, third] = [await connect(), await connect(), await connect()]
    await waitUntil('the counters to move', () => server.stats.accepted === 3)
    first.send(message(1))
    await first.receive()
    const fourth = await connect()
    await second.closed()
    for (const client of [first, third, fourth]) {
      client.send(message(5))
      expect(await idsFrom(client, 1)).toEqual([5])
    }
    expect(server.stats.evicted).toBe(1)
    expect(server.stats.open).toBe(3)
  })

  test('over the total, an idle connection goes before an older one that is busy', async () => {
    const { server, connect } = await start({ connectionsMax: 2 })
    const [busy, idle] = [await connect(), await connect()]
    const stream = framed(message(6))
    busy.sendRaw(stream.subarray(0, 5))
    await waitUntil('the counters to move', () => server.stats.bytesReceived === 5)
    await connect()
    await idle.closed()
    busy.sendRaw(stream.subarray(5))
    expect(await idsFrom(busy, 1)).toEqual([6])
  })

  test('slow messages on every connection do not lock newcomers out', async () => {
    const { server, connect } = await start({ connectionsMax: 2, connectionsPerClientMax: 10 })
    for (const client of [await connect(), await connect()]) client.sendRaw(Buffer.from([0]))
    await waitUntil('the counters to move', () => server.stats.bytesReceived === 2)
    const newcomer = await connect()
    newcomer.send(message(3))
    expect(await idsFrom(newcomer, 1)).toEqual([3])
  })

  test('one client at its own limit loses its idle connection, not those of others', async () => {
    const { server, connect } = await start({ connectionsPerClientMax: 2 })
    const [first, second] = [await connect(), await connect()]
    await waitUntil('the counters to move', () => server.stats.accepted === 2)
    const third = await connect()
    await first.closed()
    for (const client of [second, third]) {
      client.send(message(4))
      expect(await idsFrom(client, 1)).toEqual([4])
    }
  })

  test('one client with all its connections busy is refused another', async () => {
    const { server, connect } = await start({ connectionsPerClientMax: 1 })
    const busy = await connect()
    busy.sendRaw(Buffer.from([0]))
    await waitUntil('the counters to move', () => server.stats.bytesReceived === 1)
    const refused = await connect()
    await refused.closed()
    expect(server.stats.refused).toBe(1)
  })
})

describe('faults', () => {
  test('an answer function that throws costs one connection, and is counted', async () => {
    const faulty: AnswerStream = (query, length, reply, max, client) => {
      if (query[0] === 0xff) throw new Error('a fault of ours')
      return echo(query, length, reply, max, client)
    }
    const { server, connect } = await start({}, faulty)
    const [unlucky, other] = [await connect(), await connect()]
    unlucky.send(message(0xff00))
    await unlucky.closed()
    other.send(message(1))
    expect(await idsFrom(other, 1)).toEqual([1])
    expect(server.stats.failures).toBe(1)
  })

  test('the answer function sees the client as 16 octets and a port', async () => {
    const seen: { address: string; port: number }[] = []
    const { connect } = await start({}, (query, length, reply, max, client) => {
      seen.push({ address: Buffer.from(client.address).toString('hex'), port: client.port })
      return echo(query, length, reply, max, client)
    })
    const client = await connect()
    client.send(message(1))
    await client.receive()
    expect(seen).toEqual([
      { address: '00000000000000000000ffff7f000001', port: client.socket.localPort },
    ])
  })

  test('a port in use is an error value that says what to do', async () => {
    const { port } = await start()
    const second = new TcpServer({ answer: echo, monotonicMs: () => performance.now() })
    const result = await second.listen('127.0.0.1', port)
    expect(result).toEqual({
      ok: false,
      error:
        `cannot listen on TCP 127.0.0.1 port ${port} (dns.listenAddr, dns.port): ` +
        'another program has it; stop that one, or choose another port with dns.port',
    })
  })

  test('an address that this machine lacks is an error value that names the setting', async () => {
    const server = new TcpServer({ answer: echo, monotonicMs: () => performance.now() })
    const result = await server.listen('192.0.2.1', 0)
    expect(result.ok ? '' : result.error).toContain('dns.listenAddr')
  })
})

describe('close', () => {
  test('lets pipelined answers go out first', async () => {
    const { server, connect } = await start({ messagesPerTurnMax: 1 })
    const client = await connect()
    client.send(...Array.from({ length: 20 }, (_, i) => message(i)))
    await waitUntil('the counters to move', () => server.stats.queries > 0)
    const closing = server.close()
    expect(server.isClosing).toBe(true)
    expect((await idsFrom(client, 20)).at(-1)).toBe(19)
    await client.closed()
    client.destroy()
    await closing
    expect(server.stats.open).toBe(0)
  })

  test.each([
    { who: 'has its answer and keeps the connection', asks: true },
    { who: 'has never asked', asks: false },
  ])('does not wait until a client closes its half that $who', async ({ asks }) => {
    const { server, port } = await start({ closeTimeoutMs: 600_000 })
    const client = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    onTestFinished(() => void client.destroy())
    await waitUntil('the connection', () => server.stats.open === 1)
    if (asks) {
      client.write(framed(message(1)))
      await once(client, 'data')
    }
    await server.close()
    expect(server.stats.open).toBe(0)
  })

  test('does not wait longer than its timeout for a client that lingers', async () => {
    const { server, connect } = await start({ closeTimeoutMs: 50 })
    const client = await connect()
    client.sendRaw(Buffer.from([0]))
    await waitUntil('the counters to move', () => server.stats.bytesReceived === 1)
    await server.close()
    expect(server.stats.open).toBe(0)
  })
})

/** @returns the counter once it has not moved for 100 ms */
async function settled(read: () => number): Promise<number> {
  let last = read()
  let sinceMs = performance.now()
  return waitUntil('the counter to settle', () => {
    if (read() !== last) sinceMs = performance.now()
    last = read()
    return performance.now() - sinceMs > 100 ? last : false
  })
}

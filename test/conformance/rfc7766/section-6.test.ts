// RFC 7766: queries over TCP.
import { describe, expect, onTestFinished, test } from 'vitest'
import { framed, TcpClient } from '#test/support/dns/client.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import { linesOf } from '#test/support/dns/record.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

async function connect(): Promise<TcpClient> {
  const client = await TcpClient.connect(subject.endpoint())
  onTestFinished(() => client.destroy())
  return client
}

const www = (id: number): Buffer => query('www.example.org. A', { id })
const addresses = ['www.example.org. 60 IN A 192.0.2.1']

describe('section 6.2.1: connection reuse and pipelining', () => {
  test('a connection serves query after query', async () => {
    const client = await connect()
    for (const id of [1, 2, 3]) {
      client.send(www(id))
      const reply = decodeMessage(await client.receive())
      expect([reply.id, linesOf(reply.answer)]).toEqual([id, addresses])
    }
  })

  test('a hundred queries in one segment are all answered', async () => {
    const client = await connect()
    const ids = Array.from({ length: 100 }, (_, i) => i + 1)
    client.send(...ids.map(www))
    const seen: number[] = []
    for (const _ of ids) seen.push(decodeMessage(await client.receive()).id)
    expect(seen.sort((one, other) => one - other)).toEqual(ids)
  })
})

describe('section 8: the length and the message may come in any pieces', () => {
  const stream = framed(www(7))
  for (const cut of [1, 2, 3, 13, stream.length - 1]) {
    test(`cut after ${cut} octets`, async () => {
      const client = await connect()
      client.sendRaw(stream.subarray(0, cut))
      await new Promise((resolve) => setImmediate(resolve))
      client.sendRaw(stream.subarray(cut))
      expect(decodeMessage(await client.receive()).id).toBe(7)
    })
  }
})

describe('section 6.2.4: a client that closes its half', () => {
  test('still gets its answers', async () => {
    const client = await connect()
    client.send(www(1), www(2))
    client.socket.end()
    expect(decodeMessage(await client.receive()).id).toBe(1)
    expect(decodeMessage(await client.receive()).id).toBe(2)
    await client.closed()
  })
})

describe('a message that is no query', () => {
  const noQueries: readonly [title: string, stream: Buffer][] = [
    ['a message of no octets', Buffer.from([0, 0])],
    ['a message of eleven octets', framed(Buffer.alloc(11))],
    ['a reply', framed(query('www.example.org. A', { qr: true }))],
  ]
  for (const [title, bytes] of noQueries) {
    test(`${title} ends the connection, after the answers before it`, async () => {
      const client = await connect()
      client.sendRaw(Buffer.concat([framed(www(9)), bytes]))
      expect(decodeMessage(await client.receive()).id).toBe(9)
      await client.closed()
      await expect(client.receive()).rejects.toThrow('closed the connection')
    })
  }

  test('a malformed question is FORMERR, and the connection goes on', async () => {
    const client = await connect()
    client.send(www(5).subarray(0, 20), www(6))
    expect(decodeMessage(await client.receive())).toMatchObject({ id: 5, rcode: 1 })
    expect(decodeMessage(await client.receive())).toMatchObject({ id: 6, rcode: 0 })
  })

  test('a client that leaves inside a message leaves the others served', async () => {
    const [leaver, other] = [await connect(), await connect()]
    leaver.sendRaw(Buffer.from([0, 50, 1, 2, 3]))
    leaver.destroy()
    other.send(www(3))
    expect(decodeMessage(await other.receive()).id).toBe(3)
  })
})

test('no reply over TCP is truncated', async () => {
  for (const question of ['big.example. NS', 'huge.example. NS']) {
    const reply = await subject.ask(question, { tcp: true })
    expect(reply).toMatchObject({ tc: false, rcode: 0 })
    expect(reply.answer.length).toBeGreaterThan(0)
  }
})

test('many connections are served side by side', async () => {
  const clients = await Promise.all(Array.from({ length: 50 }, connect))
  for (const [id, client] of clients.entries()) client.send(www(id))
  for (const [id, client] of clients.entries()) {
    expect(decodeMessage(await client.receive()).id).toBe(id)
  }
})

import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { assert } from '#lib/assert.ts'
import { loadLibc } from '#system/sockets/libc.ts'
import type { Libc } from '#system/sockets/libc.ts'
import { UdpBatch } from '#system/sockets/udp-batch.ts'
import { openUdpEndpoint } from '#system/sockets/udp-socket.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const libc = loadLibc()
assert(typeof libc !== 'string', 'the tests run on Linux')
const EPERM = 1
const EIO = 5
const EINVAL = 22
const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

interface Client {
  readonly socket: Socket
  /** Received replies, as text. */
  readonly replies: string[]
}

async function openClient(address: string): Promise<Client> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  const replies: string[] = []
  socket.on('message', (reply) => replies.push(reply.toString()))
  socket.bind(0, address)
  await once(socket, 'listening')
  closers.push(() => socket.close())
  return { socket, replies }
}

function openBatch(calls: Libc, listenAddr: string): { batch: UdpBatch; port: number } {
  const endpoint = openUdpEndpoint(calls, listenAddr, 0, 1, 1232)
  assert(endpoint.ok, 'a free port is there')
  const [fd] = endpoint.value.fds
  closers.push(() => calls.close(fd!))
  return {
    batch: new UdpBatch(calls, { fd: fd!, endpoint: endpoint.value }),
    port: endpoint.value.port,
  }
}

async function send(
  { socket }: Client,
  port: number,
  address: string,
  text: string,
): Promise<void> {
  await new Promise((resolve) => socket.send(text, port, address, resolve))
}

/** Answers every query with itself and `!`; '' stays without a reply. @returns what failed */
function echo(batch: UdpBatch, queries: number): number {
  let failed = 0
  for (let seen = 0; seen < queries;) {
    const count = batch.receive()
    seen += count
    for (let slot = 0; slot < count; slot++) {
      const end = batch.slotOffset(slot) + batch.queryLength(slot)
      batch.buffer[end] = '!'.charCodeAt(0)
      const isSilent = batch.buffer[batch.slotOffset(slot)] === '-'.charCodeAt(0)
      batch.setReply(slot, isSilent ? 0 : batch.queryLength(slot) + 1)
    }
    failed += batch.send(count)
  }
  return failed
}

const servers = [
  { listenAddr: '127.0.0.1', asked: '127.0.0.1' },
  { listenAddr: '0.0.0.0', asked: '127.0.0.2' },
  { listenAddr: '::1', asked: '::1' },
  { listenAddr: '::', asked: '::1' },
]

/** Which client asks what, in the order of the batch. */
const orders: readonly (readonly [
  name: string,
  queries: readonly (readonly [number, string])[],
])[] = [
  ['one client, equal lengths', [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [0, `query ${i}`])],
  [
    'one client, lengths that rise and fall',
    ['aaaa', 'bb', 'ccc', 'dddddd', 'eeeeee', 'f', 'gg', 'gg'].map((text) => [0, text]),
  ],
  [
    'two clients that take turns, then runs',
    [0, 1, 0, 1, 1, 1, 0, 0, 0].map((client, i) => [client, `query ${i}`]),
  ],
  [
    'queries without a reply between',
    ['one', '-', 'two', 'six', '-', '-', 'ten'].map((text) => [0, text]),
  ],
  ['long replies', ['x', 'y', 'z'].map((letter) => [0, letter.repeat(1231)])],
  [
    'clients that take turns, lengths that rise and fall, some without a reply',
    Array.from({ length: 24 }, (_, i) => [
      i % 2,
      i % 7 === 3 ? '-' : 'q'.repeat(1 + ((i * 5) % 4)),
    ]),
  ],
  ['more than a batch', Array.from({ length: 60 }, (_, i) => [i % 3 === 0 ? 1 : 0, `q${i % 10}`])],
]

describe.each(servers)('a batch on $listenAddr', ({ listenAddr, asked }) => {
  test.each(orders)('gives each client its own replies, each a packet: %s', async (_, queries) => {
    const { batch, port } = openBatch(libc, listenAddr)
    const clients = [await openClient(asked), await openClient(asked)]
    for (const [client, text] of queries) await send(clients[client]!, port, asked, text)
    expect(echo(batch, queries.length)).toBe(0)
    for (const [i, { replies }] of clients.entries()) {
      const wanted = queries.filter(([who, text]) => who === i && text !== '-')
      await waitUntil('the replies', () => replies.length >= wanted.length)
      expect(replies).toEqual(wanted.map(([, text]) => `${text}!`))
    }
  })
})

test('replies to one client leave as one message', async () => {
  const sent: number[] = []
  const counting: Libc = {
    ...libc,
    sendmmsg: (fd, messages, count, flags) => {
      sent.push(count)
      return libc.sendmmsg(fd, messages, count, flags)
    },
  }
  const { batch, port } = openBatch(counting, '127.0.0.1')
  const [a, b] = [await openClient('127.0.0.1'), await openClient('127.0.0.1')]
  for (const client of [a, b, a, a, b]) await send(client, port, '127.0.0.1', 'same')
  echo(batch, 5)
  expect(sent).toEqual([2])
})

test('where joined replies cannot leave, each is sent alone, none is joined again', async () => {
  const sent: number[] = []
  let refuses = true
  const refusing: Libc = {
    ...libc,
    errno: () => EIO,
    sendmmsg: (fd, messages, count, flags) => {
      sent.push(count)
      if (!refuses) return libc.sendmmsg(fd, messages, count, flags)
      refuses = false
      return -1
    },
  }
  const { batch, port } = openBatch(refusing, '127.0.0.1')
  const client = await openClient('127.0.0.1')
  for (const text of ['one', 'two', 'six']) await send(client, port, '127.0.0.1', text)
  expect(echo(batch, 3)).toBe(0)
  for (const text of ['one', 'two', 'six']) await send(client, port, '127.0.0.1', text)
  expect(echo(batch, 3)).toBe(0)
  await waitUntil('the replies', () => client.replies.length === 6)
  expect(client.replies).toEqual(['one!', 'two!', 'six!', 'one!', 'two!', 'six!'])
  // The joined one that failed, three alone; then three messages in a call.
  expect(sent).toEqual([1, 1, 1, 1, 3])
})

test('replies that a firewall refuses are counted, and replies are joined again', async () => {
  const sent: number[] = []
  const refusing: Libc = {
    ...libc,
    errno: () => EPERM,
    sendmmsg: (fd, messages, count, flags) => {
      sent.push(count)
      return sent.length === 1 ? -1 : libc.sendmmsg(fd, messages, count, flags)
    },
  }
  const { batch, port } = openBatch(refusing, '127.0.0.1')
  const client = await openClient('127.0.0.1')
  for (const text of ['one', 'two', 'six']) await send(client, port, '127.0.0.1', text)
  expect(echo(batch, 3)).toBe(3)
  for (const text of ['ten', 'two', 'six']) await send(client, port, '127.0.0.1', text)
  expect(echo(batch, 3)).toBe(0)
  await waitUntil('the replies', () => client.replies.length === 3)
  expect(sent).toEqual([1, 1])
})

test('a client whom nothing reaches does not end joining for others', async () => {
  const sent: number[] = []
  const refusing: Libc = {
    ...libc,
    errno: () => EINVAL,
    sendmmsg: (fd, messages, count, flags) => {
      sent.push(count)
      return sent.length <= 4 ? -1 : libc.sendmmsg(fd, messages, count, flags)
    },
  }
  const { batch, port } = openBatch(refusing, '127.0.0.1')
  const client = await openClient('127.0.0.1')
  for (const failed of [3, 0]) {
    for (const text of ['one', 'two', 'six']) await send(client, port, '127.0.0.1', text)
    expect(echo(batch, 3)).toBe(failed)
  }
  // The joined one and three alone, none of which left; then one that is joined.
  expect(sent).toEqual([1, 1, 1, 1, 1])
})

test('a reply that cannot leave is counted, and those after it leave', async () => {
  let calls = 0
  const failing: Libc = {
    ...libc,
    errno: () => EIO,
    sendmmsg: (fd, messages, count, flags) =>
      ++calls === 1 ? -1 : libc.sendmmsg(fd, messages, count, flags),
  }
  const { batch, port } = openBatch(failing, '127.0.0.1')
  const [a, b] = [await openClient('127.0.0.1'), await openClient('127.0.0.1')]
  await send(a, port, '127.0.0.1', 'lost')
  await send(b, port, '127.0.0.1', 'kept')
  expect(echo(batch, 2)).toBe(1)
  await waitUntil('the replies', () => b.replies.length === 1)
  expect(a.replies).toEqual([])
})

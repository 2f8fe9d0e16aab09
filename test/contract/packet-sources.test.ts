// Contract of packet sources. A new one gets its row here and all of these tests.
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { assert } from '#lib/assert.ts'
import { openDescriptors } from '#system/sockets/descriptors.ts'
import { loadLibc } from '#system/sockets/libc.ts'
import type { Libc } from '#system/sockets/libc.ts'
import type { PacketSource, PacketSourceRow, SourceWanted } from '#system/sockets/packet-source.ts'
import { packetSources } from '#system/sockets/packet-sources.ts'
import { MemoryMachine } from '#test/support/memory-source.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const loaded = loadLibc()
assert(typeof loaded !== 'string', 'the tests run on Linux')
const libc: Libc = loaded
const replyBytesMax = 1_232

interface Client {
  readonly send: (port: number, text: string) => Promise<void>
  readonly replies: () => readonly string[]
}

/** A machine with one kind of source, and clients of it. */
interface World<Place> {
  readonly row: PacketSourceRow<Place>
  readonly openClient: () => Promise<Client>
  /** As another process gets it. */
  readonly copy: (descriptor: number) => number
}

async function openUdpClient(): Promise<Client> {
  const socket: Socket = createSocket('udp4')
  const replies: string[] = []
  socket.on('message', (reply) => replies.push(reply.toString()))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  const send = (port: number, text: string): Promise<void> =>
    new Promise((resolve) => socket.send(text, port, '127.0.0.1', () => resolve()))
  return { send, replies: () => replies }
}

function copyOf(descriptor: number): number {
  const copied = openDescriptors()!.copy(descriptor)
  assert(copied.ok, 'a descriptor can be copied')
  return copied.value
}

function memoryWorld(): World<unknown> {
  const machine = new MemoryMachine()
  let clients = 0
  const openClient = async (): Promise<Client> => {
    const number = ++clients
    return {
      send: async (port, text) => machine.deliver(port, number, Buffer.from(text)),
      replies: () => machine.sentTo(number),
    }
  }
  return { row: machine.row, openClient, copy: (descriptor) => machine.copy(descriptor) }
}

const worlds: readonly (readonly [name: string, open: () => World<unknown>])[] = [
  ...Object.entries(packetSources).map(
    ([name, row]) => [name, () => ({ row, openClient: openUdpClient, copy: copyOf })] as const,
  ),
  ['in memory', memoryWorld],
]

/** Answers what comes until `count` packets were answered: `reply` gives the text. */
function serve(
  source: PacketSource,
  count: number,
  reply = (text: string) => `${text}!`,
): string[] {
  const seen: string[] = []
  while (seen.length < count) {
    const slots = source.receive()
    for (let slot = 0; slot < slots; slot++) {
      const at = source.slotOffset(slot)
      const text = Buffer.from(source.buffer.subarray(at, at + source.queryLength(slot))).toString()
      seen.push(text)
      source.setReply(slot, Buffer.from(source.buffer.buffer).write(reply(text), at))
    }
    expect(source.send(slots)).toBe(0)
  }
  return seen
}

describe.each(worlds)('packets: %s', (_name, openWorld) => {
  function open(parts: Partial<SourceWanted> = {}, world = openWorld()) {
    const fresh = { listenAddr: '127.0.0.1', port: 0, threads: 1, boundAtOnce: 1, handed: [] }
    const opened = world.row.open(libc, { ...fresh, replyBytesMax, ...parts })
    assert(opened.ok, 'a port is free')
    const places = opened.value
    onTestFinished(() => places.close())
    const attach = (thread: number) => world.row.attach(libc, places.placeOf(thread))
    return { world, places, attach }
  }

  test('a query lies in a slot with its client, and the reply goes there', async () => {
    const { world, places, attach } = open()
    const source = attach(0)
    const clients = [await world.openClient(), await world.openClient()]
    for (const [i, client] of clients.entries()) await client.send(places.port, `query ${i}`)
    expect(serve(source, 2)).toEqual(['query 0', 'query 1'])
    const client = source.clients.subarray(source.clientOffset(0)).subarray(0, source.clientBytes)
    expect([client.length, client[0], source.clientPort(0) > 0]).toEqual([4, 127, true])
    for (const [i, { replies }] of clients.entries()) {
      await waitUntil('the reply', () => replies().length > 0)
      expect(replies()).toEqual([`query ${i}!`])
    }
  })

  test('a slot has room for the longest reply, and none of length 0 is sent', async () => {
    const { world, places, attach } = open()
    const client = await world.openClient()
    const source = attach(0)
    expect(source.slotBytes).toBeGreaterThanOrEqual(replyBytesMax)
    for (const text of ['silent', 'long']) await client.send(places.port, text)
    const long = 'x'.repeat(replyBytesMax)
    serve(source, 2, (text) => (text === 'silent' ? '' : long))
    await waitUntil('the reply', () => client.replies().length > 0)
    expect(client.replies()).toEqual([long])
  })

  test('a wait without a packet ends with none', () => {
    expect(open().attach(0).receive()).toBe(0)
  })

  test('a reply can be sent later, when its slot has another query', async () => {
    const { world, places, attach } = open()
    const [client, other] = [await world.openClient(), await world.openClient()]
    const source = attach(0)
    await client.send(places.port, 'later')
    while (source.receive() === 0);
    const envelope = source.envelope(0)
    source.setReply(0, 0)
    source.send(1)
    await other.send(places.port, 'next')
    serve(source, 1)
    const sender = world.row.sender(libc)
    expect(sender.send(places.placeOf(0), envelope, Buffer.from('at last'))).toBe(true)
    await waitUntil('both', () => client.replies().length + other.replies().length === 2)
    expect([client.replies(), other.replies()]).toEqual([['at last'], ['next!']])
  })

  test('a thread has its place before it gets packets, and a successor gets the same', async () => {
    const { world, places, attach } = open({ threads: 2 })
    expect([...places.bound]).toEqual([0])
    expect(structuredClone(places.placeOf(1))).toEqual(structuredClone(places.placeOf(1)))
    const source = attach(1)
    places.bind(1)
    places.bind(1)
    expect([...places.bound]).toEqual([0, 1])
    expect(places.descriptors()).toHaveLength(2)
    // Sooner or later one of many clients is the second thread's.
    for (let came = 0; came === 0; came = source.receive()) {
      for (let i = 0; i < 8; i++) await (await world.openClient()).send(places.port, 'x')
    }
  })

  test('a port is taken once, and free after its places are closed', () => {
    const { world, places } = open()
    const again = { listenAddr: '127.0.0.1', threads: 1, boundAtOnce: 1, handed: [], replyBytesMax }
    const wanted = { ...again, port: places.port }
    expect(world.row.open(libc, wanted).ok).toBe(false)
    places.close()
    places.close()
    expect(places.bound.size).toBe(0)
    const { places: next } = open({ port: wanted.port }, world)
    expect(next.port).toBe(wanted.port)
  })

  test('another process goes on with what is handed to it, also for fewer threads', async () => {
    const { world, places } = open({ threads: 2, boundAtOnce: 2 })
    const handed = places.descriptors().map(world.copy)
    const { places: taken, attach } = open({ handed }, world)
    expect([taken.port, taken.bound.size]).toEqual([places.port, 1])
    const source = attach(0)
    places.close()
    const client = await world.openClient()
    await client.send(taken.port, 'who is there')
    expect(serve(source, 1)).toEqual(['who is there'])
    await waitUntil('the reply', () => client.replies().length > 0)
  })
})

// Hostile octets at the answer path, at the UDP socket and at the TCP socket: nothing gives way.
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { cookieCells } from '#test/support/dns/cookies.ts'
import { createAnswerer } from '#test/support/dns/answerer.ts'
import { ask, TcpClient } from '#test/support/dns/client.ts'
import type { Endpoint } from '#test/support/dns/client.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { query } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { listedQueries } from '#test/support/dns/query-list.ts'
import { laneCount } from '#test/support/lane.ts'
import { countFrom, testSeed } from '#test/support/random.ts'
import { complaintAbout, dnsMessageCorpus, mustBeDropped } from '../fuzz/targets/dns-message.ts'
import { mutated } from '../fuzz/targets/mutator.ts'

/** Messages per transport. A night's run: GSLB_FUZZ_COUNT=1000000, with a GSLB_SEED of its own. */
const count = countFrom('GSLB_FUZZ_COUNT', laneCount(20_000))
const seed = testSeed
/** One millisecond per message on a slow, shared machine, and time to start. */
const timeout = 60_000 + count * 4

const corpus = dnsMessageCorpus()
const seeds = [...corpus.map(({ bytes }) => bytes), ...listedQueries.map(({ bytes }) => bytes)]
const settings = { nsid: 'fuzz', versionBind: 'fuzz', cookies: cookieCells() }

interface Fault {
  readonly complaint: string
  readonly hex: string
  readonly seed: number
}

describe('the answer path', () => {
  const answerer = createAnswerer(conformanceConfig, settings)

  for (const { name, bytes } of corpus) {
    test(`takes ${name.replace('.hex', '').replaceAll('-', ' ')}`, () => {
      expect(complaintAbout(bytes, answerer.ask(bytes, 0), false)).toBeUndefined()
      expect(complaintAbout(bytes, answerer.ask(bytes, 1), true)).toBeUndefined()
    })
  }

  test('takes every prefix of every message of the corpus', () => {
    for (const { bytes } of corpus) {
      for (let length = 0; length < bytes.length; length++) {
        const prefix = bytes.subarray(0, length)
        expect(complaintAbout(prefix, answerer.ask(prefix, 0), false)).toBeUndefined()
      }
    }
  })

  test(
    'takes mutated messages, the same way over their own octets or beside them',
    { timeout },
    () => {
      const random = new Random(seed)
      const faults: Fault[] = []
      for (let i = 0; i < count && faults.length < 5; i++) {
        const bytes = mutated(seeds, random)
        const isTcp = i % 2 === 1
        const reply = answerer.ask(bytes, isTcp ? 1 : 0)
        const beside = answerer.askBeside(bytes, isTcp ? 1 : 0)
        const isSame = reply === undefined ? beside === undefined : beside?.equals(reply) === true
        const complaint = isSame ? complaintAbout(bytes, reply, isTcp) : 'another reply in place'
        if (complaint !== undefined) faults.push({ complaint, hex: bytes.toString('hex'), seed })
      }
      expect(faults).toEqual([])
    },
  )

  test('takes bounded time for each message', () => {
    const random = new Random(seed + 1)
    const hostile = [...seeds, ...Array.from({ length: 2_000 }, () => mutated(seeds, random))]
    const slow = hostile.filter((bytes) => fastestOfMs(5, () => answerer.ask(bytes, 0)) > 1)
    expect(slow.map((bytes) => bytes.toString('hex'))).toEqual([])
  })
})

/** The best of several runs: what the message costs, not what the machine did meanwhile. */
function fastestOfMs(runs: number, run: () => void): number {
  let bestMs = Infinity
  for (let i = 0; i < runs; i++) {
    const startedAtMs = performance.now()
    run()
    bestMs = Math.min(bestMs, performance.now() - startedAtMs)
  }
  return bestMs
}

describe.each([
  ['in batches', 1],
  ['through node:dgram', 0],
])('UDP %s', (_title, threads) => {
  let node: RunningNode
  let socket: Socket

  beforeAll(async () => {
    node = await startNode(conformanceConfig, { ...settings, threads })
    socket = createSocket('udp4')
    socket.connect(node.port, node.host)
    await once(socket, 'connect')
  })
  afterAll(async () => {
    socket.close()
    await node.stop()
  })

  test('each message of a batch is answered or dropped as it must be', { timeout }, async () => {
    const random = new Random(seed + 2)
    const faults: Fault[] = []
    for (let sent = 0; sent < count && faults.length < 5; sent += batchSize) {
      const batch = Array.from({ length: batchSize }, (_, id) =>
        numbered(mutated(seeds, random), id),
      )
      const replies = await exchangeBatch(socket, batch)
      for (const [id, bytes] of batch.entries()) {
        const complaint = complaintAbout(bytes, replies.get(id), false)
        if (complaint !== undefined) faults.push({ complaint, hex: bytes.toString('hex'), seed })
      }
    }
    expect(faults).toEqual([])
    expect((await ask(node, 'www.example.org. A')).answer.length).toBe(1)
  })
})

const batchSize = 50
const lastIds = [0xffff, 0xfffe, 0xfffd]

/** The id tells which reply belongs to which message. */
function numbered(bytes: Buffer, id: number): Buffer {
  if (bytes.length >= 2) bytes.writeUInt16BE(id)
  return bytes
}

/**
 * Sends the batch, and behind it a query for each way to an answer: their replies say that all
 * others have come. A transfer is refused over UDP, by who answers signed messages, in turn, and a
 * NOTIFY message is answered by the main thread.
 */
async function exchangeBatch(
  socket: Socket,
  batch: readonly Buffer[],
): Promise<Map<number, Buffer>> {
  const replies = new Map<number, Buffer>()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const patience = setTimeout(() => reject(new Error('the last queries were not answered')), 20_000)
  const take = (reply: Buffer): void => {
    const id = reply.readUInt16BE(0)
    replies.set(id, reply)
    if (lastIds.every((last) => replies.has(last))) resolve()
  }
  socket.on('message', take)
  for (const bytes of batch) socket.send(bytes)
  socket.send(query('www.example.org. A', { id: lastIds[0]! }))
  socket.send(query('example.org. AXFR', { id: lastIds[1]! }))
  socket.send(query('example.org. SOA', { id: lastIds[2]!, opcode: 4 }))
  try {
    await promise
  } finally {
    clearTimeout(patience)
    socket.off('message', take)
  }
  return replies
}

describe('TCP', () => {
  let node: RunningNode

  beforeAll(async () => {
    node = await startNode(conformanceConfig, settings)
  })
  afterAll(() => node.stop())

  test('each message of a pipelined batch is answered as it must be', { timeout }, async () => {
    const random = new Random(seed + 3)
    const faults: Fault[] = []
    for (let sent = 0; sent < count && faults.length < 5; sent += batchSize) {
      const batch = Array.from({ length: batchSize }, (_, id) =>
        numbered(mutated(seeds, random), id),
      )
      const answerable = batch.filter((bytes) => !mustBeDropped(bytes))
      const replies = await pipelined(node, answerable)
      for (const [i, bytes] of answerable.entries()) {
        const complaint = complaintAbout(bytes, replies[i], true)
        if (complaint !== undefined) faults.push({ complaint, hex: bytes.toString('hex'), seed })
      }
    }
    expect(faults).toEqual([])
  })

  test('a stream of any octets ends, and the next client is served', { timeout }, async () => {
    const random = new Random(seed + 4)
    for (let i = 0; i < Math.min(count / 50, 2_000); i++) {
      const client = await TcpClient.connect(node)
      client.sendRaw(mutated(seeds, random))
      client.socket.end()
      await client.closed()
      client.destroy()
    }
    expect((await ask(node, 'www.example.org. A', { tcp: true })).answer.length).toBe(1)
  })
})

async function pipelined(server: Endpoint, messages: readonly Buffer[]): Promise<Buffer[]> {
  const client = await TcpClient.connect(server)
  try {
    client.send(...messages)
    const replies: Buffer[] = []
    for (const _ of messages) replies.push(await client.receive())
    return replies
  } finally {
    client.destroy()
  }
}

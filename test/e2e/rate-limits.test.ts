// Response rate limiting on real sockets: dig, a flood with the addresses of others, and TCP.
import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createRateMemory } from '#answer/rate-limit/rate-memory.ts'
import { createMachineClock } from '#lib/clock.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { query } from '#test/support/dns/message.ts'
import { addressOf, generation, publish } from '#test/support/node-under-test.ts'
import { rates, rateSettings } from '#test/support/rate-limits.ts'
import { startedNode } from '#test/support/started-node.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const key = newSigningKey()
const run = promisify(execFile)

async function limitedNode(threads: number, perSecond: number, slip: number) {
  const settings = rateSettings({ rates: rates(perSecond, { slip }), buckets: 131_072 })
  const rateLimit = createRateMemory(settings, threads + 1, 1, createMachineClock()())
  const { node, port } = await startedNode({ trusted: key, threads, rateLimit })
  await node.activate(publish(key, generation(1), { seq: 1 }))
  const dig = async (...args: readonly string[]): Promise<string> => {
    const all = ['@127.0.0.1', '-p', String(port), '+tries=1', '+time=2', ...args]
    return (await run('dig', all).catch((error: { stdout: string }) => error)).stdout
  }
  const limited = (): number =>
    node
      .counters()
      .flatMap(({ rateLimited }) => rateLimited)
      .reduce((sum, { count }) => sum + count, 0)
  return { node, port, dig, limited }
}

test.each([0, 1, 2])('with %i threads, dig sees TC, and its answer over TCP', async (threads) => {
  const { dig, limited } = await limitedNode(threads, 1, 1)
  expect(await dig('s0.test.', 'A', '+short')).toBe(`${addressOf(1)}\n`)
  const slipped = await dig('s0.test.', 'A', '+ignore')
  expect(slipped).toMatch(/flags: qr aa tc/)
  expect(slipped).toContain('ANSWER: 0, AUTHORITY: 0, ADDITIONAL: 1')
  expect(await dig('s0.test.', 'A', '+short')).toBe(`${addressOf(1)}\n`)
  for (let i = 0; i < 5; i++) {
    expect(await dig('s0.test.', 'A', '+tcp', '+short')).toBe(`${addressOf(1)}\n`)
  }
  expect(limited()).toBeGreaterThanOrEqual(1)
})

interface Flood {
  readonly sentBytes: number
  readonly gotBytes: number
  readonly replies: number
}

const endId = 7_777
/** It asks for another name, so that the limit of the flood is not its own. */
const end = query('s0.test. A', { id: endId, opt: {} })

/**
 * As fast as the loop goes, from one address, to a victim that only counts. One thread has all that
 * comes from one socket, and answers in turn: with the answer to the end, all others have come.
 */
async function flood(port: number, from: string, message: Buffer, count: number): Promise<Flood> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 8 << 20 })
  let [gotBytes, replies] = [0, 0]
  let isOver = false
  socket.on('message', (reply) => {
    if (reply.readUInt16BE(0) === endId) return void (isOver = true)
    gotBytes += reply.length
    replies++
  })
  socket.bind(0, from)
  await once(socket, 'listening')
  for (let i = 0; i < count; i++) {
    socket.send(message, port, '127.0.0.1')
    if (i % 32 === 31) await setImmediate()
  }
  await waitUntil('the end of the flood', () => {
    // It may be dropped, as any packet of a flood.
    if (!isOver) socket.send(end, port, '127.0.0.1')
    return isOver
  })
  socket.close()
  return { sentBytes: count * message.length, gotBytes, replies }
}

test('under a flood, clients of other networks lose nothing, and victims get little', async () => {
  const perSecond = 20
  const { port, limited } = await limitedNode(2, perSecond, 2)
  const message = query('none.test. A', { opt: {} })
  const victims = ['127.1.1.1', '127.2.2.2']
  const startedMs = performance.now()
  let isOver = false
  const floods = Promise.all(victims.map((victim) => flood(port, victim, message, 20_000))).finally(
    () => (isOver = true),
  )
  const client = createSocket('udp4')
  client.bind(0, '127.99.1.1')
  await once(client, 'listening')
  let [asked, whole] = [0, 0]
  while (!isOver) {
    const question = query('none.test. A', { opt: {} })
    client.send(question, port, '127.0.0.1')
    asked++
    const [reply] = (await once(client, 'message', {
      signal: AbortSignal.timeout(5_000),
    })) as [Buffer]
    // Not truncated: its network keeps to the rate.
    if ((reply[2]! & 0x02) === 0 && reply.readUInt16BE(8) === 1) whole++
    await new Promise((resolve) => setTimeout(resolve, 1_000 / perSecond))
  }
  client.close()
  const seconds = (performance.now() - startedMs) / 1_000
  const results = await floods
  expect([asked, whole]).toEqual([asked, asked])
  expect(limited()).toBeGreaterThan(30_000)
  for (const { sentBytes, gotBytes, replies } of results) {
    // Whole answers up to the rate, and one in two as short as its question.
    const wholeBytes = (perSecond + seconds * perSecond) * 1_232
    expect(gotBytes).toBeLessThan(sentBytes * 0.55 + wholeBytes)
    expect(replies).toBeLessThan(11_500)
  }
})

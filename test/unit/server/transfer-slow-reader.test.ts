// A client that reads a transfer slowly, or not at all: the others are answered.
import { createConnection } from 'node:net'
import type { NetConnectOpts, Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, framed, TcpClient } from '#test/support/dns/client.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { waitUntil } from '#test/support/wait-until.ts'

/** Far more than the kernel takes for a client that does not read. */
const records = 50_000
const zone = {
  name: 'big.example.',
  text: `@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\n${Array.from(
    { length: records },
    (_, i) => `n${i} 60 TXT ${'x'.repeat(250)}\n`,
  ).join('')}`,
}

let node: RunningNode
beforeAll(async () => {
  const transfers = { enabled: true, requireTsig: false, allow: [] }
  node = await startNode(zone, { transfers, tcpLimits: { writeTimeoutMs: 1_000 } })
})
afterAll(() => node.stop())

/** Takes an octet each time that it is called, and no more from the kernel than it must. */
async function slowReader(): Promise<{ socket: Socket; readOne: () => void }> {
  const options: NetConnectOpts & { readonly highWaterMark: number } = { ...node, highWaterMark: 1 }
  const socket = createConnection(options)
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.pause()
  socket.write(framed(query('big.example. AXFR')))
  return { socket, readOne: () => void socket.read(1) }
}

test('an octet at a time: others have their answers, and then it is cut off', async () => {
  const { socket, readOne } = await slowReader()
  const isRunning = () => (node.node.exchangeStats?.transfers.running ?? 0) > 0
  await waitUntil('the transfer', isRunning)
  while (isRunning()) {
    const { rcode, answer } = await ask(node, 'n7.big.example. TXT', { tcp: true })
    expect([rcode, answer.length]).toEqual([0, 1])
    readOne()
  }
  expect(node.node.tcpStats!.writeTimeouts).toBeGreaterThan(0)
  socket.destroy()
})

test('a fast reader gets all of it while others have their answers', async () => {
  const client = await TcpClient.connect(node)
  const other = await TcpClient.connect(node)
  client.send(query('big.example. AXFR'))
  let shown = 0
  let answersBetween = 0
  const asking = (async () => {
    while (shown < records + 3) {
      other.send(query('n7.big.example. TXT'))
      expect(decodeMessage(await other.receive()).answer).toHaveLength(1)
      if (shown < records + 3) answersBetween++
    }
  })()
  while (shown < records + 3) shown += (await client.receive()).readUInt16BE(6)
  await asking
  expect(shown).toBe(records + 3)
  expect(answersBetween).toBeGreaterThan(1)
  client.destroy()
  other.destroy()
})

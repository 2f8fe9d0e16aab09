// The same answers over IPv6, and from whichever of our addresses a client asks.
import { describe, expect, onTestFinished, test } from 'vitest'
import { ask } from '#test/support/dns/client.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { linesOf } from '#test/support/dns/record.ts'

async function start(listenAddr: string, threads: number): Promise<RunningNode> {
  const node = await startNode(conformanceConfig, { listenAddr, threads })
  onTestFinished(() => node.stop())
  return node
}

const expected = ['www.example.org. 60 IN A 192.0.2.1']

describe.each([
  ['in batches', 1],
  ['through node:dgram', 0],
])('UDP %s', (_title, threads) => {
  for (const listenAddr of ['127.0.0.1', '::1']) {
    test(`a node that listens on ${listenAddr} answers there over UDP and TCP`, async () => {
      const node = await start(listenAddr, threads)
      for (const tcp of [false, true]) {
        expect(linesOf((await ask(node, 'www.example.org. A', { tcp })).answer)).toEqual(expected)
      }
    })
  }
})

// A client's socket is connected: a reply from any other address would never reach it.
const manyAddresses: readonly [listenAddr: string, hosts: readonly string[]][] = [
  ['0.0.0.0', ['127.0.0.1', '127.0.0.2', '127.8.8.8']],
  ['::', ['::1', '127.0.0.1', '127.0.0.3']],
]
for (const [listenAddr, hosts] of manyAddresses) {
  test(`a node that listens on ${listenAddr} replies from the address that was asked`, async () => {
    const { port } = await start(listenAddr, 1)
    for (const host of hosts) {
      for (const tcp of [false, true]) {
        const reply = await ask({ host, port }, 'www.example.org. A', { tcp })
        expect([host, linesOf(reply.answer)]).toEqual([host, expected])
      }
    }
  })
}

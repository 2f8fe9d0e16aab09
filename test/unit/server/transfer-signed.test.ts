// A zone that is signed is not transferred: a secondary would serve it without signatures.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exchangeUdp, TcpClient } from '#test/support/dns/client.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { a } from '#test/support/dns/record.ts'
import { signedModel, signedName } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const model = signedModel(13, ['192.0.2.10'])
const unsigned = { ...model, zones: model.zones.map(({ algorithm: _, ...zone }) => zone) }
const loopback = { octets: Uint8Array.of(127, 0, 0, 0), prefixBits: 8 }
const transfers = {
  ...{ enabled: true, requireTsig: false, allow: [loopback] },
  catalog: wireName('catalog.example.net.'),
}

let node: RunningNode
beforeAll(async () => {
  node = await startNode(model, { threads: 1, transfers })
})
afterAll(() => node.stop())

async function rcodeOf(question: string, isOverTcp: boolean): Promise<number> {
  const authority = question.endsWith('IXFR') ? [a(`${signedName} 0 IN SOA . . 0 0 0 0 0`)] : []
  const message = query(question, { authority })
  if (!isOverTcp) return decodeMessage(await exchangeUdp(node, message)).rcode
  const client = await TcpClient.connect(node)
  try {
    client.send(message)
    return decodeMessage(await client.receive()).rcode
  } finally {
    client.destroy()
  }
}

test('AXFR and IXFR are refused while it is signed, and given before and after', async () => {
  for (const [served, isGiven] of [
    [model, false],
    [unsigned, true],
    [model, false],
  ] as const) {
    await node.serve(served)
    expect(await rcodeOf(`${signedName} AXFR`, true)).toBe(isGiven ? 0 : 5)
    expect(await rcodeOf(`${signedName} IXFR`, true)).toBe(isGiven ? 0 : 5)
    expect(await rcodeOf(`${signedName} IXFR`, false)).toBe(isGiven ? 0 : 5)
    expect(await rcodeOf('catalog.example.net. AXFR', true)).toBe(0)
  }
})

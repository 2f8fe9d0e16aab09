// Knot DNS takes all zones of a node from its catalog zone. RFC 9432.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseName } from '#dns/name.ts'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import { ask } from '#test/support/dns/client.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { startSecondary } from '#test/support/dns/secondary.ts'
import type { Secondary } from '#test/support/dns/secondary.ts'
import { freePort } from '#test/support/free-port.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const wire = (name: string): Uint8Array => {
  const parsed = parseName(name)
  return parsed.ok ? parsed.value : expect.unreachable(parsed.error)
}
const catalog = 'catalog.example.net.'
const name = 'key.example.'
const secret = Buffer.alloc(32, 7)
const key = {
  ...{ id: name, name: wire(name), algorithm: tsigAlgorithm('hmac-sha256.')!, secret },
  ...{ scope: null, mayTransfer: true },
}
const [first, ...others] = conformanceConfig.zones.map((zone) => zone.name)

let node: RunningNode
let knot: Secondary
beforeAll(async () => {
  const transfers = { enabled: true, requireTsig: true, allow: [], catalog: wire(catalog) }
  node = await startNode(conformanceConfig, { transfers })
  node.node.setKeys([key])
  knot = startSecondary('knot', {
    ...{ zone: first!, catalog, port: await freePort(), primaryPort: node.port },
    key: { name, secret: secret.toString('base64') },
  })
})
afterAll(async () => {
  await knot?.stop()
  await node?.stop()
})

test('serves the zones that its configuration does not name', async () => {
  expect(others.length).toBeGreaterThan(0)
  for (const zone of others) {
    const isServed = async (): Promise<boolean> => {
      const { aa, answer } = await ask(knot, `${zone} SOA`)
      return aa && answer[0]?.type === 6
    }
    await waitUntil(`${zone} on Knot: ${knot.output()}`, isServed, { timeoutMs: 30_000 })
  }
}, 60_000)

// Knot DNS and BIND take all zones of a node from its catalog zone. RFC 9432.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Rcode } from '#dns/rcode.ts'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import { ask } from '#test/support/dns/client.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { notifierOf, startSecondary } from '#test/support/dns/secondary.ts'
import type { Secondary } from '#test/support/dns/secondary.ts'
import { freePort } from '#test/support/free-port.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const catalog = 'catalog.example.net.'
const name = 'key.example.'
const secret = Buffer.alloc(32, 7)
const key = {
  ...{ id: name, name: wireName(name), algorithm: tsigAlgorithm('hmac-sha256.')!, secret },
  ...{ scope: null, mayTransfer: true },
}
const [first, ...others] = conformanceConfig.zones.map((zone) => zone.name)

let node: RunningNode
beforeAll(async () => {
  const transfers = { enabled: true, requireTsig: true, allow: [], catalog: wireName(catalog) }
  node = await startNode(conformanceConfig, { transfers })
  node.node.setKeys([key])
})
afterAll(async () => {
  await node?.stop()
})

describe.each(['knot', 'bind'] as const)('%s', (program) => {
  let secondary: Secondary
  const soaOf = (zone: string) => ask(secondary, `${zone} SOA`)
  beforeAll(async () => {
    secondary = startSecondary(program, {
      ...{ zone: first!, catalog, port: await freePort(), primaryPort: node.port },
      key: { name, secret: secret.toString('base64') },
    })
  })
  afterAll(() => secondary?.stop())

  test('serves the zones that its configuration does not name', async () => {
    expect(others.length).toBeGreaterThan(0)
    for (const zone of others) {
      const isServed = async (): Promise<boolean> => {
        const { aa, answer } = await soaOf(zone)
        return aa && answer[0]?.type === 6
      }
      const what = `${zone} on ${program}: ${secondary.output()}`
      await waitUntil(what, isServed, { timeoutMs: 30_000 })
    }
  }, 60_000)

  test('drops a zone that is gone, once it is told of the catalog', async () => {
    const gone = 'short.example.'
    const isKept = ({ name }: { readonly name: string }): boolean => !name.endsWith(gone)
    await node.serve({
      zones: conformanceConfig.zones.filter(isKept),
      services: conformanceConfig.services.filter(({ domain }) => isKept({ name: domain })),
    })
    const notifier = notifierOf(secondary.port, [catalog], key)
    try {
      notifier.changed()
      const isGone = async (): Promise<boolean> => (await soaOf(gone)).rcode === Rcode.Refused
      const what = `${gone} to go from ${program}: ${secondary.output()}`
      await waitUntil(what, isGone, { timeoutMs: 30_000 })
      expect((await soaOf('big.example.')).aa).toBe(true)
    } finally {
      notifier.stop()
      await node.serve(conformanceConfig)
    }
  }, 60_000)
})

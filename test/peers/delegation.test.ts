// Delegated domains whose parent is a real server, found from a root of our own and by unbound.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createNodeDomains } from '#node/compose/domains.ts'
import type { NodeDomains } from '#node/compose/domains.ts'
import { systemClock } from '#lib/clock.ts'
import type { DomainResult, Domains } from '#state/ports/domains.ts'
import { keyOf, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { referenceServers } from '#test/support/dns/reference.ts'
import type { RunningServer } from '#test/support/dns/reference.ts'
import { freePort } from '#test/support/free-port.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { startUnbound } from '#test/support/unbound.ts'

const [rootHost, parentHost, childHost] = ['127.0.0.2', '127.0.0.3', '127.0.0.4']
const soa = '@ SOA ns.invalid. hostmaster.invalid. 1 3600 600 86400 30\n'
const wideNames = Array.from({ length: 13 }, (_, i) => `n${i}${'x'.repeat(60)}.wide.test.`)
const rootZone = {
  name: '.',
  text: `$TTL 60\n${soa}@ NS a.root.\na.root. A ${rootHost}
test. NS ns.nic.test.\nns.nic.test. A ${parentHost}\n`,
}
const cut = (name: string, glue = `ns1.${name} A ${childHost}\n`): string =>
  `${name} NS ns1.${name}\n${glue}`
const parentZone = {
  name: 'test.',
  text: `$TTL 60\n${soa}@ NS ns.nic\nns.nic A ${parentHost}
${['good', 'lame', 'signed', 'other'].map((name) => cut(`${name}.test.`)).join('')}
signed DS 1 13 2 ${'ab'.repeat(32)}
${cut('noglue.test.', '')}
${wideNames.map((name) => `wide NS ${name}\n${name} A ${childHost}\n`).join('')}`,
}
const childZone = {
  name: 'good.test.',
  text: `$TTL 60\n${soa}@ NS ns1\nns1 A ${childHost}\n`,
}
const declared = (name: string, servers: readonly string[]): string =>
  `    - name: ${name}\n      nameservers:\n${servers
    .map((server) => `        - { name: ${server}, addresses: ["${childHost}"] }\n`)
    .join('')}`
const own = ['good', 'lame', 'signed', 'noglue']
  .map((name) => declared(`${name}.test.`, [`ns1.${name}.test.`]))
  .join('')
const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  defaults: { nameservers: [{ name: ns.elsewhere.test. }] }
  zones:
${own}${declared('wide.test.', wideNames)}`

describe.each(referenceServers)('a parent on $name', (program) => {
  const state = useState(persistentAdapters[0]![1])
  const running: RunningServer[] = []
  let world: ConfigWorld
  let port: number
  let resolverPort: number
  let stopUnbound: () => Promise<void>

  beforeAll(async () => {
    port = await freePort()
    for (const [host, zone] of [
      [rootHost, rootZone],
      [parentHost, parentZone],
      [childHost, childZone],
    ] as const) {
      running.push(await program.start(zone, { host, port }))
    }
    resolverPort = await freePort()
    const stub = { zone: 'test.', server: `${parentHost}@${port}` }
    stopUnbound = await startUnbound(resolverPort, [], [stub])
    const store: Domains = {
      claim: (...parts) => state().domains.claim(...parts),
      put: (...parts) => state().domains.put(...parts),
      results: (...parts) => state().domains.results(...parts),
      forget: (...parts) => state().domains.forget(...parts),
    }
    const node = (resolvers: readonly string[]): NodeDomains =>
      createNodeDomains({
        settings: {
          dns: { resolvers, allowLocalTargets: true },
          domains: { verifyIntervalMs: 600_000, allowPrivate: false },
        },
        store,
        config: {
          isReady: () => world.control.config.isReady(),
          snapshot: () => world.control.config.snapshot(),
        },
        dsOf: () => undefined,
        ...{ rolled: () => [], onParents: () => undefined, parentsBefore: new Map() },
        clock: systemClock,
        log: silentLog,
        hints: [{ name: 'a.root.', addresses: [rootHost] }],
        port,
      })
    nodes = [node([]), node([`127.0.0.1:${resolverPort}`])]
    world = await startConfigWorld({ settings, ports: { domains: nodes[0]! } })
  })
  let nodes: readonly NodeDomains[]
  afterAll(async () => {
    await world?.close()
    await stopUnbound?.()
    for (const server of running.splice(0)) await server.stop()
  })

  const rows: readonly [domain: string, verified: boolean, codes: string[]][] = [
    ['good.test', true, ['', '']],
    ['lame.test', false, ['', 'lame']],
    ['noglue.test', false, ['missing-glue', 'no-address']],
    ['signed.test', false, ['ds-unexpected', 'lame']],
    ['other.test', false, ['ns-mismatch', 'lame']],
    ['absent.test', false, ['no-delegation']],
    // It does not fit into one packet.
    ['wide.test', false, ['', ...wideNames.map(() => 'lame')]],
  ]

  test.each(rows)('%s is found as it is, from the root and by a resolver', async (...row) => {
    const [domain, verified, codes] = row
    const made = await world.call(keyOf('acme'), 'POST', '/domains', { domain })
    const { id } = made.body
    const shown = await world.call(keyOf('acme'), 'POST', `/domains/${id}/verify`)
    const body = shown.body as unknown as { verified: boolean; checks: { code: string }[] }
    expect([shown.status, body.verified, body.checks.map(({ code }) => code)]).toEqual([
      200,
      verified,
      codes,
    ])
    const byResolver = await nodes[1]!.verify({ uid: id, domain: `${domain}.`, tenant: 'acme' })
    const found = byResolver.ok ? byResolver.value : undefined
    expect([found?.nsOk, found?.checks.map(({ code }) => code)]).toEqual([verified, codes])
    await world.call(keyOf('acme'), 'DELETE', `/domains/${id}`)
  })

  test('two nodes check all domains in their time, each once', async () => {
    const uids: string[] = []
    for (const [domain] of rows) {
      uids.push((await world.call(keyOf('acme'), 'POST', '/domains', { domain })).body.id)
    }
    const results = async () => {
      const found = await state().domains.results(uids)
      return found.ok ? [...found.value.values()] : []
    }
    await Promise.all(nodes.map((node) => node.look()))
    const first = await results()
    expect(first.map(({ nsOk }: DomainResult) => nsOk).filter(Boolean).length).toBe(1)
    expect(first.length).toBe(rows.length)
    await Promise.all(nodes.map((node) => node.look()))
    expect(await results()).toEqual(first)
  })
})

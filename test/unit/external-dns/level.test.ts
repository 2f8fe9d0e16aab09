// What a cluster may ask for of a name: checks by annotation, set identifiers of types that have
// members.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { keyOf, rootKey } from '#test/support/config-world.ts'
import type { ModelEndpoint } from '#test/support/external-dns.ts'
import { startExternalDnsWorld } from '#test/support/external-dns-world.ts'
import type { ExternalDnsWorld } from '#test/support/external-dns-world.ts'

let site: ExternalDnsWorld
beforeAll(async () => {
  const policy = { allowScriptChecks: true, webhookAllowedHosts: [], clientCertificates: [] }
  site = await startExternalDnsWorld({}, policy)
})
afterAll(() => site.close())
beforeEach(async () => {
  for (const path of ['/services', '/pools', '/records']) {
    for (const { id } of (await site.world.call(keyOf('acme'), 'GET', path)).list) {
      await site.world.call(keyOf('acme'), 'DELETE', `${path}/${id}`)
    }
  }
})

const member = (setIdentifier: string, target: string, check?: object): ModelEndpoint => ({
  ...{ dnsName: 'www.acme.example', recordType: 'A', targets: [target], setIdentifier },
  ...(check === undefined
    ? {}
    : { providerSpecific: [{ name: 'gslbd/health-check', value: JSON.stringify(check) }] }),
})
const pool = (): string | undefined => site.files()['pools/www.acme.example.yaml']
const cluster = () => site.model({ owner: 'cluster-a' })

describe('where nodes run checks by script', () => {
  const wrong: readonly [check: object, said: string][] = [
    [{ type: 'script', scriptPath: '/bin/true' }, 'not for a script'],
    [{ type: 'script', scriptContent: '#!/bin/sh\nid' }, 'not for a script'],
    [{ type: ['script'], scriptPath: '/bin/true' }, 'type: must be'],
    [{ type: 'Script', scriptPath: '/bin/true' }, 'type: must be'],
    [{ type: '', scriptPath: '/bin/true' }, 'type: must be'],
    [{ type: 'htp' }, 'type: must be'],
    [{ type: 'http', path: '/healthz' }, 'path: there is no such field'],
  ]
  test.each(wrong)('%j is not for an annotation, also of a second cluster', async (check, said) => {
    const head = site.head()
    const first = await cluster().sync([member('a', '192.0.2.1', check)])
    expect([first.status, first.error, site.head()]).toEqual([
      400,
      expect.stringContaining(said),
      head,
    ])
    await cluster().sync([member('a', '192.0.2.1')])
    const two = [member('a', '192.0.2.1'), member('b', '192.0.2.2', check)]
    const second = await cluster().sync(two)
    expect([second.status, second.error]).toEqual([400, expect.stringContaining(said)])
    expect(pool()).not.toContain('/bin/true')
  })

  const right = [{ type: 'tcp' }, { type: 'http', httpPath: '/ok' }, { type: 'icmp' }, { port: 9 }]
  test.each(right)('%j is', async (check) => {
    expect(await cluster().sync([member('a', '192.0.2.1', check)])).toMatchObject({ status: 204 })
  })

  test('the script of an administrator stays, and is shown as it is', async () => {
    await cluster().sync([member('a', '192.0.2.1')])
    const { list } = await site.world.call(keyOf('acme'), 'GET', '/pools')
    const id = String(list[0]?.id)
    const check = { type: 'script', scriptPath: '/bin/true' }
    const set = await site.world.call(rootKey, 'PUT', `/pools/${id}/healthcheck`, check)
    expect(set.status).toBe(200)
    expect(await cluster().sync([member('a', '192.0.2.1')])).toMatchObject({ sent: 0 })
    expect(await cluster().sync([member('a', '192.0.2.2', check)])).toMatchObject({ status: 204 })
    expect(pool()).toContain('/bin/true')
    const other = { type: 'script', scriptPath: '/bin/false' }
    expect(await cluster().sync([member('a', '192.0.2.2', other)])).toMatchObject({ status: 400 })
    expect(pool()).toContain('/bin/true')
  })
})

const sets: readonly [recordType: string, target: string][] = [
  ['MX', '10 mail.example.net'],
  ['SRV', '0 50 5060 sip.example.net.'],
  ['NS', 'ns1.example.net'],
  ['PTR', 'www.example.net'],
  ['NAPTR', '100 10 "U" "E2U+sip" "!^.*$!sip:a@example.net!" .'],
  ['TXT', '"v=spf1 -all"'],
]
test.each(sets)('a set identifier of %s records is refused whole', async (recordType, target) => {
  const head = site.head()
  const one = { dnsName: 'x.acme.example', recordType, targets: [target], setIdentifier: 'eu' }
  const { status, error } = await cluster().sync([one])
  expect([status, error]).toEqual([
    400,
    expect.stringContaining(`${recordType} records cannot have the set identifier "eu"`),
  ])
  expect(site.head()).toBe(head)
})

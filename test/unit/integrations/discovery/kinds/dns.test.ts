// dns: addresses and SRV records of a real name server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDnsLookup } from '#inputs/resolve/lookup.ts'
import { kindNamed } from '#integrations/discovery/kinds.ts'
import type { Ask } from '#integrations/targets/kind.ts'
import { asked, askOf, targetLines } from '#test/support/discovery-kinds.ts'
import { freePort } from '#test/support/free-port.ts'
import { startUnbound } from '#test/support/unbound.ts'

const records = [
  'example.net. 5 IN SOA ns.example.net. root.example.net. 1 5 5 5 5',
  'web.example.net. 5 IN A 192.0.2.2',
  'web.example.net. 5 IN A 192.0.2.1',
  'web.example.net. 5 IN AAAA 2001:db8::1',
  'spare.example.net. 5 IN A 192.0.2.9',
  '_http._tcp.example.net. 5 IN SRV 10 5 8080 web.example.net.',
  '_http._tcp.example.net. 5 IN SRV 20 0 8081 spare.example.net.',
  '_http._tcp.example.net. 5 IN SRV 20 1 8082 gone.example.net.',
]

let ask: Ask
let stop = (): Promise<void> => Promise.resolve()
beforeAll(async () => {
  const port = await freePort()
  stop = await startUnbound(port, records)
  const resolvers = [`127.0.0.1:${port}`]
  ask = askOf('dns', {}, { resolvers, lookup: createDnsLookup(resolvers) })
})
afterAll(() => stop())

const lines = async (name: string) => {
  const found = targetLines(await ask(asked(name)), 'priority', 'weight', 'target')
  return found.toSorted()
}

test('a name has the addresses of both families', async () => {
  expect(targetLines(await ask(asked('web.example.net'))).toSorted()).toEqual([
    '192.0.2.1:0',
    '192.0.2.2:0',
    '2001:db8::1:0',
  ])
})

test('SRV records give ports, weights and priorities of targets with addresses', async () => {
  const web = 'priority=10 weight=5 target=web.example.net'
  expect(await lines('_http._tcp.example.net')).toEqual([
    `192.0.2.1:8080 ${web}`,
    `192.0.2.2:8080 ${web}`,
    '192.0.2.9:8081 priority=20 weight=1 target=spare.example.net',
    `2001:db8::1:8080 ${web}`,
  ])
})

test('a name that is not there has nothing, and missing SRV records are a fault', async () => {
  expect(await lines('none.example.net')).toEqual([])
  expect(await lines('_none._tcp.example.net')).toEqual([
    'the SRV records of _none._tcp.example.net. cannot be looked up (ENOTFOUND)',
  ])
})

describe('a service that no source of its kind can have', () => {
  const rows = [
    ['dns', 'a/b', 'a/b is no name of DNS'],
    ['dns', 'a..b', 'a..b is no name of DNS'],
    ['consul', 'a/b', 'a/b is no name of a service of Consul'],
    ['kubernetes', 'shop', 'shop is no NAMESPACE/NAME of a Service'],
    ['kubernetes', 'a/b/c', 'a/b/c is no NAMESPACE/NAME of a Service'],
  ] as const
  test.each(rows)('%s: %s', (kind, service, why) => {
    expect(kindNamed(kind)!.faultOfService!(service)).toBe(why)
  })
})

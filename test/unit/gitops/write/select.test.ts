// What a tenant is told of a policy test of the operator that its write would break.
import assert from 'node:assert/strict'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { Operation } from '#config/operation.ts'
import {
  keyOf,
  recordsSettings,
  recordsZone,
  rootKey,
  startConfigWorld,
  writeRequest,
} from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

const [acme, zenith] = [keyOf('acme'), keyOf('zenith')]
const name = `www.${recordsZone}`
let site: ConfigWorld
let id: string
beforeAll(async () => {
  site = await startConfigWorld({ settings: recordsSettings })
  const members = [1, 2].map((n) => ({ ipAddress: `192.0.2.${n}`, port: 80 }))
  const pools = ['acme', 'zenith'].map((tenant): Operation => ({
    ...{ verb: 'create', kind: 'Pool', tenant, name: `pool-${tenant}`, spec: { members } },
  }))
  const spec = { domain: name, pool: 'pool-acme', ttl: 60 }
  const down = ['acme/pool-acme/192.0.2.1', 'zenith/pool-zenith/192.0.2.1']
  const cases: JsonObject[] = [
    { name: 'secret of the operator', expect: { ttl: 60 } },
    { given: { country: 'DE', down }, expect: { members: ['192.0.2.2'] } },
    { given: { name: `free.${recordsZone}` }, expect: { rcode: 'NXDOMAIN' } },
  ]
  const made = await site.control.write(
    writeRequest([
      ...pools,
      { verb: 'create', kind: 'Service', tenant: 'acme', name: 'www', spec },
      { verb: 'create', kind: 'Test', tenant: '', name: 'www', spec: { given: { name }, cases } },
    ]),
  )
  assert(made.ok, JSON.stringify(made))
  id = site.control.config.snapshot().list('Service')[0]!.uid
})
afterAll(() => site.close())

const advice = 'If the change is meant, ask a system administrator to change the test first.'
const asked = (situation: string): string => `A policy test asks for ${name} (${situation}): `
const down = 'A, country DE, down acme/pool-acme/192.0.2.1'
type Sent = readonly [method: string, path: () => string, body?: JsonObject]
const ofService = (): string => `/services/${id}`

const rows: readonly [what: string, by: string, sent: Sent, status: number, said: string][] = [
  [
    'a changed TTL',
    acme,
    ['PATCH', ofService, { ttl: 61 }],
    400,
    `${asked('A')}expected TTL 60, got TTL 61. ${advice}`,
  ],
  [
    'a service that goes',
    acme,
    ['DELETE', ofService],
    409,
    `A policy test expects members of ${name}, and no service would answer for it. ${advice}`,
  ],
  [
    'a pool that goes',
    acme,
    ['PATCH', ofService, { poolId: null }],
    400,
    `${asked(down)}expected 192.0.2.2, got an answer without members. ${advice}`,
  ],
  [
    'a new name',
    zenith,
    ['POST', () => '/services', { name: 'free', domain: `free.${recordsZone}` }],
    400,
    `A policy test asks for free.${recordsZone} (A): expected NXDOMAIN, got NOERROR. ${advice}`,
  ],
  [
    'a changed TTL, for the operator',
    rootKey,
    ['PATCH', ofService, { ttl: 61 }],
    400,
    'Test "www" (tests/www.yaml, line 10) would no longer be right: the test "www: secret of the ' +
      'operator" fails: expected TTL 60, got TTL 61',
  ],
]

test.each(rows)('%s: the test says what it expects', async (_what, by, sent, status, said) => {
  const [method, path, body] = sent
  const { status: got, body: answer } = await site.call(by, method, path(), body)
  expect([got, answer.error]).toEqual([status, expect.stringContaining(said)])
  if (by !== rootKey) expect(answer.error).not.toMatch(/secret|tests\/|zenith/)
})

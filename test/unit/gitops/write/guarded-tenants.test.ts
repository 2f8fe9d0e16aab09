// A refusal by a guardrail speaks to a tenant of its own names alone, whatever others did before.
import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusalOf } from '#api/config/writes.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { GuardrailName, Operation, WriteFailure } from '#config/operation.ts'
import {
  keyOf,
  recordsSettings,
  recordsZone,
  rootKey,
  startConfigWorld,
  writeRequest,
} from '#test/support/config-world.ts'
import type { Answered, ConfigWorld } from '#test/support/config-world.ts'

let site: ConfigWorld
beforeAll(async () => {
  site = await startConfigWorld({ settings: recordsSettings })
})
afterAll(() => site.close())

async function write(operations: readonly Operation[], override?: string): Promise<void> {
  const done = await site.control.write(writeRequest(operations, override))
  assert(done.ok, JSON.stringify(done))
}

const uidOf = (kind: number, tenant: string, n: number): string =>
  `${kind}0000000-0000-4000-8000-0000000${tenant === 'acme' ? 1 : 2}00${String(n).padStart(2, '0')}`
const memberOf = (tenant: string, n: number): string => uidOf(1, tenant, n)
const serviceOf = (tenant: string, n: number): string => uidOf(2, tenant, n)

const guardrails = (values: JsonObject): Operation => ({
  ...{ verb: 'update', kind: 'Settings', target: { tenant: '', name: 'settings' } },
  patch: { guardrails: values },
})

/** Each tenant: a pool of so many members, and so many services that ask it. */
async function begin(values: JsonObject, members: number, services: number): Promise<void> {
  const { list } = site.control.config.snapshot()
  const old = [...list('Service'), ...list('Pool')].map(({ kind, uid }): Operation => {
    return { verb: 'delete', kind, target: { uid } }
  })
  if (old.length > 0) await write(old, 'the end')
  const operations: Operation[] = [guardrails(values)]
  for (const tenant of ['acme', 'zenith']) {
    const spec = {
      members: Array.from({ length: members }, (_, n) => ({
        ...{ name: `m${n}`, uid: memberOf(tenant, n), ipAddress: `192.0.2.${n + 1}`, port: 80 },
      })),
    }
    operations.push({ verb: 'create', kind: 'Pool', tenant, name: `pool-${tenant}`, spec })
    for (let n = 0; n < services; n++) {
      operations.push({
        ...{
          verb: 'create',
          kind: 'Service',
          tenant,
          name: `${tenant}${n}`,
          uid: serviceOf(tenant, n),
        },
        spec: { domain: `${tenant}${n}.${recordsZone}`, pool: `pool-${tenant}`, ttl: 60 },
      })
    }
  }
  await write(operations, 'the beginning')
}

const disable = (tenant: string, n: number): Operation => ({
  ...{ verb: 'update', kind: 'Member', target: { uid: memberOf(tenant, n) } },
  patch: { enabled: false },
})
const patch = (tenant: string, n: number, change: JsonObject): Operation => ({
  ...{ verb: 'update', kind: 'Service', target: { uid: serviceOf(tenant, n) } },
  patch: change,
})

const asAcme = async (method: string, path: string, body?: JsonObject): Promise<Answered> =>
  await site.call(keyOf('acme'), method, path, body)

test("removals from another tenant's pool do not block a change", async () => {
  await begin({ removedMembers: 100 }, 4, 1)
  await write([0, 1, 2].map((n) => disable('zenith', n)))
  await write([guardrails({ removedMembers: 50 })])
  const off = { enabled: false }
  const first = await asAcme('PATCH', `/members/${memberOf('acme', 0)}`, off)
  expect([first.status, first.text]).toEqual([200, expect.not.stringContaining('zenith')])
  expect((await asAcme('PATCH', `/members/${memberOf('acme', 1)}`, off)).status).toBe(200)
  const third = await asAcme('PATCH', `/members/${memberOf('acme', 2)}`, off)
  expect(third).toMatchObject({ status: 409 })
  expect(third.body.error).toMatch(/^This would take away 3 of the 4 members of pool "pool-acme"/)
})

interface Together {
  readonly guardrail: GuardrailName
  readonly values: JsonObject
  readonly services?: number
  /** Change of the other tenant before. */
  readonly others: readonly Operation[]
  readonly own: readonly [method: string, path: string, body?: JsonObject]
}

const together: readonly Together[] = [
  {
    guardrail: 'lostRedundancy',
    values: { lostRedundancy: 0 },
    others: [disable('zenith', 0)],
    own: ['PATCH', `/members/${memberOf('acme', 0)}`, { enabled: false }],
  },
  {
    guardrail: 'ttlJump',
    values: {},
    others: [patch('zenith', 0, { ttl: 86_400 })],
    own: ['PATCH', `/services/${serviceOf('acme', 0)}`, { ttl: 86_400 }],
  },
  {
    guardrail: 'changedNames',
    values: { changedNames: 10 },
    services: 20,
    others: Array.from({ length: 20 }, (_, n) => patch('zenith', n, { algorithm: 'failover' })),
    own: ['PATCH', `/services/${serviceOf('acme', 0)}`, { algorithm: 'failover' }],
  },
  {
    guardrail: 'removedNames',
    values: { removedNames: 40 },
    services: 2,
    others: [{ verb: 'delete', kind: 'Service', target: { uid: serviceOf('zenith', 0) } }],
    own: ['DELETE', `/services/${serviceOf('acme', 0)}`],
  },
]

test('names that a tenant made within ten minutes are none when it takes them back', async () => {
  await begin({ tenants: { acme: { removedNames: 30 } } }, 2, 6)
  const made = [6, 7, 8, 9]
  const spec = (n: number): JsonObject => ({ domain: `acme${n}.${recordsZone}`, pool: 'pool-acme' })
  await write(
    made.map((n) => ({
      ...{ verb: 'create', kind: 'Service', tenant: 'acme', name: `acme${n}` },
      ...{ uid: serviceOf('acme', n), spec: spec(n) },
    })),
  )
  await write(
    made.map((n) => ({ verb: 'delete', kind: 'Service', target: { uid: serviceOf('acme', n) } })),
  )
})

test('that a new name is taken is said rather than a limit on removals', async () => {
  await begin({ removedNames: 40 }, 2, 2)
  await write([{ verb: 'delete', kind: 'Service', target: { uid: serviceOf('zenith', 1) } }])
  const [path, domain] = [`/services/${serviceOf('acme', 0)}`, `zenith0.${recordsZone}`]
  const answer = await asAcme('PATCH', path, { domain })
  expect(answer).toMatchObject({
    status: 409,
    body: { error: expect.stringMatching(/^domain: zenith0\..* is taken/) as string },
  })
})

test.each(together)('$guardrail counts what others did, and does not name it', async (one) => {
  await begin(one.values, 2, one.services ?? 1)
  await write(one.others)
  const [method, path, body] = one.own
  const refused = await asAcme(method, path, body)
  expect(refused.status).toBe(409)
  expect(refused.text).not.toContain('zenith')
  expect(refused.body.error).toMatch(
    new RegExp(`\\(guardrails.${one.guardrail}\\); recent changes of others count as well. Wait`),
  )
  const seen = await site.call(rootKey, method, path, body)
  expect([seen.status, seen.text]).toEqual([409, expect.stringContaining('zenith')])
})

describe('a refusal whose words are about one tenant', () => {
  const names: readonly GuardrailName[] = [
    ...(['removedNames', 'movedClients', 'removedMembers', 'lostRedundancy', 'ttlJump'] as const),
    ...(['changedNames', 'lostAnswers', 'replacedServers'] as const),
  ]
  test.each(names)('is told to that tenant alone: %s', (guardrail) => {
    const message = 'This would do much to www.zenith.example.'
    const failure: WriteFailure = {
      ...{ code: 'guarded', guardrail, message: `${message} Send the header.` },
      ...{ own: { tenant: 'zenith', message }, operation: -1, diagnostics: [] },
    }
    const told = (tenant: string, isSystemAdmin = false): string => {
      const caller = { tenant, isSystemAdmin } as Parameters<typeof refusalOf>[1]
      return JSON.stringify(refusalOf(failure, caller, 'request').body)
    }
    expect(told('zenith')).toContain(message)
    expect(told('acme')).not.toContain('zenith')
    expect(told('acme')).toContain(`guardrails.${guardrail}`)
    expect(told('default', true)).toContain('Send the header.')
  })
})

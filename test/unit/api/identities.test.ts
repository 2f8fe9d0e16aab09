import { expect, test } from 'vitest'
import { Identities, identityLimits } from '#access/auth/identities.ts'
import type { IdentityStores } from '#access/auth/identities.ts'
import { ok } from '#lib/result.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import type { Result } from '#lib/result.ts'
import { FakeTime } from '#test/support/fake-time.ts'

/** Two nodes on one database, in which the only user has a role. */
function twoNodes() {
  const time = new FakeTime(0)
  const stored = { role: 'operator' as string | null, permissions: ['pool:read'], asked: 0 }
  const stores = {
    users: {
      find: async (_scope: unknown, id: string) => {
        stored.asked += 1
        return ok(stored.role === null ? null : { id, tenantId: 'acme', role: stored.role })
      },
    },
    roles: { findByName: async () => ok({ permissions: stored.permissions }) },
    tenantKeys: {},
    clock: time.clock,
  } as unknown as IdentityStores
  return { time, stored, here: new Identities(stores), there: new Identities(stores) }
}

type Looked = Result<{ role: string; permissions: ReadonlySet<string> } | null, StoreFailure>
const seen = (looked: Looked): unknown =>
  looked.ok && looked.value && [looked.value.role, ...looked.value.permissions]

test('a change of an account counts at once here, within five seconds elsewhere', async () => {
  const { time, stored, here, there } = twoNodes()
  for (const node of [here, there]) await node.user('ann')
  stored.role = 'viewer'
  here.forget()
  expect(seen(await here.user('ann'))).toEqual(['viewer', 'pool:read'])
  expect(identityLimits.keptMs).toBe(5_000)
  time.pass(identityLimits.keptMs)
  expect(seen(await there.user('ann'))).toEqual(['viewer', 'pool:read'])
})

test('so does a change of a role, and the end of an account', async () => {
  const { time, stored, there } = twoNodes()
  await there.user('ann')
  stored.permissions = []
  time.pass(identityLimits.keptMs)
  expect(seen(await there.user('ann'))).toEqual(['operator'])
  stored.role = null
  time.pass(identityLimits.keptMs)
  expect(seen(await there.user('ann'))).toBeNull()
})

test('in between nobody asks the database', async () => {
  const { time, stored, there } = twoNodes()
  await there.user('ann')
  time.pass(identityLimits.keptMs - 1)
  await there.user('ann')
  expect(stored.asked).toBe(1)
})

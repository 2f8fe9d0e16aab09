// How many accounts and roles a tenant may have, when the last ones come at once.
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { roleLimits } from '#state/ports/roles.ts'
import { userLimits } from '#state/ports/users.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { newUser, valueOf } from '#test/support/store-values.ts'

const acme = { tenantId: 'acme' }
const four = ['a', 'b', 'c', 'd']

const outcomes = (results: readonly { ok: boolean; error?: { code: string } }[]): string[] =>
  results.map(({ ok, error }) => (ok ? 'made' : (error?.code ?? ''))).toSorted()

describe.each(persistentAdapters)('limits in %s', (_name, adapter) => {
  const state = useState(adapter)

  test('create one of four accounts for one place', async () => {
    const { users, sql: database } = state()
    await valueOf(users.create(newUser('u', acme)))
    const more = userLimits.perTenantMax - 2
    await valueOf(
      database.once((db) =>
        sql`insert into users (id, email, email_key, display_name, role, tenant_id, auth_provider,
              totp_active, created_at_ms, updated_at_ms)
            select id || n, email || n, email_key || n, display_name, role, tenant_id,
              auth_provider, totp_active, created_at_ms, updated_at_ms
            from users cross join generate_series(1, ${sql.lit(more)}) as n`.execute(db),
      ),
    )
    const made = await Promise.all(four.map((id) => users.create(newUser(id, acme))))
    expect(outcomes(made)).toEqual(['made', ...four.slice(1).map(() => 'too-many-users')])
  })

  test('create one of four roles for one place', async () => {
    const { roles, sql: database } = state()
    const role = (id: string) => ({ id, name: id, permissions: [], ...acme, createdAtMs: 1 })
    await valueOf(roles.create(role('r')))
    const more = roleLimits.perTenantMax - 2
    await valueOf(
      database.once((db) =>
        sql`insert into roles (id, tenant_id, name, permissions, given_permissions, is_system,
              created_at_ms, updated_at_ms)
            select id || n, tenant_id, name || n, permissions, given_permissions, is_system,
              created_at_ms, updated_at_ms
            from roles cross join generate_series(1, ${sql.lit(more)}) as n`.execute(db),
      ),
    )
    const made = await Promise.all(four.map((id) => roles.create(role(id))))
    expect(outcomes(made)).toEqual(['made', ...four.slice(1).map(() => 'too-many-roles')])
  })
})

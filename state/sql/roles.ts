// Roles in the table `roles`; a built-in one has an empty tenant.
import { expressionBuilder, sql } from 'kysely'
import type { Selectable } from 'kysely'
import { err, ok } from '#lib/result.ts'
import { roleLimits } from '../ports/roles.ts'
import type { NewRole, Role, Roles, SystemRole } from '../ports/roles.ts'
import type { StoreCall } from '../ports/store-result.ts'
import type { TenantScope } from '../ports/tenant-scope.ts'
import { inScope } from './database/scope.ts'
import type { Sql } from './database/sql.ts'
import type { Db, RolesTable, Tables } from './database/tables.ts'

export function createSqlRoles(database: Sql): Roles {
  return new SqlRoles(database)
}

const everyTenant = ''

class SqlRoles implements Roles {
  readonly #database: Sql

  constructor(database: Sql) {
    this.#database = database
  }

  readonly ensureSystem = (roles: readonly SystemRole[], nowMs: number): StoreCall<void> =>
    this.#database.repeatable((db) =>
      db.transaction().execute(async (transaction) => {
        for (const role of roles) await ensureSystemRole(transaction, role, nowMs)
      }),
    )

  readonly create = async (role: NewRole): StoreCall<Role, 'name-taken' | 'too-many-roles'> => {
    const created = await this.#database.once((db) =>
      db.transaction().execute(async (transaction) => {
        // The second of two simultaneous calls waits here and then counts the first one's role.
        await sql`lock table roles in share row exclusive mode`.execute(transaction)
        const named = await selectNamed(transaction, role.tenantId, role.name).executeTakeFirst()
        if (named !== undefined) return 'name-taken'
        const { count } = await transaction
          .selectFrom('roles')
          .select((from) => from.fn.countAll<number>().as('count'))
          .where('tenant_id', '=', role.tenantId)
          .executeTakeFirstOrThrow()
        if (Number(count) >= roleLimits.perTenantMax) return 'too-many-roles'
        return (await insert(transaction, role)) ?? 'name-taken'
      }),
    )
    if (!created.ok) return created
    if (created.value === 'name-taken') {
      return err({ code: 'name-taken', message: 'Another role has this name.' })
    }
    if (created.value === 'too-many-roles') {
      const message = `A tenant has at most ${roleLimits.perTenantMax} roles of its own.`
      return err({ code: 'too-many-roles', message })
    }
    return ok(created.value)
  }

  readonly list = (scope: TenantScope): StoreCall<readonly Role[]> =>
    this.#database.repeatable(async (db) => {
      const rows = await db
        .selectFrom('roles')
        .selectAll()
        .where(visible(scope))
        .orderBy('is_system', 'desc')
        .orderBy('name')
        .orderBy('id')
        .execute()
      return rows.map(roleOf)
    })

  readonly find = (scope: TenantScope, id: string): StoreCall<Role | null> =>
    this.#database.repeatable(async (db) => {
      const query = db.selectFrom('roles').selectAll().where('id', '=', id)
      const row = await query.where(visible(scope)).executeTakeFirst()
      return row === undefined ? null : roleOf(row)
    })

  readonly findByName = (tenantId: string, name: string): StoreCall<Role | null> =>
    this.#database.repeatable(async (db) => {
      const row = await selectNamed(db, tenantId, name).executeTakeFirst()
      return row === undefined ? null : roleOf(row)
    })

  readonly setPermissions = (
    scope: TenantScope,
    id: string,
    permissions: readonly string[],
    nowMs: number,
  ): StoreCall<Role | null> =>
    this.#database.repeatable(async (db) => {
      const row = await db
        .updateTable('roles')
        .set({ permissions: json(permissions), updated_at_ms: nowMs })
        .where('id', '=', id)
        .where(inScope<'roles'>(scope))
        .returningAll()
        .executeTakeFirst()
      return row === undefined ? null : roleOf(row)
    })

  readonly delete = async (
    scope: TenantScope,
    id: string,
  ): StoreCall<boolean, 'system-role' | 'role-in-use'> => {
    const outcome = await this.#database.once((db) =>
      db.transaction().execute(async (transaction) => {
        const role = await transaction
          .selectFrom('roles')
          .select(['name', 'tenant_id', 'is_system'])
          .where('id', '=', id)
          .where(visible(scope))
          .executeTakeFirst()
        if (role === undefined) return false
        if (role.is_system) return 'system-role'
        const user = await transaction
          .selectFrom('users')
          .select('id')
          .where('tenant_id', '=', role.tenant_id)
          .where('role', '=', role.name)
          .limit(1)
          .executeTakeFirst()
        if (user !== undefined) return 'role-in-use'
        await transaction.deleteFrom('roles').where('id', '=', id).execute()
        return true
      }),
    )
    if (!outcome.ok) return outcome
    if (outcome.value === 'system-role') {
      return err({ code: 'system-role', message: 'A built-in role cannot be deleted.' })
    }
    if (outcome.value === 'role-in-use') {
      const message = 'A user has this role. Give the user another one first.'
      return err({ code: 'role-in-use', message })
    }
    return ok(outcome.value)
  }
}

async function ensureSystemRole(db: Db, role: SystemRole, nowMs: number): Promise<void> {
  const given = json(role.permissions)
  await db
    .insertInto('roles')
    .values({
      id: role.name,
      tenant_id: everyTenant,
      name: role.name,
      permissions: given,
      given_permissions: given,
      is_system: true,
      created_at_ms: nowMs,
      updated_at_ms: nowMs,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const stored = await db
    .selectFrom('roles')
    .selectAll()
    .where('id', '=', role.name)
    .forUpdate()
    .executeTakeFirstOrThrow()
  const before = atoms(stored.given_permissions)
  const added = role.permissions.filter((atom) => !before.includes(atom))
  if (added.length === 0) return
  await db
    .updateTable('roles')
    .set({
      permissions: json([...atoms(stored.permissions), ...added]),
      given_permissions: json([...before, ...added]),
      updated_at_ms: nowMs,
    })
    .where('id', '=', role.name)
    .execute()
}

async function insert(db: Db, role: NewRole): Promise<Role | undefined> {
  const row = await db
    .insertInto('roles')
    .values({
      id: role.id,
      tenant_id: role.tenantId,
      name: role.name,
      permissions: json(role.permissions),
      given_permissions: '[]',
      is_system: false,
      created_at_ms: role.createdAtMs,
      updated_at_ms: role.createdAtMs,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst()
  return row === undefined ? undefined : roleOf(row)
}

function selectNamed(db: Db, tenantId: string, name: string) {
  const query = db.selectFrom('roles').selectAll().where('name', '=', name)
  return query.where('tenant_id', 'in', [tenantId, everyTenant]).orderBy('is_system', 'desc')
}

/** Built-in roles are visible to all tenants. */
function visible(scope: TenantScope) {
  const from = expressionBuilder<Tables, 'roles'>()
  return from.or([inScope<'roles'>(scope)(from), from('is_system', '=', true)])
}

const json = (permissions: readonly string[]): string =>
  JSON.stringify([...new Set(permissions)].sort())

const atoms = (text: string): readonly string[] => JSON.parse(text) as readonly string[]

function roleOf(row: Selectable<RolesTable>): Role {
  return {
    id: row.id,
    name: row.name,
    permissions: atoms(row.permissions),
    isSystem: row.is_system,
    tenantId: row.tenant_id === everyTenant ? null : row.tenant_id,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  }
}

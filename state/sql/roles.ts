// Roles in the table `roles`; a built-in one has an empty tenant.
import { expressionBuilder } from 'kysely'
import type { Selectable } from 'kysely'
import { roleLimits } from '../ports/roles.ts'
import type { NewRole, Role, Roles, SystemRole } from '../ports/roles.ts'
import { withFaults } from '../ports/store-result.ts'
import type { TenantScope } from '../ports/tenant-scope.ts'
import { asOnlyWriter, countRows, inScope } from './database/scope.ts'
import type { Sql } from './database/sql.ts'
import type { Db, RolesTable, Tables } from './database/tables.ts'

const everyTenant = ''

export function createSqlRoles(database: Sql): Roles {
  return { ...readingCalls(database), ...writingCalls(database) }
}

function readingCalls(database: Sql): Pick<Roles, 'list' | 'find' | 'findByName'> {
  return {
    list: (scope) =>
      database.repeatable(async (db) => {
        const query = db.selectFrom('roles').selectAll().where(visible(scope))
        const ordered = query.orderBy('is_system', 'desc').orderBy('name').orderBy('id')
        return (await ordered.execute()).map(roleOf)
      }),
    find: (scope, id) =>
      database.repeatable(async (db) => {
        const query = db.selectFrom('roles').selectAll().where('id', '=', id)
        return roleOrNull(await query.where(visible(scope)).executeTakeFirst())
      }),
    findByName: (tenantId, name) =>
      database.repeatable(async (db) =>
        roleOrNull(await selectNamed(db, tenantId, name).executeTakeFirst()),
      ),
  }
}

type WritingCall = 'ensureSystem' | 'create' | 'setPermissions' | 'delete'

function writingCalls(database: Sql): Pick<Roles, WritingCall> {
  return {
    ensureSystem: (roles, nowMs) =>
      database.repeatable((db) =>
        db.transaction().execute(async (transaction) => {
          for (const role of roles) await ensureSystemRole(transaction, role, nowMs)
        }),
      ),
    create: (role) => {
      const created = database.once((db) =>
        asOnlyWriter(db, 'roles', async (transaction) => {
          const named = await selectNamed(transaction, role.tenantId, role.name).executeTakeFirst()
          if (named !== undefined) return 'name-taken'
          const { own } = await countRows(transaction, 'roles', role.tenantId)
          if (own >= roleLimits.perTenantMax) return 'too-many-roles'
          return (await insert(transaction, role)) ?? 'name-taken'
        }),
      )
      return withFaults(created, {
        'name-taken': 'Another role has this name.',
        'too-many-roles': `A tenant has at most ${roleLimits.perTenantMax} roles of its own.`,
      })
    },
    setPermissions: (scope, id, permissions, nowMs) =>
      database.repeatable(async (db) => {
        const row = await db
          .updateTable('roles')
          .set({ permissions: json(permissions), updated_at_ms: nowMs })
          .where('id', '=', id)
          .where(inScope<'roles'>(scope))
          .returningAll()
          .executeTakeFirst()
        return roleOrNull(row)
      }),
    delete: (scope, id) => {
      const deleted = database.once((db) =>
        db.transaction().execute((transaction) => deleteUnused(transaction, scope, id)),
      )
      return withFaults(deleted, {
        'system-role': 'A built-in role cannot be deleted.',
        'role-in-use': 'A user has this role. Give the user another one first.',
      })
    },
  }
}

async function deleteUnused(
  db: Db,
  scope: TenantScope,
  id: string,
): Promise<boolean | 'system-role' | 'role-in-use'> {
  const role = await db
    .selectFrom('roles')
    .select(['name', 'tenant_id', 'is_system'])
    .where('id', '=', id)
    .where(visible(scope))
    .executeTakeFirst()
  if (role === undefined) return false
  if (role.is_system) return 'system-role'
  const users = db.selectFrom('users').select('id').where('tenant_id', '=', role.tenant_id)
  const user = await users.where('role', '=', role.name).limit(1).executeTakeFirst()
  if (user !== undefined) return 'role-in-use'
  await db.deleteFrom('roles').where('id', '=', id).execute()
  return true
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

const roleOrNull = (row: Selectable<RolesTable> | undefined): Role | null =>
  row === undefined ? null : roleOf(row)

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

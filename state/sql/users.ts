// Accounts in the table `users`.
import type { Selectable } from 'kysely'
import { withFaults } from '../ports/store-result.ts'
import type { StoreCall } from '../ports/store-result.ts'
import type { TenantScope } from '../ports/tenant-scope.ts'
import { emailKey, userLimits } from '../ports/users.ts'
import type { AuthProvider, KeptRole, NewUser, User, UserChange, Users } from '../ports/users.ts'
import { hasFirstAccountMark, setFirstAccountMark } from './database/first-account.ts'
import { asOnlyWriter, countRows, deleteRow, inScope } from './database/scope.ts'
import type { Sql } from './database/sql.ts'
import type { Db, UsersTable } from './database/tables.ts'

export function createSqlUsers(database: Sql): Users {
  return { ...creatingCalls(database), ...readingCalls(database), ...changingCalls(database) }
}

function creatingCalls(database: Sql): Pick<Users, 'create' | 'createFirst'> {
  return {
    create: (user) => {
      const created = database.once((db) =>
        asOnlyWriter(db, 'users', async (transaction) => {
          const { own } = await countRows(transaction, 'users', user.tenantId)
          if (own >= userLimits.perTenantMax) return 'too-many-users'
          return (await insert(transaction, user)) ?? 'email-taken'
        }),
      )
      return withFaults(created, {
        'email-taken': 'Another account has this e-mail address.',
        'too-many-users': `A tenant has at most ${userLimits.perTenantMax} accounts.`,
      })
    },
    createFirst: (user, firstOf) => {
      const created = database.once((db) =>
        asOnlyWriter(db, 'users', async (transaction) => {
          const isTaken = firstOf === 'those-left' ? hasAny(transaction) : hadAny(transaction)
          return (await isTaken) ? 'not-first' : ((await insert(transaction, user)) ?? 'not-first')
        }),
      )
      return withFaults(created, { 'not-first': 'There is an account already.' })
    },
  }
}

type ReadingCall = 'find' | 'findByEmail' | 'list' | 'hasAny' | 'hadAny' | 'totpCiphertexts'

function readingCalls(database: Sql): Pick<Users, ReadingCall> {
  return {
    find: (scope, id) =>
      database.repeatable(async (db) => {
        const query = db.selectFrom('users').selectAll().where('id', '=', id)
        return userOrNull(await query.where(inScope<'users'>(scope)).executeTakeFirst())
      }),
    findByEmail: (email) =>
      database.repeatable(async (db) => {
        const query = db.selectFrom('users').selectAll().where('email_key', '=', emailKey(email))
        return userOrNull(await query.executeTakeFirst())
      }),
    list: (scope) =>
      database.repeatable(async (db) => {
        const query = db.selectFrom('users').selectAll().where(inScope<'users'>(scope))
        const rows = await query.orderBy('created_at_ms').orderBy('id').execute()
        return rows.map(userOf)
      }),
    hasAny: () => database.repeatable(hasAny),
    hadAny: () => database.repeatable(hadAny),
    totpCiphertexts: (limit) =>
      database.repeatable(async (db) => {
        const rows = await db
          .selectFrom('users')
          .select('totp_ciphertext')
          .where('totp_active', '=', true)
          .where('totp_ciphertext', 'is not', null)
          .orderBy('id')
          .limit(limit)
          .execute()
        return rows.map((row) => row.totp_ciphertext!)
      }),
  }
}

type ChangingCall =
  ('update' | 'updateUnlessLast' | 'delete' | 'deleteUnlessLast') | ('useTotpStep' | 'claimForOidc')

function changingCalls(database: Sql): Pick<Users, ChangingCall> {
  return {
    update: (scope, id, change) => database.repeatable((db) => update(db, scope, id, change)),
    updateUnlessLast: (scope, id, change, kept) =>
      unlessLast(database, scope, id, kept, (transaction) =>
        update(transaction, scope, id, change),
      ),
    delete: (scope, id) => database.once((db) => deleteRow(db, 'users', scope, id)),
    deleteUnlessLast: (scope, id, kept) =>
      unlessLast(database, scope, id, kept, (transaction) =>
        deleteRow(transaction, 'users', scope, id),
      ),
    useTotpStep: (id, step) =>
      database.once(async (db) => {
        const query = db
          .updateTable('users')
          .set({ totp_last_step: step })
          .where('id', '=', id)
          .where('totp_ciphertext', 'is not', null)
          .where((from) =>
            from.or([from('totp_last_step', 'is', null), from('totp_last_step', '<', step)]),
          )
        return (await query.executeTakeFirst()).numUpdatedRows > 0n
      }),
    claimForOidc: (id, identity) =>
      database.repeatable(async (db) => {
        const query = db
          .updateTable('users')
          .set({ oidc_identity: identity })
          .where('id', '=', id)
          .where((from) =>
            from.or([from('oidc_identity', 'is', null), from('oidc_identity', '=', identity)]),
          )
        return (await query.executeTakeFirst()).numUpdatedRows > 0n
      }),
  }
}

async function update(
  db: Db,
  scope: TenantScope,
  id: string,
  change: UserChange,
): Promise<User | null> {
  const query = db.updateTable('users').set(columnsOf(change)).where('id', '=', id)
  return userOrNull(await query.where(inScope<'users'>(scope)).returningAll().executeTakeFirst())
}

/** Runs `work` unless the account is the last one with the role `kept`. */
function unlessLast<T>(
  database: Sql,
  scope: TenantScope,
  id: string,
  kept: KeptRole,
  work: (transaction: Db) => Promise<T>,
): StoreCall<Exclude<T, 'last-of-role'>, 'last-of-role'> {
  const done = database.once((db) =>
    asOnlyWriter(db, 'users', async (transaction) =>
      (await isLast(transaction, scope, id, kept)) ? 'last-of-role' : await work(transaction),
    ),
  )
  return withFaults(done, { 'last-of-role': 'No other account of the tenant has this role.' })
}

/** The only function that inserts an account. @returns undefined: the address is taken */
async function insert(db: Db, user: NewUser): Promise<User | undefined> {
  const row = await db
    .insertInto('users')
    .values({
      id: user.id,
      email: user.email.trim(),
      email_key: emailKey(user.email),
      display_name: user.displayName,
      role: user.role,
      tenant_id: user.tenantId,
      auth_provider: user.authProvider,
      password_hash: user.passwordHash,
      totp_active: false,
      oidc_identity: user.oidcIdentity ?? null,
      created_at_ms: user.createdAtMs,
      updated_at_ms: user.createdAtMs,
    })
    .onConflict((conflict) => conflict.column('email_key').doNothing())
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) return undefined
  await setFirstAccountMark(db, user.createdAtMs)
  return userOf(row)
}

async function hasAny(db: Db): Promise<boolean> {
  const row = await db.selectFrom('users').select('id').limit(1).executeTakeFirst()
  return row !== undefined
}

async function hadAny(db: Db): Promise<boolean> {
  // An older node without the mark may have made an account during an upgrade.
  return (await hasFirstAccountMark(db)) || (await hasAny(db))
}

async function isLast(
  db: Db,
  scope: TenantScope,
  id: string,
  { tenantId, role }: KeptRole,
): Promise<boolean> {
  const query = db.selectFrom('users').select('id').where(inScope<'users'>(scope))
  const holders = query.where('tenant_id', '=', tenantId).where('role', '=', role)
  const [first, second] = await holders.limit(2).execute()
  return first?.id === id && second === undefined
}

function columnsOf({ displayName, role, passwordHash, totp, updatedAtMs }: UserChange) {
  return {
    ...(displayName === undefined ? {} : { display_name: displayName }),
    ...(role === undefined ? {} : { role }),
    ...(passwordHash === undefined ? {} : { password_hash: passwordHash }),
    ...(totp === undefined
      ? {}
      : {
          totp_ciphertext: totp?.secretCiphertext ?? null,
          totp_active: totp?.active ?? false,
          totp_last_step: totp?.lastUsedStep ?? null,
        }),
    updated_at_ms: updatedAtMs,
  }
}

const userOrNull = (row: Selectable<UsersTable> | undefined): User | null =>
  row === undefined ? null : userOf(row)

function userOf(row: Selectable<UsersTable>): User {
  const secretCiphertext = row.totp_ciphertext
  return {
    id: row.id,
    email: row.email,
    displayName: row.display_name,
    role: row.role,
    tenantId: row.tenant_id,
    authProvider: row.auth_provider as AuthProvider,
    passwordHash: row.password_hash,
    totp:
      secretCiphertext === null
        ? null
        : { secretCiphertext, active: row.totp_active, lastUsedStep: row.totp_last_step },
    oidcIdentity: row.oidc_identity,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  }
}

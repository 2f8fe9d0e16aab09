// Accounts in the table `users`.
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import { err, ok } from '#lib/result.ts'
import type { StoreCall } from '../ports/store-result.ts'
import type { TenantScope } from '../ports/tenant-scope.ts'
import { emailKey, userLimits } from '../ports/users.ts'
import type {
  AuthProvider,
  FirstOf,
  KeptRole,
  NewUser,
  User,
  UserChange,
  Users,
} from '../ports/users.ts'
import { hasFirstAccountMark, setFirstAccountMark } from './database/first-account.ts'
import { inScope } from './database/scope.ts'
import type { Sql } from './database/sql.ts'
import type { Db, UsersTable } from './database/tables.ts'

export function createSqlUsers(database: Sql): Users {
  return new SqlUsers(database)
}

class SqlUsers implements Users {
  readonly #database: Sql

  constructor(database: Sql) {
    this.#database = database
  }

  readonly create = async (user: NewUser): StoreCall<User, 'email-taken' | 'too-many-users'> => {
    const created = await this.#database.once((db) =>
      db.transaction().execute(async (transaction) => {
        // The second of two simultaneous calls waits here and then counts the first one's account.
        await sql`lock table users in share row exclusive mode`.execute(transaction)
        const { count } = await transaction
          .selectFrom('users')
          .select((from) => from.fn.countAll<number>().as('count'))
          .where('tenant_id', '=', user.tenantId)
          .executeTakeFirstOrThrow()
        if (Number(count) >= userLimits.perTenantMax) return 'too-many-users'
        return (await insert(transaction, user)) ?? 'email-taken'
      }),
    )
    if (!created.ok) return created
    if (created.value === 'email-taken') {
      return err({ code: 'email-taken', message: 'Another account has this e-mail address.' })
    }
    if (created.value === 'too-many-users') {
      const message = `A tenant has at most ${userLimits.perTenantMax} accounts.`
      return err({ code: 'too-many-users', message })
    }
    return ok(created.value)
  }

  readonly createFirst = async (user: NewUser, firstOf: FirstOf): StoreCall<User, 'not-first'> => {
    const created = await this.#database.once((db) =>
      db.transaction().execute(async (transaction) => {
        // The second of two simultaneous calls waits here and then sees the first one's account.
        await sql`lock table users in share row exclusive mode`.execute(transaction)
        const isTaken = firstOf === 'those-left' ? hasAny(transaction) : hadAny(transaction)
        return (await isTaken) ? undefined : await insert(transaction, user)
      }),
    )
    if (!created.ok) return created
    if (created.value !== undefined) return ok(created.value)
    return err({ code: 'not-first', message: 'There is an account already.' })
  }

  readonly find = (scope: TenantScope, id: string): StoreCall<User | null> =>
    this.#database.repeatable(async (db) => {
      const query = db.selectFrom('users').selectAll().where('id', '=', id)
      const row = await query.where(inScope<'users'>(scope)).executeTakeFirst()
      return row === undefined ? null : userOf(row)
    })

  readonly findByEmail = (email: string): StoreCall<User | null> =>
    this.#database.repeatable(async (db) => {
      const key = emailKey(email)
      const query = db.selectFrom('users').selectAll().where('email_key', '=', key)
      const row = await query.executeTakeFirst()
      return row === undefined ? null : userOf(row)
    })

  readonly list = (scope: TenantScope): StoreCall<readonly User[]> =>
    this.#database.repeatable(async (db) => {
      const query = db.selectFrom('users').selectAll().where(inScope<'users'>(scope))
      const rows = await query.orderBy('created_at_ms').orderBy('id').execute()
      return rows.map(userOf)
    })

  readonly update = (scope: TenantScope, id: string, change: UserChange): StoreCall<User | null> =>
    this.#database.repeatable(async (db) => {
      const query = db.updateTable('users').set(columnsOf(change)).where('id', '=', id)
      const row = await query.where(inScope<'users'>(scope)).returningAll().executeTakeFirst()
      return row === undefined ? null : userOf(row)
    })

  readonly updateUnlessLast = (
    scope: TenantScope,
    id: string,
    change: UserChange,
    kept: KeptRole,
  ): StoreCall<User | null, 'last-of-role'> =>
    this.#unlessLast(scope, id, kept, async (transaction) => {
      const query = transaction.updateTable('users').set(columnsOf(change)).where('id', '=', id)
      const row = await query.where(inScope<'users'>(scope)).returningAll().executeTakeFirst()
      return row === undefined ? null : userOf(row)
    })

  readonly delete = (scope: TenantScope, id: string): StoreCall<boolean> =>
    this.#database.once(async (db) => {
      const query = db.deleteFrom('users').where('id', '=', id).where(inScope<'users'>(scope))
      return (await query.executeTakeFirst()).numDeletedRows > 0n
    })

  readonly deleteUnlessLast = (
    scope: TenantScope,
    id: string,
    kept: KeptRole,
  ): StoreCall<boolean, 'last-of-role'> =>
    this.#unlessLast(scope, id, kept, async (transaction) => {
      const query = transaction.deleteFrom('users').where('id', '=', id)
      return (await query.where(inScope<'users'>(scope)).executeTakeFirst()).numDeletedRows > 0n
    })

  readonly hasAny = (): StoreCall<boolean> => this.#database.repeatable(hasAny)

  readonly hadAny = (): StoreCall<boolean> => this.#database.repeatable(hadAny)

  readonly useTotpStep = (id: string, step: number): StoreCall<boolean> =>
    this.#database.once(async (db) => {
      const query = db
        .updateTable('users')
        .set({ totp_last_step: step })
        .where('id', '=', id)
        .where('totp_ciphertext', 'is not', null)
        .where((from) =>
          from.or([from('totp_last_step', 'is', null), from('totp_last_step', '<', step)]),
        )
      return (await query.executeTakeFirst()).numUpdatedRows > 0n
    })

  readonly claimForOidc = (id: string, oidcIdentity: string): StoreCall<boolean> =>
    this.#database.repeatable(async (db) => {
      const query = db
        .updateTable('users')
        .set({ oidc_identity: oidcIdentity })
        .where('id', '=', id)
        .where((from) =>
          from.or([from('oidc_identity', 'is', null), from('oidc_identity', '=', oidcIdentity)]),
        )
      return (await query.executeTakeFirst()).numUpdatedRows > 0n
    })

  readonly totpCiphertexts = (limit: number): StoreCall<readonly string[]> =>
    this.#database.repeatable(async (db) => {
      const rows = await db
        .selectFrom('users')
        .select('totp_ciphertext')
        .where('totp_active', '=', true)
        .where('totp_ciphertext', 'is not', null)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map((row) => row.totp_ciphertext!)
    })

  /** Runs `work` unless the account is the last one with the role `kept`. */
  async #unlessLast<T>(
    scope: TenantScope,
    id: string,
    kept: KeptRole,
    work: (transaction: Db) => Promise<T>,
  ): StoreCall<T, 'last-of-role'> {
    const done = await this.#database.once((db) =>
      db.transaction().execute(async (transaction) => {
        // The second of two simultaneous calls waits here and then sees the first one's effect.
        await sql`lock table users in share row exclusive mode`.execute(transaction)
        if (await isLast(transaction, scope, id, kept)) return 'last-of-role'
        return { value: await work(transaction) }
      }),
    )
    if (!done.ok) return done
    if (done.value !== 'last-of-role') return ok(done.value.value)
    return err({ code: 'last-of-role', message: 'No other account of the tenant has this role.' })
  }
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

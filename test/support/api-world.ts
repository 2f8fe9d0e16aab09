// An API with accounts, roles, tenants and keys, on the embedded database and in memory, and its
// callers.
import type { AuthPolicy } from '#access/auth/policy.ts'
import { systemKey, tokenHash } from '#access/auth/policy.ts'
import { Passwords } from '#access/auth/passwords.ts'
import { createApp } from '#api/server/app.ts'
import type { ServerPorts } from '#api/server/app.ts'
import { builtInRoles } from '#access/permissions.ts'
import type { TenantRecord, Tenants, WriteOrigin } from '#access/tenants.ts'
import { missing, refused } from '#http/reply.ts'
import type { AuditEntry } from '#state/ports/audit.ts'
import { createMemoryLoginAttempts } from '#state/memory/login-attempts.ts'
import { createMemoryOidcNonces } from '#state/memory/oidc-nonces.ts'
import { MemorySessions } from '#state/memory/sessions.ts'
import type { PersistentState } from '#state/persistent.ts'
import { err, ok } from '#lib/result.ts'
import { devMode, portsOf } from './api-ports.ts'
import { FakeTime } from './fake-time.ts'
import { valueOf } from './store-values.ts'

export const apiKey = 'b'.repeat(64)
export const withKeys: AuthPolicy = {
  ...devMode,
  systemKey: systemKey(apiKey),
  secretKey: Buffer.alloc(32, 7),
}
const startMs = Date.UTC(2026, 0, 15, 12)

const passwords = new Passwords(4)

export interface World {
  readonly app: ReturnType<typeof createApp>
  readonly ports: ServerPorts
  readonly time: FakeTime
  readonly audit: AuditEntry[]
  /** A request with a JSON body, if there is one. */
  readonly call: Call
}

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

type Call = (
  method: string,
  path: string,
  options?: {
    readonly bearer?: string
    readonly cookie?: string
    readonly body?: unknown
    readonly headers?: Readonly<Record<string, string>>
  },
) => Promise<Answer>

export async function createWorld(
  state: PersistentState,
  { auth = withKeys, ...brought }: Partial<ServerPorts> = {},
  trustedProxies: readonly string[] = [],
): Promise<World> {
  const time = new FakeTime(startMs)
  const { clock } = time
  const audit: AuditEntry[] = []
  const system = Object.entries(builtInRoles).map(([name, permissions]) => ({ name, permissions }))
  await valueOf(state.roles.ensureSystem(system, startMs))
  const ports = portsOf({
    clock,
    auth,
    passwords,
    users: state.users,
    roles: state.roles,
    tenantKeys: state.tenantKeys,
    alerts: state.alerts,
    sessions: new MemorySessions(clock),
    loginAttempts: createMemoryLoginAttempts(clock),
    oidcNonces: createMemoryOidcNonces(clock),
    tenants: memoryTenants(),
    audit: { write: (entry) => audit.push(entry) },
    ...brought,
  })
  const app = createApp(ports, trustedProxies)
  const call: Call = async (method, path, options = {}) => {
    const { bearer, cookie, body, headers = {} } = options
    const answer = await app.inject({
      method: method as 'GET',
      url: path,
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(cookie === undefined ? {} : { cookie: `gslb_session=${cookie}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    const { statusCode: status, payload: text } = answer
    const isJson = String(answer.headers['content-type']).startsWith('application/json')
    return { status, text, headers: answer.headers, body: isJson ? JSON.parse(text) : undefined }
  }
  return { app, ports, time, audit, call }
}

/** Tenants without a repository. */
export function memoryTenants(): Tenants {
  const all = new Map<string, TenantRecord>()
  const add = (id: string, rpsLimit: number): TenantRecord => {
    const tenant = { id, name: id, rpsLimit, createdAt: startMs / 1_000 }
    all.set(id, tenant)
    return tenant
  }
  add('default', 1_000)
  return {
    list: () => [...all.values()],
    find: (id) => all.get(id),
    idFor: (name) => name,
    objectCount: () => 0,
    create: async ({ id, rpsLimit }) =>
      all.has(id) ? err(refused(409, 'name: is in use')) : ok(add(id, rpsLimit)),
    remove: async (id) => (all.delete(id) ? ok(null) : err(missing('tenant'))),
  }
}

/** The system key, for the state before a test. */
export const setupOrigin: WriteOrigin = {
  caller: {
    ...{ kind: 'system', tenant: 'default', userId: null, role: null, isSystemAdmin: true },
    ...{ permissions: new Set(), sessionHash: null, keyHash: null },
  },
  ...{ isDryRun: false, requestId: 'setup' },
}

/** Makes a session of a user with that role, without a login; makes the tenant if needed. */
export async function sessionOf(
  { ports }: World,
  tenantId: string,
  role: string,
): Promise<{ readonly token: string; readonly userId: string }> {
  const userId = `${tenantId}-${role}`
  const token = tokenHash(`token of ${userId}`).slice(0, 43)
  const user = {
    id: userId,
    email: `${userId}@example.com`,
    displayName: userId,
    role,
    tenantId,
    authProvider: 'password',
    passwordHash: null,
    createdAtMs: startMs,
  } as const
  if (ports.tenants.find(tenantId) === undefined) {
    await ports.tenants.create({ id: tenantId, name: tenantId, rpsLimit: 1_000 }, setupOrigin)
  }
  await ports.users.create(user)
  await valueOf(ports.sessions.create(tokenHash(token), { userId, ...user }, 3_600_000))
  return { token, userId }
}

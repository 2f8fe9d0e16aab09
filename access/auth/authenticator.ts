// Authenticates a request: finds the caller of a session cookie or a bearer token.
import { permissions } from '#access/permissions.ts'
import type { Permission } from '#access/permissions.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { isSystemAdministrator } from '#access/caller.ts'
import type { Caller } from '#access/caller.ts'
import type { Reply } from '#http/reply.ts'
import type { ConfigView } from '#config/view.ts'
import type { Sessions } from '#state/ports/sessions.ts'
import type { Tenants } from '#access/tenants.ts'
import { obstacleReply, tenantPresence } from '#access/unread.ts'
import type { Obstacle, ViewParts } from '#access/unread.ts'
import type { Identities } from './identities.ts'
import { tokenHash } from './policy.ts'
import type { AuthPolicy } from './policy.ts'

export interface Credentials {
  /** Token of the session cookie; null: no cookie. */
  readonly cookie: string | null
  /** null: no bearer token. */
  readonly bearer: string | null
}

interface Authenticated {
  readonly caller: Caller
  /** `nothing`: dev mode asks for no credential. */
  readonly by: 'cookie' | 'bearer' | 'nothing'
}

/**
 * Identifies the credential without revealing it: hashes of sessions and keys are SHA-256 in hex.
 */
export type CredentialMark = 'dev' | 'system' | `session:${string}` | `key:${string}`

export function credentialMark({ kind, sessionHash, keyHash }: Caller): CredentialMark {
  if (kind === 'dev') return 'dev'
  if (sessionHash !== null) return `session:${sessionHash}`
  return keyHash === null ? 'system' : `key:${keyHash}`
}

export interface AuthenticatorParts extends ViewParts {
  readonly auth: AuthPolicy
  readonly sessions: Sessions
  readonly identities: Identities
  readonly tenants: Tenants
  readonly config: ConfigView
}

/** The form of a session token, 32 random octets in base64url. No other text is looked up. */
const sessionTokenForm = /^[A-Za-z0-9_-]{43}$/
const tenantKeyForm = /^[0-9a-f]{64}$/i

const unread: Obstacle = Object.freeze({ code: 'config-unread' })

const everything: ReadonlySet<Permission> = new Set(permissions)

const form = 'send the header Authorization: Bearer TOKEN, with an API key or the token of a login'
const noCredential = `this needs a valid credential: ${form}`
const wrongCredential =
  `this needs a valid credential, and the one that was sent is wrong or has ended: log in again, ` +
  `or ${form}`

export class Authenticator {
  readonly #parts: AuthenticatorParts

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts
  }

  /**
   * @returns the caller, or a refusal: 401; 500 when a needed store is away; 503 when the
   * configuration is needed and not read yet
   */
  async authenticate({ cookie, bearer }: Credentials): Promise<Authenticated | Reply> {
    const { systemKey } = this.#parts.auth
    if (systemKey === null) return this.#inDevMode(cookie ?? bearer)
    let obstacle: Obstacle | null = null
    const attempts = [
      ['cookie', cookie, () => this.#session(cookie)],
      ['bearer', bearer, async () => this.#system(bearer)],
      ['bearer', bearer, () => this.#session(bearer)],
      ['bearer', bearer, () => this.#tenantKey(bearer)],
    ] as const
    for (const [by, credential, attempt] of attempts) {
      if (credential === null) continue
      const found = await attempt()
      if (found === null) continue
      if ('kind' in found) return { caller: found, by }
      // The system key, which is tried next, needs no store.
      obstacle = found
    }
    if (obstacle !== null) return obstacleReply(this.#parts, obstacle)
    const body = { error: bearer === null && cookie === null ? noCredential : wrongCredential }
    return { status: 401, body, headers: { 'www-authenticate': 'Bearer' } }
  }

  /** Everybody is system administrator in dev mode; a session only adds the name. */
  async #inDevMode(token: string | null): Promise<Authenticated> {
    const found = token === null ? null : await this.#session(token)
    const user = found !== null && 'kind' in found ? found : null
    const caller: Caller = { ...systemCaller('dev'), ...(user && personOf(user)) }
    return { caller, by: 'nothing' }
  }

  #system(bearer: string | null): Caller | null {
    const isKey = bearer !== null && this.#parts.auth.systemKey?.matches(bearer) === true
    return isKey ? systemCaller('system') : null
  }

  /** The caller of an accepted credential; null: it is no longer valid. */
  async callerOf(mark: CredentialMark): Promise<Caller | Obstacle | null> {
    const isDevMode = this.#parts.auth.systemKey === null
    if (mark === 'dev') return isDevMode ? systemCaller('dev') : null
    if (isDevMode) return null
    if (mark === 'system') return systemCaller('system')
    const [kind, hash = ''] = mark.split(':')
    // The check is no request of the user, so it does not extend the session.
    return kind === 'session' ? this.#ofSession(hash, null) : this.#ofTenantKey(hash)
  }

  async #session(token: string | null): Promise<Caller | Obstacle | null> {
    if (token === null || !sessionTokenForm.test(token)) return null
    const { sessionExtend, sessionTtlMs } = this.#parts.auth
    return this.#ofSession(tokenHash(token), sessionExtend ? sessionTtlMs : null)
  }

  async #ofSession(hash: string, extendMs: number | null): Promise<Caller | Obstacle | null> {
    const { sessions, identities } = this.#parts
    const session = await sessions.find(hash, extendMs)
    if (!session.ok) return session.error
    if (session.value === null) return null
    const user = await identities.user(session.value.userId)
    if (!user.ok) return user.error
    if (user.value === null) return null
    const { userId, email, displayName, tenant, role } = user.value
    // An account may outlive its tenant, but is then not valid.
    const presence = tenantPresence(this.#parts, tenant)
    if (presence !== 'there') return presence === 'unread' ? unread : null
    const isSystemAdmin = isSystemAdministrator(tenant, role)
    return {
      kind: isSystemAdmin ? 'system' : 'user',
      tenant,
      userId,
      email,
      displayName,
      role,
      permissions: isSystemAdmin ? everything : user.value.permissions,
      isSystemAdmin,
      sessionHash: hash,
      keyHash: null,
    }
  }

  async #tenantKey(key: string | null): Promise<Caller | Obstacle | null> {
    if (key === null || !tenantKeyForm.test(key)) return null
    return this.#ofTenantKey(tokenHash(key.toLowerCase()))
  }

  async #ofTenantKey(hash: string): Promise<Caller | Obstacle | null> {
    const found = await this.#parts.identities.tenantOfKey(hash)
    if (!found.ok) return found.error
    if (found.value === null) return null
    const { tenant, permissions } = found.value
    // A pull request may have deleted the tenant of the key.
    const presence = tenantPresence(this.#parts, tenant)
    if (presence !== 'there') return presence === 'unread' ? unread : null
    return {
      kind: 'tenant',
      tenant,
      userId: null,
      role: null,
      permissions,
      isSystemAdmin: false,
      sessionHash: null,
      keyHash: hash,
    }
  }
}

function systemCaller(kind: 'system' | 'dev'): Caller {
  return {
    kind,
    tenant: defaultTenant,
    userId: null,
    role: null,
    permissions: everything,
    isSystemAdmin: true,
    sessionHash: null,
    keyHash: null,
  }
}

function personOf({ userId, email = '', displayName = '', role, sessionHash }: Caller) {
  return { userId, email, displayName, role, sessionHash }
}

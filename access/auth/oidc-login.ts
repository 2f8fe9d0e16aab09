// Runs an OIDC login: redirects the browser to the provider, and opens a session on its return.
import { randomBytes } from 'node:crypto'
import { uuidV7 } from '#lib/uuid.ts'
import { nonceLimits } from '#state/ports/oidc-nonces.ts'
import type { User } from '#state/ports/users.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { systemAdministrator } from '#access/caller.ts'
import type { Log } from '#lib/log.ts'
import type { OidcNonces } from '#state/ports/oidc-nonces.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { RequestFacts } from '#http/request-facts.ts'
import { storeFailed } from '#http/store-reply.ts'
import { tenantPresence, unreadReply } from '#access/unread.ts'
import { loginTokenOf, setLoginCookie, setSessionCookie } from '#access/credentials.ts'
import type { Identities } from './identities.ts'
import { openSession, tenantIsGone, tooMany } from './login.ts'
import type { SessionPorts } from './login.ts'
import { countBeginning } from './login-limits.ts'
import { notKnownVerified, personOf } from './oidc-claims.ts'
import type { OidcPerson } from './oidc-claims.ts'
import type { OidcAnswer, OidcClient, OidcLogin } from './oidc-client.ts'
import type { OidcFault } from './oidc-faults.ts'
import { tokenHash } from './policy.ts'

interface OidcPorts extends SessionPorts {
  /** null: there is no single sign-on. */
  readonly oidc: OidcClient | null
  readonly oidcNonces: OidcNonces
  readonly identities: Identities
  readonly log: Log
}

/** Kept under `state`, as JSON. */
interface KeptLogin extends Omit<OidcLogin, 'state'> {
  /** Hash of the cookie in the browser that began the login. */
  readonly browser: string
}

const loginTokenForm = /^[A-Za-z0-9_-]{43}$/

export async function beginLogin(
  ports: Pick<OidcPorts, 'oidc' | 'oidcNonces' | 'loginAttempts' | 'log'>,
  request: RequestFacts,
): Promise<Reply> {
  if (ports.oidc === null) return isOff
  const counted = await countBeginning(ports.loginAttempts, request.address)
  if (!counted.ok) return storeFailed(counted.error)
  if (counted.value > 0) return tooMany(counted.value)
  const begun = await ports.oidc.begin()
  if (!begun.ok) return faulty(ports, begun.error)
  const { url, login } = begun.value
  // A login that was begun in another tab stays valid.
  const known = loginTokenOf(request.header('cookie')) ?? ''
  const token = loginTokenForm.test(known) ? known : randomBytes(32).toString('base64url')
  const { state, nonce, verifier } = login
  const kept: KeptLogin = { nonce, verifier, browser: tokenHash(token) }
  const put = await ports.oidcNonces.put(state, JSON.stringify(kept))
  if (!put.ok) return storeFailed(put.error)
  const cookie = setLoginCookie(token, nonceLimits.ttlMs, request.isSecure)
  return { status: 302, headers: { location: url, 'set-cookie': cookie } }
}

export async function finishLogin(
  ports: OidcPorts,
  answer: OidcAnswer,
  request: RequestFacts,
): Promise<Reply> {
  if (ports.oidc === null) return isOff
  const { state = '' } = answer
  const taken = await ports.oidcNonces.take(state)
  if (!taken.ok) return storeFailed(taken.error)
  if (taken.value === null) return unknownState
  const { nonce, verifier, browser } = JSON.parse(taken.value) as KeptLogin
  const token = loginTokenOf(request.header('cookie'))
  if (token === null || tokenHash(token) !== browser) return otherBrowser
  const claims = await ports.oidc.finish(answer, { state, nonce, verifier })
  if (!claims.ok) return faulty(ports, claims.error)
  const person = personOf(claims.value, ports.oidc.policy)
  if (!person.ok) return refused(403, person.error)
  const user = await accountOf(ports, person.value)
  if ('status' in user) return user
  const session = await openSession(ports, user)
  if (!session.ok) return storeFailed(session.error)
  const { id: userId, email: userEmail, role } = user
  ports.log.info({ userId, userEmail, role }, 'login through the identity provider')
  // The login's cookie stays for its ten minutes, since another tab may be logging in.
  const cookie = setSessionCookie(session.value.token, ports.auth.sessionTtlMs, request.isSecure)
  return { status: 302, headers: { location: '/', 'set-cookie': cookie } }
}

const isOff = refused(404, 'single sign-on is not set up here')
const unknownState = refused(
  400,
  'state: is of no login, or of one that is over or older than 10 minutes; begin again',
)
const otherBrowser = refused(
  400,
  'state: is of a login that did not begin in this browser, or not under the host name of ' +
    'auth.oidc.redirectUri; begin again there',
)

function faulty({ log }: Pick<OidcPorts, 'log'>, { status, sentence, reason }: OidcFault): Reply {
  log.warn({ reason }, 'a login through the identity provider failed')
  return refused(status, sentence)
}

/** The account with the person's address, or a new one, in the role that the provider gives now. */
async function accountOf(ports: OidcPorts, person: OidcPerson): Promise<User | Reply> {
  const found = await ports.users.findByEmail(person.email)
  if (!found.ok) return storeFailed(found.error)
  if (found.value !== null) return admitted(ports, found.value, person)
  const made = await createAccount(ports, person)
  if (made.ok) return made.value
  if (made.error.code === 'too-many-users') return refused(409, made.error.message)
  if (made.error.code !== 'email-taken') return storeFailed(made.error)
  // Another login of the same person has just made it.
  const other = await ports.users.findByEmail(person.email)
  if (!other.ok) return storeFailed(other.error)
  return other.value === null ? refused(409, busy) : admitted(ports, other.value, person)
}

const busy = 'the account is being changed; log in again'

function createAccount({ users, clock }: OidcPorts, person: OidcPerson) {
  const { email, displayName, role, identity } = person
  const nowMs = clock.nowMs()
  return users.create({
    id: uuidV7(nowMs),
    email,
    displayName,
    role,
    tenantId: defaultTenant,
    authProvider: 'oidc',
    passwordHash: null,
    oidcIdentity: identity,
    createdAtMs: nowMs,
  })
}

const isAnothers =
  'the account with this e-mail address belongs to another identity at the provider; ask an ' +
  'administrator to delete the account if that one is gone'

async function admitted(ports: OidcPorts, user: User, person: OidcPerson): Promise<User | Reply> {
  // The address identifies an account once; from then on its identity does.
  if (user.oidcIdentity === null && !person.isVerified) return refused(403, notKnownVerified)
  const presence = tenantPresence(ports, user.tenantId)
  if (presence === 'unread') return unreadReply(ports, null)
  if (presence === 'gone') return refused(403, tenantIsGone)
  if (user.totp?.active === true) {
    return refused(403, 'this account needs a TOTP code: log in with its password and the code')
  }
  const claimed = await ports.users.claimForOidc(user.id, person.identity)
  if (!claimed.ok) return storeFailed(claimed.error)
  if (!claimed.value) return refused(403, isAnothers)
  return user.role === person.role ? user : withRole(ports, user, person.role)
}

async function withRole(
  { users, clock, identities, log }: OidcPorts,
  user: User,
  role: string,
): Promise<User | Reply> {
  const change = { role, updatedAtMs: clock.nowMs() }
  const saved =
    role === systemAdministrator.role
      ? await users.update('every-tenant', user.id, change)
      : await users.updateUnlessLast('every-tenant', user.id, change, systemAdministrator)
  if (saved.ok) {
    identities.forget()
    return saved.value ?? refused(409, busy)
  }
  if (saved.error.code !== 'last-of-role') return storeFailed(saved.error)
  log.warn({ userId: user.id, userEmail: user.email, role }, keptAdministrator)
  return user
}

const keptAdministrator =
  'the identity provider gives the last system administrator another role; the account keeps ' +
  'tenant_admin, or nobody could administer this service. Give another account of the tenant ' +
  'default the role tenant_admin, or correct auth.oidc.roleClaim and auth.oidc.roleMapping'

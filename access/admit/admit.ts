// Decides whether a request reaches its handler: credential, origin, permission.
import type { FastifyRequest } from 'fastify'
import type { Authenticator, AuthenticatorParts, Credentials } from '#access/auth/authenticator.ts'
import { bearerOf, sessionTokenOf } from '#access/credentials.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import type { AuthPolicy } from '#access/auth/policy.ts'
import type { Caller, Viewer } from '#access/caller.ts'
import { crossSite, isCrossSite, isRebound, reboundHost } from '#http/origin.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { Permission } from '#access/permissions.ts'
import { unreadReply } from '#access/unread.ts'
import { isWebhook } from './webhook.ts'

/**
 * Says who may call. `public`: anybody, without a credential; `any`: every valid credential;
 * `session`: one that belongs to a user; `system`: a system administrator; else every caller with
 * that permission.
 */
export type Needs = 'public' | 'any' | 'session' | 'system' | Permission

/** The columns of a route that decide access. */
export interface Asked {
  readonly needs: Needs
  readonly withoutConfig?: true
  readonly ofPlatform?: true
  readonly withBundleToken?: true
  readonly withMetricsToken?: true
  readonly withWebhook?: true
}

export interface AccessParts {
  readonly authenticator: Authenticator
  readonly ports: Pick<AuthenticatorParts, 'auth' | 'config' | 'view'>
}

export interface Admitted {
  readonly caller: Caller
  /** Token of an accepted session cookie; null: another credential was used. */
  readonly cookieToken: string | null
  /** True for a webhook, whose signature is checked when its body has arrived. */
  readonly isUnproven?: true
  /** Why a known caller may not call; null: it may. */
  readonly refusal: Reply | null
}

/** The caller of public routes, whose handlers look at no caller. */
const nobody: Caller = Object.freeze<Caller>({
  kind: 'user',
  tenant: '',
  userId: null,
  role: null,
  permissions: new Set(),
  isSystemAdmin: false,
  sessionHash: null,
  keyHash: null,
})

/** @returns the caller and whether it may call, or the refusal of its credential */
export async function admit(
  request: FastifyRequest,
  asked: Asked,
  { authenticator, ports }: AccessParts,
): Promise<Admitted | Reply> {
  const { needs } = asked
  const credentials = credentialsOf(request)
  if (needs === 'public') {
    if (isCrossSite(request)) return crossSite
    return { caller: nobody, cookieToken: null, refusal: tooEarly(asked, ports, null) }
  }
  if (hasTokenFor(asked, credentials.bearer, ports.auth))
    return { caller: nobody, cookieToken: null, refusal: tooEarly(asked, ports, null) }
  if (asked.withWebhook === true && credentials.bearer === null && isWebhook(request, ports.auth))
    return { caller: nobody, cookieToken: null, isUnproven: true, refusal: null }
  const found = await authenticator.authenticate(credentials)
  if ('status' in found) return found
  const { caller, by } = found
  if (by === 'nothing' && isRebound(request)) return reboundHost
  const isForged = by !== 'bearer' && isCrossSite(request)
  return {
    caller,
    cookieToken: by === 'cookie' ? credentials.cookie : null,
    refusal: isForged ? crossSite : (refusalOf(asked, caller) ?? tooEarly(asked, ports, caller)),
  }
}

/** Whether the token opens this route to a program; it identifies nobody. */
function hasTokenFor(asked: Asked, bearer: string | null, auth: AuthPolicy): boolean {
  if (bearer === null) return false
  if (asked.withBundleToken === true) return auth.bundleToken?.matches(bearer) === true
  return asked.withMetricsToken === true && auth.metricsToken?.matches(bearer) === true
}

/**
 * Tells callers with the permission why it is too early.
 *
 * @param viewer null: of a public route
 */
function tooEarly(
  { withoutConfig }: Asked,
  ports: AccessParts['ports'],
  viewer: Viewer | null,
): Reply | null {
  return withoutConfig === true || ports.config.isReady() ? null : unreadReply(ports, viewer)
}

function credentialsOf(request: FastifyRequest): Credentials {
  return {
    cookie: sessionTokenOf(request.headers.cookie),
    bearer: bearerOf(request.headers.authorization),
  }
}

/** Why a known caller may not call; null: it may. */
export function refusalOf({ needs, ofPlatform }: Asked, caller: Caller): Reply | null {
  if (needs === 'public' || needs === 'any') return null
  if (needs === 'session') {
    return caller.userId === null ? refused(403, 'this needs the session of a user') : null
  }
  if (caller.isSystemAdmin) return null
  if (needs === 'system') return refused(403, 'admin access required')
  if (ofPlatform === true && caller.tenant !== defaultTenant) {
    return refused(403, 'this is of the whole installation: only the tenant default has it')
  }
  if (caller.permissions.has(needs)) return null
  return refused(403, `permission denied: this needs ${needs}`)
}

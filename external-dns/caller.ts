// Decides for which tenant a request of external-dns writes: by a credential, which its URL may
// hold, or without one by the settings, on this machine alone.
import type { FastifyRequest } from 'fastify'
import type { Authenticator } from '#access/auth/authenticator.ts'
import type { Caller } from '#access/caller.ts'
import { basicPasswordOf, bearerOf } from '#access/credentials.ts'
import { builtInRoles } from '#access/permissions.ts'
import type { Permission } from '#access/permissions.ts'
import { tenantPresence, unreadReply } from '#access/unread.ts'
import { crossSite, isDirectFromHere, isRebound } from '#http/origin.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Ports } from '#ports/ports.ts'

/** What a program on this machine may do, which has no credential. */
const localPermissions: ReadonlySet<Permission> = new Set(builtInRoles.operator)

interface CallerParts {
  readonly authenticator: Authenticator
  readonly ports: Ports<'config' | 'view' | 'tenants'>
  /** Tenant of requests without a credential; undefined: they are refused. */
  readonly tenant: string | undefined
}

const reads: readonly Permission[] = ['record:read', 'service:read', 'pool:read', 'member:read']
const writes: readonly Permission[] = [
  ...(['record', 'service', 'pool', 'member', 'hc'] as const).map((one) => `${one}:write` as const),
  ...(['service', 'pool', 'member'] as const).map((one) => `${one}:delete` as const),
]

/** @returns a caller that sees its own tenant alone, whoever it is. Errors: the refusal */
export async function callerOf(
  request: FastifyRequest,
  parts: CallerParts,
): Promise<Result<Caller, Reply>> {
  // No program of a cluster sends these.
  const { origin, 'sec-fetch-site': site } = request.headers
  if (origin !== undefined || site !== undefined) return err(crossSite)
  const credential = credentialOf(request.headers.authorization)
  if (credential === null) return await localCaller(request, parts)
  const found = await parts.authenticator.authenticate({ cookie: null, bearer: credential })
  if ('status' in found) return err(found)
  const { caller } = found
  if (caller.isSystemAdmin && found.by === 'nothing') return await localCaller(request, parts)
  const tenant = caller.isSystemAdmin ? (parts.tenant ?? caller.tenant) : caller.tenant
  const lacking = [...reads, ...writes].find((one) => !caller.permissions.has(one))
  if (lacking !== undefined) {
    return err(refused(403, `permission denied: external-dns needs ${lacking}`))
  }
  return present({ ...caller, tenant, isSystemAdmin: false }, parts)
}

async function localCaller(
  request: FastifyRequest,
  parts: CallerParts,
): Promise<Result<Caller, Reply>> {
  const { tenant } = parts
  if (tenant === undefined) return err(needsKey)
  if (isRebound(request)) return err(reboundName)
  // A proxy on this machine speaks for others.
  if (!isDirectFromHere(request)) return err(needsKey)
  const caller: Caller = {
    ...{ kind: 'tenant', tenant, userId: null, role: null, permissions: localPermissions },
    ...{ isSystemAdmin: false, sessionHash: null, keyHash: null },
  }
  return present(caller, parts)
}

const reboundName = refused(
  403,
  'without a key in the request this machine is reached as localhost, 127.0.0.1 or [::1] only: ' +
    'give external-dns --webhook-provider-url=http://external-dns:KEY@HOST:PORT for other names',
)

const needsKey: Reply = {
  ...refused(
    401,
    'this needs the API key of a tenant: give external-dns ' +
      '--webhook-provider-url=http://external-dns:KEY@HOST:PORT',
  ),
  headers: { 'www-authenticate': 'Basic' },
}

function present(caller: Caller, { ports }: CallerParts): Result<Caller, Reply> {
  if (!ports.config.isReady()) return err(unreadReply(ports, null))
  if (tenantPresence(ports, caller.tenant) === 'there') return ok(caller)
  return err(refused(403, `there is no tenant "${caller.tenant}": see externalDns.tenant`))
}

/** Bearer, or the password of Basic, which is how a URL holds a key. */
function credentialOf(authorization: string | undefined): string | null {
  if (authorization === undefined) return null
  return basicPasswordOf(authorization) ?? bearerOrNone(authorization)
}

/** A header of another kind is a wrong credential, and not none. */
const bearerOrNone = (authorization: string): string => bearerOf(authorization) ?? ''

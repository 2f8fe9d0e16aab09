// Writes the audit log: one entry for every mutating call.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { uuidV7 } from '#lib/uuid.ts'
import { auditedMethods } from '#state/ports/audit.ts'
import type { AuditEntry } from '#state/ports/audit.ts'
import type { Caller } from '#access/caller.ts'
import { basicPasswordOf, bearerOf, sessionTokenOf } from '#access/credentials.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { dryRunHeader } from '#http/dry-run.ts'
import { isForPages } from '#http/origin.ts'

/** Receives entries; never throws or waits. */
export interface AuditSink {
  readonly write: (entry: AuditEntry) => void
}

const audited: ReadonlySet<string> = new Set(auditedMethods)
const pathLengthMax = 500
/** A shorter credential would be guessable from four of its characters. */
const credentialLengthMin = 8

/** @returns undefined for calls that change nothing, or that no operator makes */
export function auditEntryOf(
  request: FastifyRequest,
  reply: FastifyReply,
  nowMs: number,
): AuditEntry | undefined {
  if (!isAudited(request) || isForPages(request)) return undefined
  if (request.routeOptions.config?.fromNodes === true) return undefined
  if (reply.hasHeader(dryRunHeader)) return undefined
  return {
    id: uuidV7(nowMs),
    atMs: nowMs,
    method: request.method,
    path: pathOf(request),
    actor: actorMark(request),
    remote: request.ip,
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime),
    tenantId: request.admitted?.caller.tenant || defaultTenant,
    requestId: request.id,
    ...whoOf(request),
    ...(request.noted?.note === undefined ? {} : { note: request.noted.note }),
  }
}

/** The entry of a login names the account that logged in. */
function whoOf({ admitted, noted }: FastifyRequest): Pick<AuditEntry, 'user'> {
  const { userId = null, email = '' } = admitted?.caller ?? {}
  if (noted?.user !== undefined) return { user: noted.user }
  return userId === null ? {} : { user: { id: userId, email } }
}

export function isAudited({ method }: Pick<FastifyRequest, 'method'>): boolean {
  return audited.has(method)
}

/** Without the query, which may hold secrets. */
export function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return (url.split('?', 1)[0] ?? '').slice(0, pathLengthMax)
}

/** The last four characters of the token, or `anon`. */
function actorMark({ headers, admitted }: FastifyRequest): string {
  const { authorization, cookie } = headers
  // Where no key was admitted, a password is another program's secret.
  const password = isByKey(admitted?.caller) ? basicPasswordOf(authorization) : null
  const token = bearerOf(authorization) ?? password ?? sessionTokenOf(cookie) ?? ''
  return token.length < credentialLengthMin ? 'anon' : token.slice(-4)
}

const isByKey = (caller: Caller | undefined): boolean =>
  caller?.sessionHash === null && (caller.keyHash !== null || caller.kind === 'system')

/** The entry under the field names of the audit log. */
export function auditLine(entry: AuditEntry): Record<string, unknown> {
  const { durationMs, tenantId, requestId, requests, user, note } = entry
  const { method, path, actor, remote, status } = entry
  return {
    method,
    path,
    actor,
    remote,
    status,
    duration_ms: durationMs,
    tenant: tenantId,
    request_id: requestId,
    ...(user === undefined ? {} : { user_id: user.id }),
    ...(user === undefined || user.email === '' ? {} : { user: user.email }),
    ...(note === undefined ? {} : { note }),
    ...(requests === undefined ? {} : { requests }),
  }
}

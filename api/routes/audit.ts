// GET /api/v1/audit: calls that changed something, or tried to, from the database's copy.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { visibleTenant } from '#access/caller.ts'
import { Paging, cursorOf, noCursor, readCursor } from '#http/paging.ts'
import { success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { route } from '#api/route/route.ts'
import { closed, nullable } from '#http/shapes.ts'
import { storeFailed } from '#http/store-reply.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { auditedMethods, auditLimits } from '#state/ports/audit.ts'
import type { AuditEntry, AuditFilter, AuditPosition } from '#state/ports/audit.ts'

const AuditCall = Type.Object(
  {
    id: Type.String(),
    at: Type.Integer({ description: 'Unix milliseconds' }),
    method: Type.String(),
    path: Type.String(),
    status: Type.Integer(),
    actor: Type.String({ description: 'The last four characters of the token, or anon' }),
    remote: Type.String({ description: 'Address of the client' }),
    durationMs: Type.Number(),
    tenantId: Type.String(),
    requestId: nullable(Type.String({ description: 'As in X-Request-Id and in the commit' })),
    userId: nullable(Type.String({ description: 'Of the account; null: none made the call' })),
    userEmail: nullable(Type.String({ description: 'null, too, with logging.pseudonymous' })),
    note: nullable(Type.String({ description: 'What else it did, such as clear a second factor' })),
  },
  { title: 'AuditCall' },
)

const pageDefault = 100

const Query = closed({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: auditLimits.pageMax, default: pageDefault }),
  ),
  cursor: Paging.properties.cursor,
  from: Type.Optional(Type.Integer({ minimum: 0, description: 'Unix milliseconds' })),
  to: Type.Optional(Type.Integer({ minimum: 0, description: 'Unix milliseconds; not included' })),
  actor: Type.Optional(Type.String({ minLength: 1, maxLength: 4 })),
  method: Type.Optional(Type.Enum([...auditedMethods])),
  path: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: 'Part of it, such as an id' }),
  ),
  refused: Type.Optional(Type.Boolean({ description: 'Status 400 and above, or below' })),
})

export const getAudit = route('GET /api/v1/audit', {
  needs: 'user:read',
  withoutConfig: true,
  tag: 'Audit',
  summary: 'Calls that changed something, or tried to, the newest first',
  details:
    'Of the tenant of the caller; for a system administrator, of all. Kept for 400 days, and the ' +
    'last million, of which no tenant pushes out those of others; the audit log has all. Calls ' +
    'without a credential are in the log alone. An answer to a filter looks through ' +
    `${auditLimits.examinedMax} calls: it may have few or none, and yet the header ` +
    'X-Next-Cursor, which leads on.',
  query: Query,
  responses: { 200: { description: 'Calls', schema: Type.Array(AuditCall) } },
  ports: ['auditCopy'],
  handle: async ({ caller, ports, query }) => {
    const after = positionIn(query.cursor)
    if (!after.ok) return after.error
    const tenantId = visibleTenant(caller)
    const only = filterIn(query)
    const found = await ports.auditCopy.query({
      scope: tenantId === null ? 'every-tenant' : { tenantId },
      ...{ fromMs: query.from ?? 0, toMs: query.to ?? Number.MAX_SAFE_INTEGER },
      limit: query.limit ?? pageDefault,
      ...(after.value === undefined ? {} : { after: after.value }),
      ...(only === undefined ? {} : { only }),
    })
    if (!found.ok) return storeFailed(found.error)
    const { entries, next } = found.value
    const headers = next === null ? {} : { 'x-next-cursor': cursorOf([String(next.atMs), next.id]) }
    return success(entries.map(showCall), headers)
  },
})

function positionIn(cursor: string | undefined): Result<AuditPosition | undefined, Reply> {
  const read = readCursor(cursor)
  if (!read.ok) return read
  if (cursor === undefined) return ok(undefined)
  const [atMs = '', id, ...more] = read.value
  const isPosition = /^\d{1,15}$/.test(atMs) && id !== undefined && more.length === 0
  return isPosition ? ok({ atMs: Number(atMs), id }) : err(noCursor)
}

/** @returns undefined: no filter is set */
function filterIn({ actor, method, path, refused }: Static<typeof Query>): AuditFilter | undefined {
  const only = {
    ...(actor === undefined ? {} : { actor }),
    ...(method === undefined ? {} : { method }),
    ...(path === undefined ? {} : { path }),
    ...(refused === undefined ? {} : { isRefused: refused }),
  }
  return Object.keys(only).length === 0 ? undefined : only
}

function showCall({ atMs, id, method, path, status, actor, remote, ...rest }: AuditEntry) {
  const { durationMs, tenantId, requestId, user, note = null } = rest
  const shown = {
    id,
    at: atMs,
    method,
    path,
    status,
    actor,
    remote,
    durationMs,
    tenantId,
    requestId,
  }
  return { ...shown, userId: user?.id ?? null, userEmail: user?.email || null, note }
}

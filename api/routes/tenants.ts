// /api/v1/tenants: the tenants of this installation, for system administrators.
import { randomBytes } from 'node:crypto'
import { Type } from '#lib/schema/type.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { textPattern } from '#lib/text/patterns.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import { tokenHash } from '#access/auth/policy.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { subjectOf } from '#api/config/writes.ts'
import type { Ports } from '#ports/ports.ts'
import { Name, named } from '#http/paging.ts'
import { created, noContent, refused, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { ConflictBody, UnixSeconds, closed } from '#http/shapes.ts'
import { storeFailed } from '#http/store-reply.ts'
import { subjectHeader } from '#http/write-headers.ts'

const route = routesOf({ tag: 'Tenants' })

/** The fields of a tenant. */
const rpsLimitDefault = 1_000

const TenantJson = Type.Object(
  { id: Type.String(), name: Type.String(), rpsLimit: Type.Integer(), createdAt: UnixSeconds },
  { title: 'Tenant' },
)

const create = route('POST /api/v1/tenants', {
  needs: 'system',
  licensed: 'extra-tenants',
  summary: 'Create a tenant (enterprise tier); its API key is shown this once',
  body: closed({
    name: Type.String({
      minLength: 1,
      maxLength: 63,
      pattern: textPattern,
      'x-expected': 'a text on one line of 1 to 63 characters',
    }),
    rpsLimit: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: rpsLimitDefault }),
    ),
  }),
  responses: {
    201: {
      description: 'The tenant and its API key, of which only the hash is kept',
      schema: Type.Object({ tenant: TenantJson, apiKey: Type.String() }),
    },
  },
  takesDryRun: true,
  refusalBodies: { 409: ConflictBody },
  ports: ['users', 'roles', 'tenants', 'tenantKeys', 'alerts', 'clock'],
  handle: async ({ caller, ports, body, requestId, isDryRun, request }) => {
    const subject = subjectOf(request.header(subjectHeader))
    if (!subject.ok) return subject.error
    const origin = { caller, requestId, isDryRun, ...subject.value }
    const id = ports.tenants.idFor(body.name)
    const remains = await remainsOf(id, ports)
    if (!remains.ok) return storeFailed(remains.error)
    if (remains.value !== '') return refused(409, inherited(id, remains.value))
    const { name, rpsLimit = rpsLimitDefault } = body
    const tenant = await ports.tenants.create({ id, name, rpsLimit }, origin)
    if (!tenant.ok) return tenant.error
    // A dry run makes no tenant, and so no key.
    if (isDryRun) return created({ tenant: tenant.value, apiKey: '' })
    const apiKey = randomBytes(32).toString('hex')
    const kept = await ports.tenantKeys.put(id, tokenHash(apiKey), ports.clock.nowMs())
    if (kept.ok) return created({ tenant: tenant.value, apiKey })
    // A tenant whose key was lost could not be used, and would block its id.
    await ports.tenants.remove(id, origin)
    return storeFailed(kept.error)
  },
})

/** Alerts of the tenant have no receivers any more. */
async function turnOffChannels(
  id: string,
  { alerts, clock }: Ports<'alerts' | 'clock'>,
): Promise<StoreFailure<string> | undefined> {
  const scope = { tenantId: id }
  const channels = await alerts.listChannels(scope)
  if (!channels.ok) return channels.error
  const off = { enabled: false, updatedAtMs: clock.nowMs() }
  for (const { id: channel } of channels.value) {
    const changed = await alerts.updateChannel(scope, channel, off)
    if (!changed.ok) return changed.error
  }
  return undefined
}

/** Names what an earlier tenant with this id has left; '': nothing that a new one would get. */
async function remainsOf(
  id: string,
  { tenants, users, roles, alerts }: Ports<'users' | 'roles' | 'tenants' | 'alerts'>,
): Promise<Result<string, StoreFailure>> {
  const accounts = await users.list({ tenantId: id })
  if (!accounts.ok) return accounts
  const visible = await roles.list({ tenantId: id })
  if (!visible.ok) return visible
  const channels = await alerts.listChannels({ tenantId: id })
  if (!channels.ok) return channels
  const counts = {
    accounts: accounts.value.length,
    roles: visible.value.filter(({ isSystem }) => !isSystem).length,
    'alert channels': channels.value.length,
    'objects of the configuration': tenants.objectCount(id),
  }
  const left = Object.entries(counts).filter(([, count]) => count > 0)
  return ok(left.map(([what, count]) => `${what} (${count})`).join(', '))
}

const inherited = (id: string, remains: string): string =>
  `name: a tenant ${id} was deleted and left ${remains}, which a new one would get; delete them ` +
  'first, or take another name'

const list = route('GET /api/v1/tenants', {
  needs: 'system',
  summary: 'All tenants, without keys',
  query: Name,
  responses: { 200: { description: 'Tenants', schema: Type.Array(TenantJson) } },
  ports: ['tenants'],
  handle: ({ ports, query }) => success(named(ports.tenants.list(), query)),
})

const remove = route('DELETE /api/v1/tenants/{id}', {
  needs: 'system',
  summary: 'Remove the record of a tenant and end its key; what it owns stays',
  details:
    'Nothing is deleted with it: its pools and services are answered as before, and a new tenant ' +
    'of the same id is refused until its accounts, roles, alert channels and configuration are ' +
    'gone. Its alert channels are turned off.',
  responses: { 204: { description: 'It is gone', schema: null } },
  takesDryRun: true,
  refusalBodies: { 409: ConflictBody },
  ports: ['identities', 'tenants', 'tenantKeys', 'alerts', 'clock'],
  handle: async ({ caller, ports, params, requestId, isDryRun, request }) => {
    if (params.id === defaultTenant) return refused(409, 'the tenant default always exists')
    const subject = subjectOf(request.header(subjectHeader))
    if (!subject.ok) return subject.error
    const origin = { caller, requestId, isDryRun, ...subject.value }
    const removed = await ports.tenants.remove(params.id, origin)
    if (!removed.ok) return removed.error
    if (isDryRun) return noContent()
    const ended = await ports.tenantKeys.remove(params.id)
    ports.identities.forget()
    if (!ended.ok) return storeFailed(ended.error)
    const fault = await turnOffChannels(params.id, ports)
    return fault === undefined ? noContent() : storeFailed(fault)
  },
})

export const tenantRoutes = Object.freeze([create, list, remove])

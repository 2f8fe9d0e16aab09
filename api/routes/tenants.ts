// /api/v1/tenants: the tenants of this installation, for system administrators.
import { randomBytes } from 'node:crypto'
import { Type } from '#lib/schema/type.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { namePattern } from '#lib/text/patterns.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import { tokenHash } from '#access/auth/policy.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { subjectOf } from '#api/config/writes.ts'
import type { Ports } from '#ports/ports.ts'
import { Name, named } from '#http/paging.ts'
import { created, missing, noContent, refused, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { ConflictBody, UnixSeconds, closed } from '#http/shapes.ts'
import { storeFailed, storedGone } from '#http/store-reply.ts'
import { subjectHeader } from '#http/write-headers.ts'

const route = routesOf({ tag: 'Tenants' })

/** The fields of a tenant. */
const rpsLimitDefault = 1_000

const TenantJson = Type.Object(
  { id: Type.String(), name: Type.String(), rpsLimit: Type.Integer(), createdAt: UnixSeconds },
  { title: 'Tenant' },
)

const ApiKey = Type.String({ description: '64 hexadecimal digits; in this answer only' })

const create = route('POST /api/v1/tenants', {
  needs: 'system',
  licensed: 'extra-tenants',
  summary: 'Create a tenant (enterprise tier); its API key is shown this once',
  body: closed({
    name: Type.String({
      minLength: 1,
      maxLength: 63,
      pattern: namePattern,
      'x-expected': 'a text on one line of 1 to 63 characters, not of blanks alone',
    }),
    rpsLimit: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: rpsLimitDefault }),
    ),
  }),
  responses: {
    201: {
      description: 'The tenant and its API key, of which only the hash is kept',
      schema: Type.Object({ tenant: TenantJson, apiKey: ApiKey }),
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
    const apiKey = await giveKey(id, ports)
    if (apiKey.ok) return created({ tenant: tenant.value, apiKey: apiKey.value })
    // Its creation failed: it must not block its id.
    await ports.tenants.remove(id, origin)
    return storeFailed(apiKey.error)
  },
})

/** The key that the tenant had ends. @returns the new one, of which only the hash is kept */
async function giveKey(
  id: string,
  { tenantKeys, clock }: Ports<'tenantKeys' | 'clock'>,
): Promise<Result<string, StoreFailure<string>>> {
  const apiKey = randomBytes(32).toString('hex')
  const kept = await tenantKeys.put(id, tokenHash(apiKey), clock.nowMs())
  return kept.ok ? ok(apiKey) : kept
}

const renewKey = route('POST /api/v1/tenants/{id}/key', {
  needs: 'system',
  summary: 'Give a tenant a new API key, which is shown this once; the one before ends',
  details:
    'Also for a tenant that has none: one that is declared in Git, one that came back by a ' +
    'revert, and `default`. The key before ends at once on this node, and within five seconds on ' +
    'the others.',
  responses: {
    201: {
      description: 'The API key, of which only the hash is kept',
      schema: Type.Object({ apiKey: ApiKey }),
    },
  },
  ports: ['identities', 'tenants', 'tenantKeys', 'clock'],
  handle: async ({ ports, params: { id } }) => {
    if (ports.tenants.find(id) === undefined) return missing('tenant')
    const apiKey = await giveKey(id, ports)
    ports.identities.forget()
    if (!apiKey.ok) return storeFailed(apiKey.error)
    if (ports.tenants.find(id) !== undefined) return created({ apiKey: apiKey.value })
    // It was deleted meanwhile, with the key before: a revert must not bring this one back.
    const ended = await ports.tenantKeys.remove(id)
    return ended.ok ? missing('tenant') : storeFailed(ended.error)
  },
})

const endKey = route('DELETE /api/v1/tenants/{id}/key', {
  needs: 'system',
  summary: 'End the API key of a tenant, also where a commit has deleted the tenant',
  responses: { 204: { description: 'It is ended', schema: null } },
  ports: ['identities', 'tenantKeys'],
  handle: async ({ ports, params }) => {
    const ended = await ports.tenantKeys.remove(params.id)
    ports.identities.forget()
    return storedGone(ended, 'tenant with an API key')
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

export const tenantRoutes = Object.freeze([create, list, remove, renewKey, endKey])

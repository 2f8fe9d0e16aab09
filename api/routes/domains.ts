// /api/v1/domains: domains that owners have delegated to this cluster, and their checks.
import { Type } from '#lib/schema/type.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import { findObject, listObjects } from '#api/config/reads.ts'
import { remove } from '#api/config/writes.ts'
import { apiLimits } from '#http/limits.ts'
import { NamedPaging, pageByName } from '#http/paging.ts'
import { later, missing, success } from '#http/reply.ts'
import { storeFailed } from '#http/store-reply.ts'
import { unixSeconds } from '#http/shapes.ts'
import {
  DelegatedDomain,
  NewDelegatedDomain,
  claimOf,
  isPlainDomain,
  plainDomain,
  showDomain,
} from '#api/domains/domain-json.ts'

type Entry = ConfigEntry<'DelegatedDomain'>

const domains = objectRoutes({
  kind: 'DelegatedDomain',
  path: '/api/v1/domains',
  tag: 'Delegated domains',
  noun: 'domain',
  absent: 'delegated domain',
  reads: 'domain:read',
  writes: 'domain:write',
  schema: DelegatedDomain,
  show: (_, entry) => showDomain(entry, undefined),
})

const list = domains.route('GET /api/v1/domains', {
  needs: 'domain:read',
  summary: 'All delegated domains, with what their last check found',
  details:
    'Each is checked every `domains.verifyInterval` by one node: the servers of its parent are ' +
    'asked for its NS and DS records, and its name servers whether they serve it.',
  query: NamedPaging,
  responses: { 200: { description: 'Delegated domains', schema: Type.Array(DelegatedDomain) } },
  ports: ['config', 'domains'],
  handle: async (context) => {
    const shown: Entry[] = []
    const page = pageByName(listObjects(context, 'DelegatedDomain'), context.query, (entry) => {
      shown.push(entry)
      return entry
    })
    if (page.status !== 200 || shown.length === 0) return page
    const found = await context.ports.domains.results(shown.map(({ uid }) => uid))
    if (!found.ok) return storeFailed(found.error)
    const body = shown.map((entry) => showDomain(entry, found.value.get(entry.uid)))
    return { ...page, body }
  },
})

const create = domains.create({
  summary: 'Register a delegated domain',
  details:
    'A domain is registered once, by one tenant; case and the trailing dot make no ' +
    'difference, and the name must be the tenant’s or free: nothing of others is at it, above ' +
    'it or below it. It is checked within half a minute, and at once by `verify`.',
  body: NewDelegatedDomain,
  ports: ['config', 'clock'],
  operation: ({ caller: { tenant }, ports, body }) => {
    const nowMs = ports.clock.nowMs()
    const domain = plainDomain(body.domain)
    const uid = uuidV7(nowMs)
    const isFree = ports.config.snapshot().find('DelegatedDomain', tenant, domain) === undefined
    return {
      ...({ verb: 'create', kind: 'DelegatedDomain', tenant, uid } as const),
      name: isFree && isPlainDomain(domain) ? domain : `domain-${uid}`,
      spec: { domain, createdAt: unixSeconds(nowMs) },
    }
  },
})

const verify = domains.route('POST /api/v1/domains/{id}/verify', {
  needs: 'domain:write',
  summary: 'Check a delegated domain now',
  details:
    'It takes as long as the servers do, at most some ten seconds. 429 after ' +
    `${apiLimits.domainChecks.burst} of a tenant in a row; 503 while four of it run, or eight in all.`,
  responses: { 200: { description: 'The domain, checked', schema: DelegatedDomain } },
  refusals: [429],
  ports: ['config', 'domainChecks', 'domains'],
  handle: async (context) => {
    const entry = findObject(context, 'DelegatedDomain', context.params.id)
    if (entry === undefined) return missing('delegated domain')
    const waitMs = context.ports.domainChecks.take(entry.tenant)
    if (waitMs > 0) return later(429, 'too many checks of domains: wait', waitMs / 1_000)
    const found = await context.ports.domains.verify(claimOf(entry))
    if (found.ok) return success(showDomain(entry, found.value))
    if (found.error !== 'busy') return storeFailed(found.error)
    return later(503, 'other domains are being checked already: try again in a moment', 5)
  },
})

const removeDomain = domains.route('DELETE /api/v1/domains/{id}', {
  needs: 'domain:write',
  summary: 'Delete a delegated domain; the records in its parent stay',
  details: '409 names the records that the tenant could no longer write without it.',
  responses: { 204: { description: 'It is gone', schema: null } },
  ifMatch: 'the domain',
  ports: ['config', 'configWriter', 'domains', 'log'],
  handle: async (context) => {
    const { ports, isDryRun } = context
    const found = domains.toChange(context, context.params.id)
    if (!found.ok) return found.error
    const { item, on, condition } = found.value
    const reply = await remove(context, { verb: 'delete', ...on, ...condition })
    // A result that stays in the store belongs to no object, and expires.
    if (reply.status === 204 && !isDryRun) await ports.domains.forget([item.uid])
    return reply
  },
})

export const domainRoutes = Object.freeze([list, create, verify, removeDomain])

// /api/v1/history: what commits changed, and how to take one back; also the history of a pool.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { closed } from '#http/shapes.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { historyLimits } from '#config/history.ts'
import type { CommitChange, HistoryFault, HistoryPage } from '#config/history.ts'
import type { Operation } from '#config/operation.ts'
import { readRecords } from '#compiler/values/record-sets.ts'
import { unverifiedRefusal } from '#api/domains/record-rights.ts'
import { revertOperations } from '#config/revert.ts'
import { kinds } from '#schemas/kinds.ts'
import { visibleTenant } from '#access/caller.ts'
import { operationsRefusal } from '#api/config/operation-rights.ts'
import { findObject } from '#api/config/reads.ts'
import { writeAll } from '#api/config/writes.ts'
import {
  HistoryDetail,
  HistoryEntry,
  Reverted,
  showChange,
  showCommit,
  showHeld,
} from '#api/history/history-json.ts'
import type { Fates } from '#api/history/history-json.ts'
import { created, later, missing, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'
import { scriptCheckRefusal } from './healthcheck.ts'
import { chainRefusal } from './services.ts'

const route = routesOf({ tag: 'History' })
const pageDefault = 100

const Page = closed({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, description: 'Commits in one answer, at most.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{40}$',
      'x-form': 'is none that an answer of this list has given',
      description: 'From the header X-Next-Cursor of the answer before.',
    }),
  ),
})
type Page = Static<typeof Page>

const Seconds = Type.Integer({ minimum: 0, maximum: 1e11 })
const Asked = closed({
  ...Page.properties,
  object: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Its id or name: commits that changed it. It may be gone.',
    }),
  ),
  from: Type.Optional(
    Type.Integer({ ...Seconds, description: 'Unix seconds: commits of then and later.' }),
  ),
  to: Type.Optional(Type.Integer({ ...Seconds, description: 'Unix seconds: commits before.' })),
})
type Asked = Static<typeof Asked>

type Context = Pick<RouteContext<'view' | 'history' | 'commitFates'>, 'caller' | 'ports'>
type RevertContext = Pick<
  RouteContext<'config' | 'licence' | 'checkPolicy' | 'domains' | 'clock'>,
  'caller' | 'ports'
>

async function fatesOf({ ports }: Context, commits: readonly string[]): Promise<Fates> {
  const activations = await ports.commitFates.activationsOf(commits)
  return { active: ports.view.gitops().active, activations }
}

/**
 * Adds held commits to a page by time. Only callers who see everything get them, since their
 * content was not examined.
 */
async function withHeld(
  { caller, ports }: Context,
  { commits, beforeSeconds, fromSeconds }: HistoryPage,
  fates: Fates,
): Promise<readonly Shown[]> {
  const shown = commits.map((commit) => showCommit(commit, fates))
  if (visibleTenant(caller) !== null) return shown
  const known = new Set(shown.map(({ commit }) => commit))
  const held = (await ports.commitFates.heldCommits())
    .filter(({ commit }) => !known.has(commit))
    .map(showHeld)
    .filter(({ time }) => time < (beforeSeconds ?? Infinity) && time >= (fromSeconds ?? 0))
    .toSorted((a, b) => b.time - a.time)
  // The order of Git is kept.
  const merged: Shown[] = []
  for (const commit of shown) {
    while ((held[0]?.time ?? -1) >= commit.time) merged.push(held.shift()!)
    merged.push(commit)
  }
  return [...merged, ...held]
}

type Shown = ReturnType<typeof showCommit> | ReturnType<typeof showHeld>

const shortened =
  'there is no such commit: this is a part of an id; write all 40 digits, as GET ' +
  '/api/v1/history and git rev-parse have them'

function failed(fault: HistoryFault, commit = ''): Reply {
  if (fault === 'not-found') {
    const isShort = /^[0-9a-f]{4,39}$/i.test(commit)
    return isShort ? refused(404, shortened) : missing('commit')
  }
  const why =
    fault === 'busy' ? 'too many ask for the history' : 'the history cannot be read at the moment'
  return later(503, `${why}: try again in a moment`, 1)
}

async function page(context: Context, asked: Asked): Promise<Reply> {
  const { caller, ports } = context
  const { limit, cursor = '', object = '', from = 0, to = Infinity } = asked
  const found = await ports.history.list({
    ...{ tenant: visibleTenant(caller), object, after: cursor },
    ...{ fromSeconds: from, beforeSeconds: to },
    commitsMax: limit ?? pageDefault,
  })
  if (!found.ok) return failed(found.error)
  const { commits, next } = found.value
  const fates = await fatesOf(
    context,
    commits.map(({ commit }) => commit),
  )
  const shown =
    object === '' && from === 0 && to === Infinity
      ? await withHeld(context, found.value, fates)
      : commits.map((commit) => showCommit(commit, fates))
  return success(shown, next === '' ? {} : { 'x-next-cursor': next })
}

const list = route('GET /api/v1/history', {
  needs: 'history:read',
  summary: 'Commits of the accepted configuration that changed something of yours, newest first',
  details:
    'Each commit is compared with its first parent. One question looks at ' +
    `${historyLimits.walkedMax} commits and some ${historyLimits.filesMax} files or ` +
    `${historyLimits.bytesMax / 1024 / 1024} MiB at most: a page ` +
    'may have less than `limit`, even none, while there is a cursor. System administrators also ' +
    'see held commits, by their time, where neither an object nor a time is asked for.',
  query: Asked,
  responses: { 200: { description: 'Commits', schema: Type.Array(HistoryEntry) } },
  refusals: [404],
  ports: ['view', 'history', 'commitFates'],
  handle: (context) => page(context, context.query),
})

const ofPool = route('GET /api/v1/pools/{id}/history', {
  needs: 'history:read',
  summary: 'Commits that changed a pool, with its members, rules and health check',
  query: Page,
  responses: { 200: { description: 'Commits', schema: Type.Array(HistoryEntry) } },
  ports: ['view', 'config', 'history', 'commitFates'],
  handle: (context) => {
    const pool = findObject(context, 'Pool', context.params.id)
    return pool === undefined
      ? missing('pool')
      : page(context, { ...context.query, object: pool.uid })
  },
})

const get = route('GET /api/v1/history/{commit}', {
  needs: 'history:read',
  summary: 'What a commit changed, object by object and field by field',
  responses: { 200: { description: 'The commit', schema: HistoryDetail } },
  ports: ['view', 'history', 'commitFates'],
  handle: async (context) => {
    const { caller, ports, params } = context
    const found = await ports.history.changeOf(params.commit, visibleTenant(caller))
    if (!found.ok) return failed(found.error, params.commit)
    const { commit } = found.value
    return success(showChange(found.value, await fatesOf(context, [commit])))
  },
})

const revert = route('POST /api/v1/history/{commit}/revert', {
  needs: 'history:write',
  summary: 'Take back what a commit changed, in a new commit',
  details:
    'Fields, members and rules that it changed get their values from before; other changes stay. ' +
    '409 names what was changed since and stands in the way. What that writes needs its own ' +
    'permissions, too, such as `pool:write`. Of a commit that changed objects of ' +
    'several tenants, a tenant takes back its own part.',
  responses: { 201: { description: 'The new commit', schema: Reverted, hasRevision: true } },
  takesDryRun: true,
  ports: ['config', 'configWriter', 'history', 'licence', 'checkPolicy', 'domains', 'clock', 'log'],
  handle: async (context) => {
    const { caller, ports, params } = context
    const found = await ports.history.changeOf(params.commit, visibleTenant(caller))
    if (!found.ok) return failed(found.error, params.commit)
    const { parent, changes, commit, isCut } = found.value
    if (parent === null) {
      return refused(409, 'this is the first commit: there is nothing before it to go back to')
    }
    if (isCut) return refused(409, 'it changed more than the API takes back: use Git')
    const refusal =
      restoreRefusal(context, found.value) ?? (await recordsRefusal(context, found.value))
    if (refusal !== undefined) return refusal
    const operations = revertOperations(changes, ports.config.snapshot())
    if (!operations.ok) {
      const named = operations.error.slice(0, 5).join('; ')
      return refused(409, `later changes stand in the way: ${named}`)
    }
    if (operations.value.length === 0) return refused(409, 'it has been taken back already')
    const forbidden = operationsRefusal(caller, operations.value)
    if (forbidden !== null) return forbidden
    const byHand = operations.value.map((operation) => asByHand(operation, context))
    const done = await writeAll(context, byHand, { reverts: commit })
    if (!done.ok) {
      const isOverrun = done.error.status === 412
      return isOverrun ? refused(409, 'somebody else has just changed the same') : done.error
    }
    const { revision, headers } = done.value
    return created({ commit: revision, reverts: commit }, headers)
  },
})

/** Restoring an object needs the same permission as creating it. */
function restoreRefusal(context: RevertContext, { changes }: CommitChange): Reply | undefined {
  const { licence } = context.ports
  for (const { kind, before, after, change } of changes) {
    if (before === null) continue
    const feature = change === 'deleted' ? kinds[kind].feature : undefined
    const unlicensed = feature === undefined ? undefined : licence.refusal(feature)
    if (unlicensed !== undefined) return refused(403, unlicensed)
    const refusal =
      kind === 'Service'
        ? serviceRefusal(context, before as Service)
        : kind === 'Pool'
          ? poolRefusal(context, before as Pool, after as Pool | null)
          : undefined
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** Restored records and domains are checked as new ones. */
async function recordsRefusal(
  context: RevertContext,
  { changes }: CommitChange,
): Promise<Reply | undefined> {
  const back = changes.flatMap(({ before }) => (before === null ? [] : [before]))
  const domains = back.filter((entry): entry is Domain => entry.kind === 'DelegatedDomain')
  for (const { kind, tenant, object } of back) {
    if (kind !== 'Records') continue
    const { rrsets } = readRecords((object as Records['object']).spec)
    const names = rrsets.map(({ name }) => name)
    const refusal = await unverifiedRefusal(context, tenant, names, domains)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

type Domain = ConfigEntry<'DelegatedDomain'>
type Records = ConfigEntry<'Records'>
type Service = ConfigEntry<'Service'>
type Pool = ConfigEntry<'Pool'>

function serviceRefusal(context: RevertContext, { uid, object }: Service): Reply | undefined {
  const { filterChain = [] } = object.spec
  const now = context.ports.config.snapshot().get('Service', uid)?.object.spec.filterChain ?? []
  return chainRefusal(context, { filterChain }, now)
}

function poolRefusal(context: RevertContext, before: Pool, after: Pool | null): Reply | undefined {
  const { healthCheck, geoRules, members } = before.object.spec
  const { licence } = context.ports
  const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
  if (healthCheck !== undefined && !isSame(healthCheck, after?.object.spec.healthCheck)) {
    const refusal = scriptCheckRefusal(context, healthCheck)
    if (refusal !== undefined) return refusal
  }
  const left = new Set(after?.object.spec.geoRules.map((rule) => JSON.stringify(rule)))
  const hasRules = geoRules.some((rule) => !left.has(JSON.stringify(rule)))
  const unlicensed = hasRules ? licence.refusal('geo-rules') : undefined
  if (unlicensed !== undefined) return refused(403, unlicensed)
  const most = after === null ? licence.memberLimit() : undefined
  return most !== undefined && members.length > most.membersMax
    ? refused(403, most.refusal)
    : undefined
}

/** A restored member is treated as a new one; its rollouts and windows are respected. */
function asByHand(operation: Operation, { ports }: RevertContext): Operation {
  const { kind, verb } = operation
  if (kind !== 'Member' || (verb !== 'create' && verb !== 'update')) return operation
  const timed = { ...operation, atMs: ports.clock.nowMs() }
  const most = verb === 'create' ? ports.licence.memberLimit() : undefined
  if (most === undefined) return timed
  return { ...timed, limit: { partsMax: most.membersMax, message: most.refusal } } as Operation
}

export const historyRoutes = Object.freeze([list, get, revert, ofPool])

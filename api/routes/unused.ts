// /api/v1/unused: objects that no query has used for a while, and TTLs that do not fit how often
// answers change.
import { Type } from '#lib/schema/type.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import { visibleTenant } from '#access/caller.ts'
import { checkName } from '#compiler/values/names.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { adviseTtl } from '#api/use/ttl-advice.ts'
import { Unused, candidates, unusedSince } from '#api/use/unused.ts'
import type { Candidate, TtlAdvice, UnusedObject } from '#api/use/unused.ts'
import { success } from '#http/reply.ts'
import { route } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'
import { storeFailed } from '#http/store-reply.ts'
import { closed, unixSeconds } from '#http/shapes.ts'
import { useLimits } from '#state/ports/object-use.ts'
import type { UseRecord } from '#state/ports/object-use.ts'

const dayMs = 86_400_000
const daysDefault = 30
/** Objects in one response. */
const listedMax = 10_000
/** Pages of the history that a request reads. */
const historyPagesMax = 5
const historyPage = 500

const Query = closed({
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 365, description: 'The window. Without it: 30.' }),
  ),
})

const list = route('GET /api/v1/unused', {
  needs: 'usage:read_own',
  tag: 'Usage',
  summary: 'Names, members, rules and redirects that no query has used for 30 days; TTLs to change',
  details:
    'Nodes tell each five minutes what their answers have used. An object is called unused when ' +
    'all nodes have counted, and it was in the configuration, for the whole window. `unknown` ' +
    'says what is not counted. Response rules are shown to whoever sees all tenants.',
  query: Query,
  responses: { 200: { description: 'What is unused', schema: Unused } },
  ports: ['config', 'history', 'objectUse', 'cluster', 'clock'],
  handle: async (context) => {
    const { ports, query } = context
    const days = query.days ?? daysDefault
    const nowMs = ports.clock.nowMs()
    const fromMs = nowMs - days * dayMs
    const read = await ports.objectUse.read(fromMs)
    if (!read.ok) return storeFailed(read.error)
    const record = read.value
    const { unknown, sinceMs } = await coverage(context, record, nowMs)
    const isWhole = sinceMs !== null && sinceMs <= fromMs && !unknown.some(isNode)
    const gaps = ports.objectUse.gaps()
    const isKnown = ({ kind }: Candidate): boolean =>
      (kind === 'redirect' ? gaps.redirects : gaps.names) === ''
    const unused: UnusedObject[] = []
    let used = 0
    for (const candidate of candidates(ports.config.snapshot(), context.caller)) {
      if (!isWhole || !isKnown(candidate)) continue
      const found = unusedSince(candidate, record, fromMs)
      if (found !== null) unused.push(found)
      else if ((record.objects.get(candidate.key)?.usedMs ?? 0) >= fromMs) used++
    }
    const ttls = sinceMs === null ? [] : await advice(context, record, Math.max(sinceMs, fromMs))
    return success({
      ...{
        days,
        from: unixSeconds(fromMs),
        countedSince: sinceMs === null ? null : unixSeconds(sinceMs),
      },
      ...{ isWhole, unknown, used, unused: unused.slice(0, listedMax) },
      ...{ unusedLeftOut: Math.max(0, unused.length - listedMax), ttls: ttls.slice(0, listedMax) },
    })
  },
})

const isNode = ({ what }: { readonly what: string }): boolean => what.startsWith('node ')

/** Since when all nodes have counted, and which nodes have not. */
async function coverage(
  { ports }: RouteContext<'objectUse' | 'cluster'>,
  { nodes }: UseRecord,
  nowMs: number,
) {
  const unknown: { what: string; reason: string }[] = []
  const gaps = ports.objectUse.gaps()
  if (gaps.names !== '') unknown.push({ what: 'names, members and rules', reason: gaps.names })
  if (gaps.redirects !== '') unknown.push({ what: 'redirects', reason: gaps.redirects })
  unknown.push({ what: 'geo rules', reason: 'nothing counts which of them decided' })
  const known = new Map(nodes.map((one) => [one.node, one]))
  for (const { node, untilMs, isStopped } of nodes) {
    if (isStopped || nowMs - untilMs <= useLimits.silentMsMax) continue
    const since = new Date(untilMs).toISOString()
    unknown.push({ what: `node ${node}`, reason: `it has told nothing since ${since}` })
  }
  for (const { name, role } of await ports.cluster.nodes()) {
    if (known.has(name)) continue
    const reason =
      role === 'control'
        ? 'it has told nothing yet'
        : `nodes of the role ${role} do not tell what their answers use`
    unknown.push({ what: `node ${name}`, reason })
  }
  const sinceMs = nodes.length === 0 ? null : Math.max(...nodes.map((one) => one.sinceMs))
  return { unknown, sinceMs }
}

async function advice(
  context: RouteContext<'config' | 'history' | 'clock'>,
  { changes }: UseRecord,
  fromMs: number,
): Promise<readonly TtlAdvice[]> {
  const { ports, caller } = context
  const snapshot = ports.config.snapshot()
  const windowSeconds = unixSeconds(ports.clock.nowMs() - fromMs)
  const commits = await commitsByObject(context, unixSeconds(fromMs))
  const tenant = visibleTenant(caller)
  const found: TtlAdvice[] = []
  for (const service of snapshot.list('Service')) {
    const { domain, ttl, pool: poolName } = service.object.spec
    if ((tenant !== null && service.tenant !== tenant) || poolName === null) continue
    const pool = snapshot.find('Pool', service.tenant, poolName)
    if (pool === undefined) continue
    const healthChanges = healthChangesOf(pool, changes)
    const changed = commits === null ? null : union(commits.get(service.uid), commits.get(pool.uid))
    const advisedTtl = adviseTtl({
      ...{ ttlSeconds: ttl, windowSeconds },
      changes: healthChanges + (changed ?? 0),
      isProbed: pool.object.spec.healthCheck !== null,
    })
    // A TTL is not called too short when commits may have changed the answer.
    if (advisedTtl === null || (advisedTtl > ttl && changed === null)) continue
    const name = checkName(domain, true).key ?? domain
    const { uid: id, path } = service
    const what = { id, name, tenant: service.tenant, path }
    found.push({ ...what, ttl, advisedTtl, healthChanges, commits: changed })
  }
  return found
}

function healthChangesOf(pool: ConfigEntry<'Pool'>, changes: UseRecord['changes']): number {
  return partsIn('Member', pool).reduce((sum, { uid }) => sum + (changes.get(uid) ?? 0), 0)
}

/** @returns commits by uid; null: there are too many, or they cannot be read */
async function commitsByObject(
  { ports, caller }: RouteContext<'history'>,
  fromSeconds: number,
): Promise<ReadonlyMap<string, ReadonlySet<string>> | null> {
  const found = new Map<string, Set<string>>()
  let after = ''
  for (let page = 0; page < historyPagesMax; page++) {
    const read = await ports.history.list({
      ...{ tenant: visibleTenant(caller), object: '', after, commitsMax: historyPage },
      ...{ fromSeconds, beforeSeconds: Infinity },
    })
    if (!read.ok) return null
    for (const { commit, objects } of read.value.commits) {
      for (const { uid } of objects) {
        getOrInsert(found, uid, () => new Set()).add(commit)
      }
    }
    after = read.value.next
    if (after === '') return found
  }
  return null
}

const union = (a: ReadonlySet<string> = new Set(), b: ReadonlySet<string> = new Set()): number =>
  a.union(b).size

export const unusedRoutes = Object.freeze([list])

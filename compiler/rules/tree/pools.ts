// Checks pools against the services that name them.
import { endOfAliases, leadsOutside, lookedUpZoneOf } from '#compiler/lower/record-lookup.ts'
import { neededFamilyOf } from '#compiler/redundancy/pool-demand.ts'
import { fallbackPoolOf, namedPoolsOf } from '#compiler/tree/fallback.ts'
import { placeIn, valueIn } from '#compiler/tree/tree.ts'
import type { Entry, Tree, TreeReport } from '#compiler/tree/tree.ts'
import { hostnameKey, isHostname, targetOf } from '#compiler/values/member-target.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { suggest } from '#lib/suggest.ts'
import type { RuleSubject, TreeRule } from './tree-rule.ts'

/** Checks that the pools of a service exist and belong to its tenant. */
export const poolReferences: TreeRule = ({ tree }, report) => {
  const namesOf = new Map<string, string[]>()
  for (let i = 0; i < tree.of.Service.length; i++) {
    const entry = tree.of.Service[i]!
    // Most services name one pool, which exists.
    const isUsual = tree.poolOf[i]?.tenant === entry.tenant
    if (isUsual && fallbackPoolOf(entry.object.spec) === undefined) continue
    for (const reference of referencesOf(entry)) {
      if (isKnown(tree, entry.tenant, reference.name)) continue
      let names = namesOf.get(entry.tenant)
      if (names === undefined) {
        names = tree.of.Pool.filter(({ tenant }) => tenant === entry.tenant).map(poolName)
        namesOf.set(entry.tenant, names)
      }
      reportMissing(tree, entry, reference, names, report)
    }
  }
}

interface Reference {
  readonly field: 'pool' | 'onAllDown'
  readonly name: string
}

function referencesOf({ object: { spec } }: Entry<'Service'>): readonly Reference[] {
  const { pool } = spec
  const fallback = fallbackPoolOf(spec)
  const own: readonly Reference[] = pool === null ? [] : [{ field: 'pool', name: pool }]
  return fallback === undefined ? own : [...own, { field: 'onAllDown', name: fallback }]
}

function isKnown(tree: Tree, tenant: string, name: string): boolean {
  if (tree.poolNamed.get(name)?.tenant === tenant) return true
  // The file of the pool has its own message; one mistake gives one finding.
  return tree.faulty.poolNames.has(`${tenant}/${name}`) || tree.faulty.anyPool.has(tenant)
}

function reportMissing(
  tree: Tree,
  entry: Entry<'Service'>,
  { field, name }: Reference,
  names: readonly string[],
  report: TreeReport,
): void {
  const at = valueIn(entry, 'spec', field)
  const elsewhere = tree.poolNamed.get(name)
  // A name used by two tenants is reported where it is declared twice.
  if (names.includes(name)) return
  if (elsewhere === undefined) {
    report('pool-unknown', at, { args: [name, entry.tenant], suggestion: suggest(name, names) })
    return
  }
  const args = [name, entry.tenant]
  const other = valueIn(elsewhere, 'metadata', 'name')
  report('pool-of-other-tenant', at, { args, other, suggestion: suggest(name, names) })
}

function poolName(entry: Entry<'Pool'>): string {
  return entry.object.metadata.name
}

/** Counts over all trees: marks left by another tree are void. */
let rounds = 0

/** Finds pools that no service uses. */
export const poolsUsed: TreeRule = ({ tree }, report) => {
  // A service that could not be read may use the pool.
  if (tree.faulty.services) return
  const round = ++rounds
  // Marks pools instead of making a set: a set of many thousand names would be garbage each time.
  const others = new Set<string>()
  for (let i = 0; i < tree.of.Service.length; i++) {
    const { spec } = tree.of.Service[i]!.object
    const fallback = fallbackPoolOf(spec)
    const pool = tree.poolOf[i]
    if (pool !== undefined) pool.derived.usedInRound = round
    else if (spec.pool !== null) others.add(spec.pool)
    if (fallback !== undefined) others.add(fallback)
  }
  let meant: ReadonlySet<string> | undefined
  for (const entry of tree.of.Pool) {
    if (entry.derived.usedInRound === round) continue
    const { name } = entry.object.metadata
    // The first of several pools with one name carries the mark.
    if (others.has(name) || tree.poolNamed.get(name)?.derived.usedInRound === round) continue
    meant ??= misspelt(tree, others)
    if (meant.has(name)) continue
    report('pool-unused', valueIn(entry, 'metadata', 'name'), { args: [name] })
  }
}

/** More unknown names than this are not typing mistakes. */
const slipsMax = 20

/**
 * Pools that an unknown name was probably meant for: the name has its own message.
 *
 * @param used all names that services use, or at least those that no pool has
 */
function misspelt(tree: Tree, used: ReadonlySet<string>): ReadonlySet<string> {
  const unknown: string[] = []
  for (const name of used) if (!tree.poolNamed.has(name)) unknown.push(name)
  if (unknown.length === 0) return new Set()
  const known = tree.of.Pool.map(({ object }) => object.metadata.name)
  const near = unknown.slice(0, slipsMax).map((name) => suggest(name, known))
  return new Set(near.filter((name) => name !== undefined))
}

/** Checks that a fallback pool is another pool and has members to answer with. */
export const fallbackPools: TreeRule = ({ tree }, report) => {
  for (const entry of tree.of.Service) {
    const { spec } = entry.object
    const name = fallbackPoolOf(spec)
    if (name === undefined) continue
    const at = valueIn(entry, 'spec', 'onAllDown')
    const pool = tree.poolNamed.get(name)
    if (name === spec.pool) report('fallback-pool-same', at, { args: [name] })
    else if (pool?.tenant !== entry.tenant) continue
    else if (pool.object.spec.members.length === 0) {
      report('fallback-pool-empty', at, { args: [name] })
    } else if (spec.weakSpots) {
      const from = spec.pool === null ? undefined : tree.poolNamed.get(spec.pool)
      const why = whyNowhere(pool, from)
      if (why !== undefined) report('fallback-ends-nowhere', at, { args: [name, why] })
    }
  }
}

/**
 * Says why the fallback cannot answer when it is needed. Disabled members and too few for
 * `minHealthy` have their own findings.
 *
 * @param from the pool that has no member left
 */
function whyNowhere(
  { object: { spec } }: Entry<'Pool'>,
  from: Entry<'Pool'> | undefined,
): string | undefined {
  const enabled = spec.members.filter((member) => member.enabled)
  if (from === undefined || enabled.length === 0) return undefined
  const { noun, has } = neededFamilyOf(from)
  if (!enabled.some(has)) return `it has no ${noun}`
  // A pool without probes counts as healthy, which may be intended.
  if (spec.healthCheck === undefined) return undefined
  const first = new Set(from.object.spec.members.map(targetOf))
  if (!enabled.every((member) => first.has(targetOf(member)))) return undefined
  return `each of its members is one of "${from.object.metadata.name}", too`
}

/** Checks pools with host names: no alias at an apex, no loop, no look-up of a name of ours. */
export const hostnameMembers: TreeRule = (subject, report) => {
  const pools = subject.tree.of.Pool.filter(hasHostname)
  if (pools.length === 0) return
  checkServices(subject, report)
  checkLoops(subject, pools, report)
  for (const pool of pools) checkLookups(subject, pool, report)
}

/** Computed once per content of the file. */
function hasHostname({ file, object }: Entry<'Pool'>): boolean {
  return (file.memo.hasHostname ??= object.spec.members.some(isHostname))
}

function checkServices({ tree, zones }: RuleSubject, report: TreeReport): void {
  for (const [i, entry] of tree.of.Service.entries()) {
    const { spec } = entry.object
    const pool = spec.pool === null ? undefined : tree.poolNamed.get(spec.pool)
    if (pool?.tenant !== entry.tenant) continue
    const { answer } = pool.object.spec
    const { domainKey } = entry.file
    const zone = zones?.zones[zones.zoneOfService[i]!]
    if (answer === 'cname' && domainKey !== undefined && zone?.name === domainKey) {
      report('cname-pool-at-apex', valueIn(entry, 'spec', 'domain'), {
        args: [domainKey, spec.pool!],
      })
    }
    const fallback = tree.poolNamed.get(fallbackPoolOf(spec) ?? '')
    if (fallback?.tenant !== entry.tenant) continue
    const other = fallback.object.spec.answer
    if (other === answer || fallback.object.spec.members.length === 0) continue
    report('cname-fallback-mixed', valueIn(entry, 'spec', 'onAllDown'), {
      args: [spec.pool!, answer, fallback.object.metadata.name, other],
    })
  }
}

/**
 * A member whose host name a service of ours answers, possibly through aliases, with the pools of
 * that service.
 */
interface Edge {
  readonly member: number
  readonly hostname: string
  readonly pools: readonly Entry<'Pool'>[]
}

interface Visit {
  readonly pool: Entry<'Pool'>
  readonly edges: readonly Edge[]
  edge: number
  /** The next pool of the edge to visit. */
  next: number
}

/** Visits each pool once, however the pools refer to each other. */
function checkLoops(
  subject: RuleSubject,
  pools: readonly Entry<'Pool'>[],
  report: TreeReport,
): void {
  const isOnPath = new Map<Entry<'Pool'>, boolean>()
  for (const start of pools) {
    const path: Visit[] = []
    const enter = (pool: Entry<'Pool'>): void => {
      isOnPath.set(pool, true)
      path.push({ pool, edges: edgesOf(subject, pool), edge: 0, next: 0 })
    }
    if (!isOnPath.has(start)) enter(start)
    for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
      const edge = at.edges[at.edge]
      const pool = edge?.pools[at.next++]
      if (edge === undefined) {
        isOnPath.set(at.pool, false)
        path.pop()
      } else if (pool === undefined) {
        at.edge++
        at.next = 0
      } else if (isOnPath.get(pool) === true) {
        const place = valueAt('spec', 'members', edge.member, 'hostname')
        report('hostname-loop', placeIn(at.pool, place), { args: [edge.hostname] })
        at.edge++
        at.next = 0
      } else if (!isOnPath.has(pool)) enter(pool)
    }
  }
}

function edgesOf({ tree, records }: RuleSubject, pool: Entry<'Pool'>): Edge[] {
  if (!hasHostname(pool)) return []
  const edges: Edge[] = []
  for (const [member, one] of pool.object.spec.members.entries()) {
    const hostname = one.hostname !== '' && isHostname(one) ? hostnameKey(one.hostname) : undefined
    if (hostname === undefined) continue
    const end = records === undefined ? hostname : endOfAliases(tree, records, hostname)
    const service = serviceFor(tree, end)
    if (service === undefined) continue
    const pools = namedPoolsOf(service.object.spec).flatMap((name) => {
      const named = tree.poolNamed.get(name)
      return named?.tenant === service.tenant ? [named] : []
    })
    edges.push({ member, hostname, pools })
  }
  return edges
}

/** Nodes ask a resolver for these names, also where they answer for them themselves. */
function checkLookups(subject: RuleSubject, pool: Entry<'Pool'>, report: TreeReport): void {
  const { tree, records } = subject
  const { answer, members } = pool.object.spec
  if (records === undefined || answer === 'cname') return
  const loops = edgesOf(subject, pool).filter(({ pools }) => pools.includes(pool))
  for (const [i, member] of members.entries()) {
    const hostname = isHostname(member) ? hostnameKey(member.hostname) : undefined
    const zone = hostname === undefined ? undefined : lookedUpZoneOf(records, hostname)
    if (hostname === undefined || zone === undefined) continue
    if (loops.some((loop) => loop.member === i)) continue
    const suggestion = leadsOutside(tree, records, hostname)
    const place = placeIn(pool, valueAt('spec', 'members', i, 'hostname'))
    report('hostname-in-own-zone', place, { args: [hostname, zone], suggestion })
  }
}

/** The service that answers a name: its own, or that of the nearest wildcard above. */
function serviceFor(tree: Tree, hostname: string): Entry<'Service'> | undefined {
  const own = tree.serviceAt.get(hostname)
  if (own !== undefined) return own
  for (const above of enclosingNames(hostname)) {
    const wildcard = tree.serviceAt.get(`*.${above}`)
    if (wildcard !== undefined) return wildcard
    // RFC 4592 section 3.3.1: a name that exists hides the wildcards above it.
    if (tree.serviceAt.has(above)) return undefined
  }
  return undefined
}

// Checks pools with host names against the services that use them: no alias at an apex, no loop.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { hostnameKey, isHostname } from '#compiler/values/member-target.ts'
import { endOfAliases } from '#compiler/lower/record-lookup.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { fallbackPoolOf, namedPoolsOf } from '#compiler/tree/fallback.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry, Tree, TreeReport } from '#compiler/tree/tree.ts'
import type { RuleSubject, TreeRule } from './tree-rule.ts'

export const hostnameMembers: TreeRule = {
  name: 'hostname-members',
  check(subject, report) {
    const pools = subject.tree.of.Pool.filter(hasHostname)
    if (pools.length === 0) return
    checkServices(subject, report)
    checkLoops(subject, pools, report)
  },
}

/** Worked out once for the content of the file. */
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
      report('cname-pool-at-apex', placeIn(entry, valueAt('spec', 'domain')), {
        args: [domainKey, spec.pool!],
      })
    }
    const fallback = tree.poolNamed.get(fallbackPoolOf(spec) ?? '')
    if (fallback?.tenant !== entry.tenant) continue
    const other = fallback.object.spec.answer
    if (other === answer || fallback.object.spec.members.length === 0) continue
    report('cname-fallback-mixed', placeIn(entry, valueAt('spec', 'onAllDown')), {
      args: [spec.pool!, answer, fallback.object.metadata.name, other],
    })
  }
}

/** A member whose host name a service of ours answers, maybe through aliases, with its pools. */
interface Edge {
  readonly member: number
  readonly hostname: string
  readonly pools: readonly Entry<'Pool'>[]
}

interface Visit {
  readonly pool: Entry<'Pool'>
  readonly edges: readonly Edge[]
  edge: number
  /** The next pool of the edge. */
  next: number
}

/** Each pool is walked over once, however they lead to each other. */
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
    const hostname = isHostname(one) ? hostnameKey(one.hostname) : undefined
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

/** The service that answers a name: its own, or the nearest wildcard above it. */
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

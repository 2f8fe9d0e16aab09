// Checks zones against their services: name servers, glue, SOA, and names in no zone.
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import { builtInNameserver } from '#compiler/lower/zone-plan.ts'
import type { ZonePlan } from '#compiler/lower/zone-plan.ts'
import { soaMinimumSecondsMax } from '#compiler/rules/object/zones.ts'
import { valueIn, keyIn } from '#compiler/tree/tree.ts'
import type { Entry, EntryPlace, Tree, TreeReport } from '#compiler/tree/tree.ts'
import { checkName } from '#compiler/values/names.ts'
import type { YamlPath } from '#diagnostics/diagnostic.ts'
import { enclosingNames, isInside } from '#dns/enclosing-names.ts'
import { RrType } from '#dns/rrtype.ts'
import { suggest } from '#lib/suggest.ts'
import { soaDefaults } from '#schemas/objects/zone.ts'
import type { Nameserver } from '#schemas/objects/zone.ts'
import type { RuleSubject, TreeRule } from './tree-rule.ts'

/**
 * Checks that a name server inside a zone has addresses there, and that no service has its name.
 */
export const nameserverGlue: TreeRule = (subject, report) => {
  if (subject.zones === undefined || subject.tree.settings === undefined) return
  const glue = checkGlue(subject.zones, subject, report)
  checkUnused(subject.tree.settings, glue, report)
  if (glue.hosts.size === 0) return
  const services = subject.tree.of.Service
  for (let i = 0; i < services.length; i++) {
    const entry = services[i]!
    const key = entry.file.domainKey
    const other = key === undefined ? undefined : glue.hosts.get(key)
    if (other === undefined) continue
    const at = valueIn(entry, 'spec', 'domain')
    report('domain-is-nameserver', at, { args: [entry.object.spec.domain], other })
  }
}

interface Glue {
  /** Names of servers whose addresses this server answers. */
  readonly hosts: ReadonlyMap<string, EntryPlace>
  /** Paths of servers whose addresses are in some zone. */
  readonly servedAt: ReadonlySet<string>
}

function checkGlue({ zones }: ZonePlan, subject: RuleSubject, report: TreeReport): Glue {
  const { tree, records } = subject
  const hosts = new Map<string, EntryPlace>()
  const servedAt = new Set<string>()
  const missing = new Set<string>()
  for (const zone of zones) {
    if (zone.nameserversAt === undefined) continue
    for (const [i, server] of zone.nameservers.entries()) {
      if (!isInside(server.name, zone.name)) continue
      const at = valueIn(tree.settings!, ...zone.nameserversAt, i, 'name')
      if (server.addresses.length > 0) {
        hosts.set(server.name, at)
        servedAt.add([...zone.nameserversAt, i].join('/'))
      } else if (
        // They may come with the zone.
        zone.isInbound !== true &&
        !missing.has(server.name) &&
        !hasAddresses(server.name, records)
      ) {
        missing.add(server.name)
        report('nameserver-glue-missing', at, { args: [server.name, zone.name] })
      }
    }
  }
  return { hosts, servedAt }
}

/** Address records, which have their own TTL. Unreadable files may have them. */
function hasAddresses(name: string, records: RecordPlan | undefined): boolean {
  if (records?.isWhole !== true) return true
  const rrsets = records.at.get(name) ?? []
  return rrsets.some(({ model: { type } }) => type === RrType.A || type === RrType.AAAA)
}

/** Reports addresses that no zone uses. */
function checkUnused(settings: Entry<'Settings'>, { servedAt }: Glue, report: TreeReport): void {
  const { defaults, zones } = settings.object.spec
  const lists: [readonly Nameserver[] | undefined, YamlPath][] = [
    [defaults?.nameservers, ['spec', 'defaults', 'nameservers']],
    ...zones.map(({ nameservers }, i): [readonly Nameserver[] | undefined, YamlPath] => [
      nameservers,
      ['spec', 'zones', i, 'nameservers'],
    ]),
  ]
  for (const [servers, path] of lists) {
    for (const [i, { name, addresses }] of (servers ?? []).entries()) {
      if (addresses.length === 0 || servedAt.has([...path, i].join('/'))) continue
      const at = keyIn(settings, ...path, i, 'addresses')
      report('nameserver-addresses-unused', at, { args: [name] })
    }
  }
}

/** Finds an SOA minimum longer than the pools need to fail over. */
export const soaFailover: TreeRule = ({ tree, zones }, report) => {
  const { settings } = tree
  if (settings === undefined || zones === undefined) return
  const pathOf = minimumPaths(settings)
  const fastest = new Map<YamlPath, Failover & { readonly minimumSeconds: number }>()
  const services = tree.of.Service
  for (let i = 0; i < services.length; i++) {
    const zone = zones.zones[zones.zoneOfService[i]!]
    if (zone === undefined) continue
    const { minimumSeconds } = zone.soa
    // Larger values have their own message; the product's default is small enough.
    if (minimumSeconds > soaMinimumSecondsMax || minimumSeconds <= soaDefaults.minimum) continue
    const path = pathOf(zone.isImplied ? undefined : zone.name)
    if (path === undefined) continue
    const failover = failoverOf(tree, services[i]!)
    if (failover === undefined || minimumSeconds * 1_000 <= failover.ms) continue
    if ((fastest.get(path)?.ms ?? Infinity) <= failover.ms) continue
    fastest.set(path, { ...failover, minimumSeconds })
  }
  for (const [path, { minimumSeconds, ms, pool }] of fastest) {
    const args = [String(minimumSeconds), pool, String(Math.ceil(ms / 1_000))]
    report('soa-minimum-above-failover', valueIn(settings, ...path), { args })
  }
}

interface Failover {
  readonly ms: number
  readonly pool: string
}

/** Undefined when the service never answers "no records" because its members are down. */
function failoverOf(tree: Tree, { object, tenant }: Entry<'Service'>): Failover | undefined {
  const { pool: name, onAllDown } = object.spec
  const pool = name === null ? undefined : tree.poolNamed.get(name)
  const check = pool?.object.spec.healthCheck
  if (name === null || pool?.tenant !== tenant || check === undefined) return undefined
  if (onAllDown !== 'empty') return undefined
  // A score is above 0 until every probe of its window has failed.
  const failures = check.scoreWindow > 0 ? check.scoreWindow : check.fallCount
  return { ms: check.intervalMs * failures + check.timeoutMs, pool: name }
}

/** Paths of the zones' minimums by zone name; without a name: that of the defaults. */
function minimumPaths({
  object: { spec },
}: Entry<'Settings'>): (zone: string | undefined) => YamlPath | undefined {
  const paths = new Map<string, YamlPath>()
  for (const [i, { name, soa }] of spec.zones.entries()) {
    const { key } = checkName(name, false)
    if (key === undefined || soa?.minimum === undefined) continue
    paths.set(key, ['spec', 'zones', i, 'soa', 'minimum'])
  }
  const hasDefault = spec.defaults?.soa?.minimum !== undefined
  const common: YamlPath | undefined = hasDefault
    ? ['spec', 'defaults', 'soa', 'minimum']
    : undefined
  return (zone) => (zone === undefined ? common : (paths.get(zone) ?? common))
}

/** Each suggestion compares the name with every zone. */
const suggestedMax = 20

/** Notes services in no declared zone: mostly their domain, or the zone, is misspelt. */
export const servicesOutsideZones: TreeRule = ({ tree, zones }, report) => {
  // Without `defaults`, `defaults-missing` reports the first of them.
  if (zones === undefined || zones.declaredAt.size === 0 || !zones.hasDefaults) return
  const { declaredAt, zoneOfService } = zones
  let found = 0
  for (const [i, entry] of tree.of.Service.entries()) {
    const { domainKey } = entry.file
    if (domainKey === undefined || zoneOfService[i]! < declaredAt.size) continue
    // Invalid names have their own finding.
    if (checkName(entry.object.spec.domain, true).fault !== undefined) continue
    const isSuggested = found++ < suggestedMax
    const suggestion = isSuggested ? nearestName(domainKey, declaredAt.keys()) : undefined
    const at = valueIn(entry, 'spec', 'domain')
    report('service-outside-zones', at, { args: [domainKey], suggestion: suggestion ?? '' })
  }
}

/** The name moved into the zone whose name resembles its end most. */
function nearestName(name: string, zones: Iterable<string>): string | undefined {
  const known = [...zones]
  for (const end of [name, ...enclosingNames(name)]) {
    const labels = end.split('.').length
    const zone = suggest(
      end,
      known.filter((one) => one.split('.').length === labels),
    )
    if (zone !== undefined) return name.slice(0, -end.length) + zone
  }
  return undefined
}

/** Checks that names outside every declared zone have default name servers. */
export const defaultsPresent: TreeRule = ({ tree, zones }, report) => {
  if (zones === undefined || zones.hasDefaults) return
  // Reported once, for the first such name: the remedy is one line in one file.
  const first = tree.of.Service.find(
    (_, i) => zones.zones[zones.zoneOfService[i]!]?.isImplied === true,
  )
  if (first === undefined) return
  const at = valueIn(first, 'spec', 'domain')
  const { domainKey } = first.file
  const isName = checkName(first.object.spec.domain, true).fault === undefined
  const nearest =
    domainKey !== undefined && isName && nearestName(domainKey, zones.declaredAt.keys())
  const detail = { args: [first.object.spec.domain, builtInNameserver] }
  report('defaults-missing', at, nearest ? { ...detail, suggestion: nearest } : detail)
}

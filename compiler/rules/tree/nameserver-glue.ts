// Checks that a name server inside a zone has addresses there, and that no service has its name.
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import { RrType } from '#dns/rrtype.ts'
import type { Nameserver } from '#schemas/objects/zone.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { YamlPath } from '#diagnostics/diagnostic.ts'
import { isInside } from '#dns/enclosing-names.ts'
import type { RuleSubject, TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry, EntryPlace, TreeReport } from '#compiler/tree/tree.ts'
import type { ZonePlan } from '#compiler/lower/zone-plan.ts'

export const nameserverGlue: TreeRule = {
  name: 'nameserver-glue',
  check(subject, report) {
    if (subject.zones === undefined || subject.tree.settings === undefined) return
    const glue = checkGlue(subject.zones, subject, report)
    checkUnused(subject.tree.settings, glue, report)
    if (glue.hosts.size === 0) return
    for (const entry of subject.tree.of.Service) {
      const key = entry.file.domainKey
      const other = key === undefined ? undefined : glue.hosts.get(key)
      if (other === undefined) continue
      const at = placeIn(entry, valueAt('spec', 'domain'))
      report('domain-is-nameserver', at, { args: [entry.object.spec.domain], other })
    }
  },
}

interface Glue {
  /** Names of servers that this server answers addresses for. */
  readonly hosts: ReadonlyMap<string, EntryPlace>
  /** Paths of the servers whose addresses some zone serves. */
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
      const at = placeIn(tree.settings!, valueAt(...zone.nameserversAt, i, 'name'))
      if (server.addresses.length > 0) {
        hosts.set(server.name, at)
        servedAt.add([...zone.nameserversAt, i].join('/'))
      } else if (!missing.has(server.name) && !hasAddresses(server.name, records)) {
        missing.add(server.name)
        report('nameserver-glue-missing', at, { args: [server.name, zone.name] })
      }
    }
  }
  return { hosts, servedAt }
}

/** As records, which have a TTL of their own. What could not be read may have them. */
function hasAddresses(name: string, records: RecordPlan | undefined): boolean {
  if (records?.isWhole !== true) return true
  const rrsets = records.at.get(name) ?? []
  return rrsets.some(({ model: { type } }) => type === RrType.A || type === RrType.AAAA)
}

/** Addresses that nobody serves were not meant to be ignored. */
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
      const at = placeIn(settings, keyAt(...path, i, 'addresses'))
      report('nameserver-addresses-unused', at, { args: [name] })
    }
  }
}

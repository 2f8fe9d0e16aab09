// Checks zones, their name servers and SOA, and delegated domains.
import { checkAddress } from '#compiler/values/addresses.ts'
import { checkHostName, checkMailbox, checkName } from '#compiler/values/names.ts'
import { primaryOf } from '#compiler/values/primaries.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { Place, YamlPath } from '#diagnostics/diagnostic.ts'
import { reportFault } from '#diagnostics/finding.ts'
import type { Report } from '#diagnostics/finding.ts'
import { earlier } from '#lib/sequence/earlier.ts'
import type { From, Nameserver, Soa } from '#schemas/objects/zone.ts'
import type { ObjectRule } from './object-rule.ts'

/** Checks the names of zones and their records, and that each zone is declared once. */
export const zoneNames: ObjectRule<'Settings'> = ({ spec }, report) => {
  const at: YamlPath = ['spec', 'defaults']
  checkServers(spec.defaults?.nameservers ?? [], [...at, 'nameservers'], report)
  checkSoa(spec.defaults?.soa, [...at, 'soa'], report)
  const firstOf = new Map<string, Place>()
  for (const [i, zone] of spec.zones.entries()) {
    const path: YamlPath = ['spec', 'zones', i]
    const place = valueAt(...path, 'name')
    checkOnce('zone-duplicate', zone.name, place, firstOf, report)
    if (zone.nameservers === undefined && spec.defaults === undefined) {
      report('zone-without-nameservers', place, { args: [zone.name] })
    }
    checkServers(zone.nameservers ?? [], [...path, 'nameservers'], report)
    checkSoa(zone.soa, [...path, 'soa'], report)
    checkFrom(zone.from, [...path, 'from'], report)
  }
}

function checkServers(servers: readonly Nameserver[], path: YamlPath, report: Report): void {
  const firstOf = new Map<string, Place>()
  for (const [i, { name, addresses }] of servers.entries()) {
    checkOnce('nameserver-duplicate', name, valueAt(...path, i, 'name'), firstOf, report)
    for (const [j, text] of addresses.entries()) {
      reportFault(checkAddress(text).fault, valueAt(...path, i, 'addresses', j), report)
    }
  }
}

function checkFrom(from: From | undefined, path: YamlPath, report: Report): void {
  const firstOf = new Map<string, Place>()
  for (const [i, text] of (from?.primaries ?? []).entries()) {
    const place = valueAt(...path, 'primaries', i)
    const primary = primaryOf(text, from?.tls)
    if (primary === undefined) report('primary-invalid', place, { args: [text] })
    else {
      const key = `${primary.address} ${primary.port}`
      const other = earlier(firstOf, key, place)
      if (other !== undefined) report('primary-duplicate', place, { args: [text], other })
    }
  }
  for (const field of ['key', 'tls'] as const) {
    const name = from?.[field]
    if (name !== undefined) reportFault(checkHostName(name).fault, valueAt(...path, field), report)
  }
}

function checkOnce(
  code: 'zone-duplicate' | 'nameserver-duplicate',
  text: string,
  place: Place,
  firstOf: Map<string, Place>,
  report: Report,
): void {
  const { key, fault } = checkName(text, false)
  reportFault(fault, place, report)
  const other = key === undefined ? undefined : earlier(firstOf, key, place)
  if (key !== undefined && other !== undefined) report(code, place, { args: [key], other })
}

function checkSoa({ mname, rname }: Partial<Soa> = {}, path: YamlPath, report: Report): void {
  if (mname !== undefined) {
    reportFault(checkName(mname, false).fault, valueAt(...path, 'mname'), report)
  }
  if (rname !== undefined) reportFault(checkMailbox(rname).fault, valueAt(...path, 'rname'), report)
}

/** RFC 2308 section 5 suggests hours for static data; names with failover need minutes. */
export const soaMinimumSecondsMax = 300

/** Finds an SOA minimum so long that negative answers outlive an outage. */
export const soaMinimum: ObjectRule<'Settings'> = ({ spec }, report) => {
  const check = (soa: Soa | undefined, ...path: YamlPath): void => {
    if (soa?.minimum === undefined || soa.minimum <= soaMinimumSecondsMax) return
    const args = [String(soa.minimum)]
    report('soa-minimum-large', valueAt('spec', ...path, 'soa', 'minimum'), { args })
  }
  check(spec.defaults?.soa, 'defaults')
  for (const [i, { soa }] of spec.zones.entries()) check(soa, 'zones', i)
}

/** Checks that a delegated domain is a valid query name. */
export const delegatedDomain: ObjectRule<'DelegatedDomain'> = ({ spec }, report) => {
  reportFault(checkHostName(spec.domain).fault, valueAt('spec', 'domain'), report)
}

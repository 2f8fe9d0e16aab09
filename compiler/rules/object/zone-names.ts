// Checks the names of zones and their records, and that each zone is declared once.
import type { Nameserver, Soa } from '#schemas/objects/zone.ts'
import { checkAddress } from '#compiler/values/addresses.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { Place, YamlPath } from '#diagnostics/diagnostic.ts'
import type { Report } from '#diagnostics/finding.ts'
import { checkMailbox, checkName } from '#compiler/values/names.ts'
import type { CheckedName } from '#compiler/values/names.ts'
import type { ObjectRule } from './object-rule.ts'

export const zoneNames: ObjectRule<'Settings'> = {
  name: 'zone-names',
  kind: 'Settings',
  check({ spec }, report) {
    const at: YamlPath = ['spec', 'defaults']
    checkServers(spec.defaults?.nameservers ?? [], [...at, 'nameservers'], report)
    checkSoa(spec.defaults?.soa, [...at, 'soa'], report)
    const firstOf = new Map<string, Place>()
    for (const [i, zone] of spec.zones.entries()) {
      const path: YamlPath = ['spec', 'zones', i]
      const place = valueAt(...path, 'name')
      const key = nameAt(zone.name, place, report)
      const other = key === undefined ? undefined : firstOf.get(key)
      if (key !== undefined && other !== undefined) {
        report('zone-duplicate', place, { args: [key], other })
      } else if (key !== undefined) firstOf.set(key, place)
      if (zone.nameservers === undefined && spec.defaults === undefined) {
        report('zone-without-nameservers', place, { args: [zone.name] })
      }
      checkServers(zone.nameservers ?? [], [...path, 'nameservers'], report)
      checkSoa(zone.soa, [...path, 'soa'], report)
    }
  },
}

function checkServers(servers: readonly Nameserver[], path: YamlPath, report: Report): void {
  const firstOf = new Map<string, Place>()
  for (const [i, server] of servers.entries()) {
    const place = valueAt(...path, i, 'name')
    const key = nameAt(server.name, place, report)
    const other = key === undefined ? undefined : firstOf.get(key)
    if (key !== undefined && other !== undefined) {
      report('nameserver-duplicate', place, { args: [key], other })
    } else if (key !== undefined) firstOf.set(key, place)
    for (const [j, text] of server.addresses.entries()) {
      const { fault } = checkAddress(text)
      if (fault !== undefined) report(fault.code, valueAt(...path, i, 'addresses', j), fault)
    }
  }
}

function checkSoa(soa: Soa | undefined, path: YamlPath, report: Report): void {
  if (soa?.mname !== undefined) nameAt(soa.mname, valueAt(...path, 'mname'), report)
  if (soa?.rname !== undefined) {
    said(checkMailbox(soa.rname), valueAt(...path, 'rname'), report)
  }
}

function nameAt(text: string, place: Place, report: Report): string | undefined {
  return said(checkName(text, false), place, report)
}

function said({ key, fault }: CheckedName, place: Place, report: Report): string | undefined {
  if (fault !== undefined) report(fault.code, place, fault)
  return key
}

// Checks the networks and addresses of the routing settings: valid, and each listed once.
import type { SettingsSpec } from '#schemas/objects/settings.ts'
import { checkAddress } from '#compiler/values/addresses.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { Report } from '#diagnostics/finding.ts'
import { checkCidr, reportArrangement } from '#compiler/values/network-findings.ts'
import type { ObjectRule } from './object-rule.ts'
import { arrangeMapRules, readRules } from '#compiler/values/written-rules.ts'

export const routingSettings: ObjectRule<'Settings'> = {
  name: 'routing-settings',
  kind: 'Settings',
  check({ spec }, report) {
    checkMap(spec, report)
    checkAsn(spec, report)
    checkLocations(spec, report)
  },
}

function checkMap({ mapFile }: SettingsSpec, report: Report): void {
  const rules = mapFile?.rules ?? []
  for (const [i, { cidr, endpoint }] of rules.entries()) {
    checkCidr(cidr, ['spec', 'mapFile', 'rules', i, 'cidr'], report)
    checkEndpoint(endpoint, valueAt('spec', 'mapFile', 'rules', i, 'endpoint'), report)
  }
  const arrangement = arrangeMapRules(readRules(rules))
  reportArrangement(arrangement, rules, ['spec', 'mapFile', 'rules'], report)
}

function checkAsn({ asn }: SettingsSpec, report: Report): void {
  const seen = new Map<string, number>()
  for (const [i, rule] of (asn?.rules ?? []).entries()) {
    if (rule.asn === undefined && rule.org === undefined) {
      report('asn-rule-empty', valueAt('spec', 'asn', 'rules', i))
    }
    const place = valueAt('spec', 'asn', 'rules', i, 'endpoint')
    const endpoint = checkEndpoint(rule.endpoint, place, report)
    if (endpoint === undefined || rule.asn === undefined) continue
    // For another member it is of use: that one may be in another pool, or the first may be down.
    const key = `${rule.asn} ${endpoint}`
    const first = seen.get(key)
    if (first === undefined) seen.set(key, i)
    else if (rule.org === undefined) {
      const other = valueAt('spec', 'asn', 'rules', first, 'asn')
      const args = [`AS${rule.asn}`, endpoint]
      report('asn-rule-duplicate', valueAt('spec', 'asn', 'rules', i, 'asn'), { args, other })
    }
  }
}

function checkLocations({ geoip }: SettingsSpec, report: Report): void {
  const seen = new Map<string, string>()
  for (const address of Object.keys(geoip?.endpointLocations ?? {})) {
    const place = keyAt('spec', 'geoip', 'endpointLocations', address)
    const canonical = checkEndpoint(address, place, report)
    if (canonical === undefined) continue
    const first = seen.get(canonical)
    if (first === undefined) seen.set(canonical, address)
    else {
      const other = keyAt('spec', 'geoip', 'endpointLocations', first)
      report('location-duplicate', place, { args: [canonical], other })
    }
  }
}

function checkEndpoint(text: string, place: Place, report: Report): string | undefined {
  const { canonical, fault } = checkAddress(text)
  if (fault !== undefined) report(fault.code, place, fault)
  return canonical
}

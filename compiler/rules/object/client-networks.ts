// Checks rules for networks and autonomous systems of clients, and the places of endpoints.
import { bundleLimits } from '#bundle/format/limits.ts'
import { checkAddress } from '#compiler/values/addresses.ts'
import { endpointKey, hostnameKey, targetOf } from '#compiler/values/member-target.ts'
import type { Arrangement, NetworkRule } from '#compiler/values/network-rules.ts'
import { arrangeGeoRules, arrangeMapRules, readRules } from '#compiler/values/written-rules.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { Place, YamlPath } from '#diagnostics/diagnostic.ts'
import { reportFault } from '#diagnostics/finding.ts'
import type { Report } from '#diagnostics/finding.ts'
import { earlier } from '#lib/sequence/earlier.ts'
import { parseCidr } from '#routing/tables/cidr.ts'
import type { SettingsSpec } from '#schemas/objects/settings.ts'
import type { ObjectRule } from './object-rule.ts'

/** Checks the geo rules of a pool: valid networks, members of the pool, no rule without effect. */
export const geoRules: ObjectRule<'Pool'> = ({ spec: { geoRules: rules, members } }, report) => {
  if (rules.length === 0) return
  const targets = members.map(targetOf)
  const known = new Set(targets)
  for (const [i, { cidr, endpoint }] of rules.entries()) {
    checkCidr(cidr, ['spec', 'geoRules', i, 'cidr'], report)
    const place = valueAt('spec', 'geoRules', i, 'endpoint')
    if (known.has(endpointKey(endpoint))) continue
    const canonical = checkEndpoint(endpoint, place, report)
    if (canonical === undefined) continue
    const example = targets.find(isTarget) ?? 'one of members'
    report('geo-rule-endpoint-unknown', place, { args: [canonical, example] })
  }
  const read = readRules(rules)
  const seen = new Map<string, NetworkRule>()
  for (const rule of read) {
    const { index, network, endpoint, priority } = rule
    const first = earlier(
      seen,
      `${network.octets.join('.')}/${network.prefixBits} ${priority}`,
      rule,
    )
    // Redundant rules for the same member are reported below.
    if (first === undefined || first.endpoint === endpoint) continue
    report('geo-rule-duplicate', valueAt('spec', 'geoRules', index, 'cidr'), {
      args: [rules[index]!.cidr, String(priority)],
      other: valueAt('spec', 'geoRules', first.index, 'cidr'),
    })
  }
  reportArrangement(arrangeGeoRules(read), rules, ['spec', 'geoRules'], report)
}

function isTarget(text: string): boolean {
  return checkAddress(text).canonical !== undefined || hostnameKey(text) !== undefined
}

/** Checks the networks and addresses of the routing settings: valid, and each listed once. */
export const routingSettings: ObjectRule<'Settings'> = ({ spec }, report) => {
  checkMap(spec, report)
  checkAsn(spec, report)
  checkLocations(spec, report)
  checkExempt(spec, report)
}

function checkExempt({ rateLimitExempt = [] }: SettingsSpec, report: Report): void {
  for (const [i, { cidr }] of rateLimitExempt.entries()) {
    const path = ['spec', 'rateLimitExempt', i, 'cidr']
    checkCidr(cidr, path, report)
    const read = parseCidr(cidr)
    if (!read.ok || read.value.prefixBits > 0) continue
    report('rate-limit-exempt-all', valueAt(...path), { args: [cidr] })
  }
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
  const seen = new Map<string, Place>()
  for (const [i, rule] of (asn?.rules ?? []).entries()) {
    if (rule.asn === undefined && rule.org === undefined) {
      report('asn-rule-empty', valueAt('spec', 'asn', 'rules', i))
    }
    const place = valueAt('spec', 'asn', 'rules', i, 'endpoint')
    const endpoint = checkEndpoint(rule.endpoint, place, report)
    if (endpoint === undefined || rule.asn === undefined) continue
    // A rule for another member is useful: it may be in another pool, or the first may be down.
    const at = valueAt('spec', 'asn', 'rules', i, 'asn')
    const other = earlier(seen, `${rule.asn} ${endpoint}`, at)
    if (other === undefined || rule.org !== undefined) continue
    report('asn-rule-duplicate', at, { args: [`AS${rule.asn}`, endpoint], other })
  }
}

function checkLocations({ geoip }: SettingsSpec, report: Report): void {
  const seen = new Map<string, Place>()
  for (const address of Object.keys(geoip?.endpointLocations ?? {})) {
    const place = keyAt('spec', 'geoip', 'endpointLocations', address)
    const canonical = checkEndpoint(address, place, report)
    const other = canonical === undefined ? undefined : earlier(seen, canonical, place)
    if (canonical === undefined || other === undefined) continue
    report('location-duplicate', place, { args: [canonical], other })
  }
}

function checkEndpoint(text: string, place: Place, report: Report): string | undefined {
  const { canonical, fault } = checkAddress(text)
  reportFault(fault, place, report)
  return canonical
}

function checkCidr(text: string, path: YamlPath, report: Report): void {
  const read = parseCidr(text)
  if (read.ok) return
  // Splits the message into fault and advice.
  const split = read.error.lastIndexOf('; ')
  const args = [read.error.slice(0, split), read.error.slice(split + 2)]
  report('cidr-invalid', valueAt(...path), { args })
}

/**
 * @param rules in file order
 * @param path path of their list
 */
function reportArrangement(
  { redundant, crowded }: Arrangement,
  rules: readonly { readonly cidr: string }[],
  path: YamlPath,
  report: Report,
): void {
  const placeOf = (index: number) => valueAt(...path, index, 'cidr')
  for (const [rule, twin] of redundant) {
    const args = [rules[rule.index]!.cidr, rules[twin.index]!.cidr, rule.endpoint]
    report('network-rule-redundant', placeOf(rule.index), { args, other: placeOf(twin.index) })
  }
  if (crowded === undefined) return
  const args = [rules[crowded.index]!.cidr, String(bundleLimits.endpointsPerNetworkMax)]
  report('network-rules-crowded', placeOf(crowded.index), { args })
}

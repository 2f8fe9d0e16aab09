// Checks the geo rules of a pool: valid networks, members of the pool, no rule without effect.
import { checkAddress } from '#compiler/values/addresses.ts'
import { endpointKey, hostnameKey, targetOf } from '#compiler/values/member-target.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { checkCidr, reportArrangement } from '#compiler/values/network-findings.ts'
import type { ObjectRule } from './object-rule.ts'
import { arrangeGeoRules, readRules } from '#compiler/values/written-rules.ts'

export const geoRules: ObjectRule<'Pool'> = {
  name: 'geo-rules',
  kind: 'Pool',
  check({ spec: { geoRules: rules, members } }, report) {
    if (rules.length === 0) return
    const targets = members.map(targetOf)
    const known = new Set(targets)
    for (const [i, { cidr, endpoint }] of rules.entries()) {
      checkCidr(cidr, ['spec', 'geoRules', i, 'cidr'], report)
      const place = valueAt('spec', 'geoRules', i, 'endpoint')
      if (known.has(endpointKey(endpoint))) continue
      const { canonical, fault } = checkAddress(endpoint)
      if (fault !== undefined) report(fault.code, place, fault)
      if (canonical === undefined) continue
      const example = targets.find(isTarget) ?? 'one of members'
      report('geo-rule-endpoint-unknown', place, { args: [canonical, example] })
    }
    const read = readRules(rules)
    const seen = new Map<string, { readonly index: number; readonly endpoint: string }>()
    for (const { index, network, endpoint, priority } of read) {
      const key = `${network.octets.join('.')}/${network.prefixBits} ${priority}`
      const first = seen.get(key)
      if (first === undefined) seen.set(key, { index, endpoint })
      // For the same member the rule is redundant, which is said below.
      if (first === undefined || first.endpoint === endpoint) continue
      report('geo-rule-duplicate', valueAt('spec', 'geoRules', index, 'cidr'), {
        args: [rules[index]!.cidr, String(priority)],
        other: valueAt('spec', 'geoRules', first.index, 'cidr'),
      })
    }
    reportArrangement(arrangeGeoRules(read), rules, ['spec', 'geoRules'], report)
  },
}

function isTarget(text: string): boolean {
  return checkAddress(text).canonical !== undefined || hostnameKey(text) !== undefined
}

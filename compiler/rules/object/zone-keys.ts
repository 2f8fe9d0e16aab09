// Checks the lifetimes of zones' keys, and the public keys of other signers.
import { lifeMs, readListed, rollPolicy } from '#compiler/values/key-policy.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { ObjectRule } from './object-rule.ts'

/** For TTLs of an hour or two, and for differences of clocks. */
const spareMs = 6 * 3_600_000

/** Finds keys that would have to be replaced before their predecessors are gone. */
export const keyPolicies: ObjectRule<'Settings'> = ({ spec }, report) => {
  for (const [i, { name, dnssec }] of spec.zones.entries()) {
    if (dnssec?.policy === undefined) continue
    const at = (field: string) => valueAt('spec', 'zones', i, 'dnssec', 'policy', field)
    const { propagationMs, parentMs } = rollPolicy(dnssec)
    const needs = {
      ksk: 2 * propagationMs + parentMs + spareMs,
      zsk: 2 * propagationMs + spareMs,
    } as const
    for (const [field, needMs] of Object.entries(needs) as ['ksk' | 'zsk', number][]) {
      const life = dnssec.policy[field]
      const ms = lifeMs(life)
      if (ms !== null && ms < needMs) {
        const hours = `${Math.ceil(needMs / 3_600_000)}h`
        report('key-life-short', at(field), { args: [life, field.toUpperCase(), name, hours] })
      }
    }
  }
}

/** Finds what is no public key: a resolver could validate nothing with it. */
export const listedZoneKeys: ObjectRule<'Settings'> = ({ spec }, report) => {
  for (const [i, { dnssec }] of spec.zones.entries()) {
    for (const [k, text] of (dnssec?.dnskeys ?? []).entries()) {
      const read = readListed(text)
      const at = valueAt('spec', 'zones', i, 'dnssec', 'dnskeys', k)
      if (!read.ok) report('dnskey-invalid', at, { args: [read.error] })
    }
  }
}

// Findings that the network rules of pools and of settings share.
import { bundleLimits } from '#bundle/format/limits.ts'
import { parseCidr } from '#routing/tables/cidr.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { YamlPath } from '#diagnostics/diagnostic.ts'
import type { Report } from '#diagnostics/finding.ts'
import type { Arrangement } from './network-rules.ts'

export function checkCidr(text: string, path: YamlPath, report: Report): void {
  const read = parseCidr(text)
  if (read.ok) return
  // What is wrong; what to write instead.
  const split = read.error.lastIndexOf('; ')
  const args = [read.error.slice(0, split), read.error.slice(split + 2)]
  report('cidr-invalid', valueAt(...path), { args })
}

/** @param rules as the file has them @param path to their list */
export function reportArrangement(
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

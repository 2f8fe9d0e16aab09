// Which features of the licence a filter chain uses (document A, "Limits").
import { filterNamed } from '#routing/choose/filters.ts'
import type { LicensedFeature } from './gate.ts'

const featureOfFilter: Readonly<Record<string, LicensedFeature>> = {
  script: 'filter-scripts',
  'signal-weight': 'signal-weight',
  rum: 'rum-routing',
}

/** Empty for a service without a chain. */
export function chainFeatures(
  chain: readonly string[] | null | undefined,
): readonly LicensedFeature[] {
  if (!chain?.length) return []
  const names = chain.map((text) => filterNamed(text)?.filter.name ?? '')
  return ['filter-chains', ...names.flatMap((name) => featureOfFilter[name] ?? [])]
}

// Lists the licensed features that a filter chain uses.
import { filterNamed } from '#routing/choose/ways.ts'
import type { LicensedFeature } from './gate.ts'

/** Empty without a chain. */
export function chainFeatures(
  chain: readonly string[] | null | undefined,
): readonly LicensedFeature[] {
  if (!chain?.length) return []
  return ['filter-chains', ...chain.flatMap((text) => filterNamed(text)?.way.feature ?? [])]
}

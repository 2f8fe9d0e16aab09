// Tells which databases a comparison of clients lacks: those that steps of a bundle go by.
import { loadBundle } from '#bundle/load/load.ts'
import { waysInPolicies } from '#routing/choose/policy.ts'
import { latencyRegion } from '#routing/ways/latency-region.ts'

/** @returns options of `gslbd check` that would name them, such as `--geoip` */
export function missingDatabases(
  bundles: readonly Uint8Array[],
  { geoip, asn }: { readonly geoip?: string | undefined; readonly asn?: string | undefined },
): readonly string[] {
  const missing = new Set<string>()
  for (const bytes of bundles) {
    const bundle = loadBundle(bytes)
    for (const way of bundle.ok ? waysInPolicies(bundle.value) : []) {
      const { needs } = way
      const isByPlace =
        needs.includes('regions') || needs.includes('locations') || way === latencyRegion
      if (isByPlace && geoip === undefined) missing.add('--geoip')
      if (needs.includes('asn-rules') && asn === undefined) missing.add('--asn')
    }
  }
  return [...missing]
}

// Names the geo databases that a comparison lacks although steps choose by them.
import { loadBundle } from '#bundle/load/load.ts'
import { goesBy } from '#inputs/geo/databases.ts'
import { waysInPolicies } from '#routing/choose/policy.ts'

/** First words of the note about what a limit on moved clients could not see. */
export const judgedWithout = 'movedClients is judged without places, which steps go by: '

/** @returns options of `gslbd check` that would load them, such as `--geoip` */
export function missingDatabases(
  bundles: readonly Uint8Array[],
  { geoip, asn }: { readonly geoip?: string | undefined; readonly asn?: string | undefined },
): readonly string[] {
  const missing = new Set<string>()
  for (const bytes of bundles) {
    const bundle = loadBundle(bytes)
    for (const way of bundle.ok ? waysInPolicies(bundle.value) : []) {
      // Scripts are not run in a comparison.
      if (way.argument === 'BODY') continue
      if (geoip === undefined && goesBy(way, ['geoip.dbPath'])) missing.add('--geoip')
      if (asn === undefined && goesBy(way, ['asn.dbPath'])) missing.add('--asn')
    }
  }
  return [...missing]
}

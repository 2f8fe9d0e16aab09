// Parses the network rules of files and sorts them by precedence.
import type { ClientRanges } from '#bundle/format/model.ts'
import { parseCidr } from '#routing/tables/cidr.ts'
import type { GeoRule } from '#schemas/objects/geo-rule.ts'
import { checkAddress } from './addresses.ts'
import { hostnameKey } from './member-target.ts'
import { arrangeRules } from './network-rules.ts'
import type { Arrangement, NetworkRule } from './network-rules.ts'

export function geoRangesOf(rules: readonly GeoRule[]): ClientRanges {
  return rules.length === 0 ? noRanges : arrangeGeoRules(readRules(rules)).ranges
}

const noRanges: ClientRanges = Object.freeze({ v4: [], v6: [] })

/** The longest prefix wins, then the lower priority. */
export function arrangeGeoRules(rules: readonly NetworkRule[]): Arrangement {
  return arrangeRules(rules, 'longest-prefix')
}

/** The first matching rule wins. */
export function arrangeMapRules(rules: readonly NetworkRule[]): Arrangement {
  return arrangeRules(rules, 'first-rule')
}

/** Leaves out rules with an invalid network or member; they have their own findings. */
export function readRules(
  rules: readonly {
    readonly cidr: string
    readonly endpoint: string
    readonly priority?: number
  }[],
): NetworkRule[] {
  const read: NetworkRule[] = []
  for (const [index, { cidr, endpoint, priority = 0 }] of rules.entries()) {
    const network = parseCidr(cidr)
    const canonical = checkAddress(endpoint).canonical ?? hostnameKey(endpoint)
    if (!network.ok || canonical === undefined) continue
    read.push({ index, network: network.value, endpoint: canonical, priority })
  }
  return read
}

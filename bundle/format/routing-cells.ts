// The rows of a bundle that say how members are chosen: policies, and where endpoints are.
import type { RoutingModel } from './model.ts'

/**
 * A row of `policyRow`: how a service chooses that is not plain. `Text`: canonical JSON of a
 * PolicyText. `OnAllDown`: one of OnAllDownCode. `FallbackPool`: index + 1; 0 none.
 */
export const PolicyCell = {
  Words: 4,
  Text: 0,
  OnAllDown: 1,
  FallbackPool: 2,
  AnswerCount: 3,
} as const

export const OnAllDownCode = { Empty: 0, All: 1, Pool: 2 } as const

/** The `Algorithm` cell of a node holds a strategy's code, or this plus a row of `policyRow`. */
export const firstPolicyCode = 256

/** The steps of a policy, before they are bound. */
export interface PolicyText {
  readonly algorithm: string
  readonly filterChain: readonly string[]
}

/** A row of `endpointVector`: a point on the unit sphere, times `vectorUnit`; then 1 if known. */
export const EndpointCell = { Words: 4, X: 0, Y: 1, Z: 2, IsKnown: 3 } as const
export const vectorUnit = 0x4000_0000

/**
 * A region as a number: two upper-case letters, the first in the high octet; `continent:EU`
 * likewise with the top bit. 0: another label.
 */
export function placeCode(region: string): number {
  const match = /^(continent:)?([A-Z])([A-Z])$/.exec(region)
  if (match === null) return 0
  const letters = (match[2]!.charCodeAt(0) << 8) | match[3]!.charCodeAt(0)
  return match[1] === undefined ? letters : letters | continentBit
}
export const continentBit = 0x8000

/** The settings as text: what is read once for a bundle, not for a query. */
export interface RoutingText {
  readonly asnRules: readonly {
    readonly asn: number | null
    readonly org: string
    /** Row in `endpointVector`. */
    readonly endpoint: number
  }[]
  readonly signals: RoutingModel['signals']
  readonly latency: RoutingModel['latency']
}

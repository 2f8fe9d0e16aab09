// Makes one choice by a policy: candidates, geo rules, then the steps.
import { MemberFlag } from '#bundle/format/cells.ts'
import * as routingColumns from '#bundle/format/routing-cells.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { chooseByTable } from './choose-by-table.ts'
import { listOfRow, networkRow } from '#routing/chain/networks.ts'
import type { Policy } from './policy.ts'
import { preferredMember } from '#routing/chain/prefer.ts'
import { LikenessKind, needAlikeLists } from '#routing/chain/scope.ts'
import type { Likeness } from '#routing/chain/scope.ts'
import { MemberOut } from '#routing/state/state.ts'
import { Family } from '#routing/state/query.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { OnAllDownCode } = routingColumns

/**
 * Chooses members for the query of the chain into the first places of `chain.members`, and sets
 * `chain.scope` to the bits of the client's address that mattered.
 *
 * @param poolIndex the service's pool
 * @returns their number, at most the policy's `answerCount`; 0: no candidate
 */
export function choose(chain: Chain, policy: Policy, poolIndex: number): number {
  chain.startScope()
  chain.answerCount = policy.answerCount
  const { byTable } = policy
  if (byTable !== null && chooseByTable(chain, policy.steps, byTable, poolIndex)) return 1
  loadCandidates(chain, policy, poolIndex)
  if (chain.count === 0) return 0
  if (!preferByGeoRule(chain)) {
    const { steps } = policy
    for (let i = 0; i < steps.length; i++) steps[i]!(chain)
  }
  return Math.min(chain.count, policy.answerCount)
}

/** Loads the candidates of the pool; when there are none, those that `onAllDown` gives. */
export function loadCandidates(chain: Chain, policy: Policy, poolIndex: number): void {
  const { isWeighted } = policy
  chain.load(poolIndex, isWeighted)
  if (chain.count > 0 || policy.onAllDown === OnAllDownCode.Empty) return
  if (policy.onAllDown === OnAllDownCode.All) loadEnabled(chain, isWeighted)
  else if (policy.fallbackPool >= 0) chain.load(policy.fallbackPool, isWeighted)
}

/** A slot without an address cannot be answered. */
const outWhateverHealth = MemberOut.Maintenance | MemberOut.Unresolved

/**
 * Loads all enabled members that no window and no missing address excludes, whatever the probes
 * find.
 */
function loadEnabled(chain: Chain, isWeighted: boolean): void {
  const { bundle, state, members, poolIndex, family } = chain
  const count4 = bundle.poolCount4[poolIndex]!
  const isV4 = family === Family.V4
  const first = bundle.poolMemberStart[poolIndex]! + (isV4 ? 0 : count4)
  const end = first + (isV4 ? count4 : bundle.poolCount6[poolIndex]!)
  let count = 0
  for (let member = first; member < end; member++) {
    const isEnabled = (bundle.memberFlags[member]! & MemberFlag.Enabled) !== 0
    const isHeldOut = (state.memberOut[member]! & outWhateverHealth) !== 0
    const isOfWeight = !isWeighted || state.memberWeight[member]! > 0
    if (isEnabled && !isHeldOut && isOfWeight) members[count++] = member
  }
  chain.count = count
}

/**
 * Applies the geo rule of the longest prefix, which takes precedence over the algorithm.
 *
 * @returns true when a rule decided
 */
export function preferByGeoRule(chain: Chain): boolean {
  const { bundle } = chain
  const table = bundle.poolNetworks[chain.poolIndex]! - 1
  if (table < 0) return false
  const row = networkRow(chain, table)
  chain.picked = preferredMember(chain, bundle.networkList, listOfRow(chain, table, row))
  needAlikeLists(chain, table, row, geoRuleLikeness)
  if (chain.picked < 0) return false
  chain.bringToFront(chain.picked)
  return true
}

const geoRuleLikeness: Likeness = {
  kind: LikenessKind.GeoRules,
  isAlike: (chain: Chain, list: number): boolean =>
    preferredMember(chain, chain.bundle.networkList, list) === chain.picked,
}

// Chooses fast for a policy that depends on one table: stores the choice for each value of the
// table until the candidates change.
import type { Chain } from '#routing/chain/chain.ts'
import { rowOfClient, valueOfRow } from '#routing/chain/lookup-client.ts'
import { nearestEdge, widen } from '#routing/chain/scope.ts'
import type { Likeness } from '#routing/chain/scope.ts'
import * as states from '#routing/state/state.ts'
import type { TableChoices } from './table-choices.ts'
import type { Step, TableStep } from './way.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { PoolCell } = states

/** How a policy depends on one table. */
export interface TableUse {
  readonly step: TableStep
  /** Stored choices, shared by all policies that were bound together. */
  readonly choices: TableChoices
  /** The result of `createTableLikeness`. */
  readonly likeness: Likeness
}

/**
 * Chooses one member into the first place of `chain.members`, with the scope that the steps would
 * find. The cost does not grow with the number of services.
 *
 * @returns false when nothing is chosen and the steps must run
 */
export function chooseByTable(
  chain: Chain,
  steps: readonly Step[],
  { choices, step, likeness }: TableUse,
  poolIndex: number,
): boolean {
  // A geo rule of the pool takes precedence.
  if (chain.bundle.poolNetworks[poolIndex] !== 0) return false
  chain.poolIndex = poolIndex
  chain.version = chain.state.pools[poolIndex * PoolCell.Words + PoolCell.Version]!
  if (!choices.open(chain.serviceIndex, chain.family, chain.version, step.values)) return false
  const { ranges } = step
  chain.ranges = ranges
  const row = rowOfClient(ranges, chain)
  const kind = kindOf(chain, choices, step, valueOfRow(ranges, chain, row))
  if (kind === 0) return false
  if (choices.member(kind) < 0 && !learnMember(chain, steps, choices, step, kind)) return false
  chain.count = choices.candidates()
  const edge = chain.wantsScope && chain.count > 1 ? nearestEdge(chain, ranges, row) : 0
  if (edge !== 0) {
    const near = valueOfRow(ranges, chain, edge < 0 ? row - 1 : row + 1)
    if (kindOf(chain, choices, step, near) === kind) {
      const isCached = likeness.isNodeAlike === undefined
      if (isCached && !loadAgain(chain, choices)) return false
      chain.picked = isCached ? choices.action(kind) : kind
      widen(chain, ranges, row, edge < 0, likeness)
    } else chain.scope = Math.abs(edge)
  }
  chain.members[0] = choices.member(kind)
  chain.count = 1
  return true
}

/** @returns 0: not stored and no effort left, no candidate, or the lists have changed */
function kindOf(chain: Chain, choices: TableChoices, step: TableStep, value: number): number {
  const known = choices.kindOf(value)
  if (known !== 0) return known
  return loadAgain(chain, choices)
    ? choices.learn(value, step.actionFor(chain, value), chain.count)
    : 0
}

/** Runs the steps for a kind. @returns false: the lists have changed */
function learnMember(
  chain: Chain,
  steps: readonly Step[],
  choices: TableChoices,
  step: TableStep,
  kind: number,
): boolean {
  if (!loadAgain(chain, choices)) return false
  chain.picked = choices.action(kind)
  step.act(chain)
  // The later steps do not depend on the client.
  for (let i = 1; i < steps.length; i++) steps[i]!(chain)
  choices.keepMember(kind, chain.members[0]!)
  return true
}

/** Loads the candidates again. @returns false when they are no longer those of the column */
function loadAgain(chain: Chain, choices: TableChoices): boolean {
  const { version } = chain
  if (choices.effort <= 0) return false
  chain.load(chain.poolIndex, false)
  choices.effort -= effortOfLook + chain.count
  if (chain.count > 0 && chain.version === version) return true
  choices.effort = 0
  // The answer is one of the earlier candidates, so the scope must not be that of the new ones.
  chain.count = choices.candidates()
  return false
}

const effortOfLook = 8

/**
 * Compares by kinds; `chain.picked` is the client's. A group of several values may be alike in
 * part: then the cache stores and bounds the results, by actions.
 */
export function createTableLikeness(choices: TableChoices, step: TableStep): Likeness {
  const { ranges, kind, actionFor } = step
  if (ranges.groupStart(ranges.groups) > ranges.groups) {
    return { kind, isAlike: (chain, value) => actionFor(chain, value) === chain.picked }
  }
  const isGroupAlike = (chain: Chain, group: number): boolean => {
    const value = ranges.groupValue(ranges.groupStart(group))
    if (kindOf(chain, choices, step, value) !== chain.picked) return false
    choices.keepAlike(chain.picked, group)
    return true
  }
  return {
    kind,
    isAlike: (chain, value) => kindOf(chain, choices, step, value) === chain.picked,
    isNodeAlike(chain, { nodes, nodesAt, words }, node) {
      const at = nodesAt + node * words
      for (let word = 0; word < words; word++) {
        let open = choices.openGroups(chain.picked, word, nodes[at + word]!)
        while (open !== 0) {
          const bit = 31 - Math.clz32(open)
          open &= ~(1 << bit)
          if (!isGroupAlike(chain, word * 32 + bit)) return false
        }
      }
      return true
    },
  }
}

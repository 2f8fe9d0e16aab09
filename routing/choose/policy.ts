// Binds the routing policies of a bundle to their steps, once per bundle.
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { PolicyCell } from '#bundle/format/routing-cells.ts'
import type { PolicyText } from '#bundle/format/routing-cells.ts'
import { parsePolicyText } from '#bundle/format/routing-text.ts'
import { assert } from '#lib/assert.ts'
import { createTableLikeness } from './choose-by-table.ts'
import type { TableUse } from './choose-by-table.ts'
import type { RoutingEnvironment } from './environment.ts'
import { TableChoices } from './table-choices.ts'
import type { ChoiceMemory } from './choice-memory.ts'
import { dividesByWeight } from './way.ts'
import type { Step, TableStep, Way } from './way.ts'
import { algorithmNamed, filterNamed } from './ways.ts'
import type { FilterUse } from './ways.ts'

export interface Policy {
  readonly ways: readonly Way[]
  /** Steps of the policy's ways, bound to the bundle. */
  readonly steps: readonly Step[]
  /** Whether members of weight 0 are excluded. */
  readonly isWeighted: boolean
  /** One of OnAllDownCode. */
  readonly onAllDown: number
  /** -1: there is no fallback pool. */
  readonly fallbackPool: number
  readonly answerCount: number
  /** null: the steps run for each client. */
  readonly byTable: TableUse | null
}

/** @returns the name of the first step that this version does not know, or undefined */
export function unknownStepOf(bundle: Bundle): string | undefined {
  for (let at = 0; at < bundle.policyRow.length; at += PolicyCell.Words) {
    const { algorithm, filterChain } = policyTextAt(bundle, at)
    if (filterChain.length === 0 && algorithmNamed(algorithm) === undefined) return algorithm
    const unknown = filterChain.find((name) => filterNamed(name) === undefined)
    if (unknown !== undefined) return unknown
  }
  return undefined
}

/**
 * Creates all policies of a bundle, by row. Each distinct chain is bound once.
 *
 * @param memory of the thread; left out: these policies have their own
 */
export function createPolicies(
  environment: RoutingEnvironment,
  memory?: ChoiceMemory,
): readonly Policy[] {
  const { bundle } = environment
  const bound = new Map<number, Pick<Policy, 'ways' | 'steps'>>()
  const policies: Policy[] = []
  for (let at = 0; at < bundle.policyRow.length; at += PolicyCell.Words) {
    const text = bundle.policyRow[at + PolicyCell.Text]!
    const known = bound.get(text) ?? createSteps(environment, policyTextAt(bundle, at))
    bound.set(text, known)
    policies.push({
      ...known,
      isWeighted: dividesByWeight(known.ways),
      onAllDown: bundle.policyRow[at + PolicyCell.OnAllDown]!,
      fallbackPool: bundle.policyRow[at + PolicyCell.FallbackPool]! - 1,
      answerCount: bundle.policyRow[at + PolicyCell.AnswerCount]!,
      byTable: null,
    })
  }
  return withTables(bundle, policies, memory)
}

/** Makes policies that depend on one table share the stored choices. */
function withTables(
  bundle: Bundle,
  policies: readonly Policy[],
  memory: ChoiceMemory | undefined,
): readonly Policy[] {
  const tableSteps = policies.map(tableStepOf)
  const values = tableSteps.flatMap((step, row): [number, number][] =>
    step === undefined ? [] : [[row, step.values]],
  )
  if (values.length === 0) return policies
  const choices = new TableChoices(bundle, new Map(values), memory)
  return policies.map((policy, row) => {
    const step = tableSteps[row]
    if (step === undefined) return policy
    return { ...policy, byTable: { step, choices, likeness: createTableLikeness(choices, step) } }
  })
}

/**
 * Finds the table when only the first step looks at the client, in one table, and the other steps
 * repeat.
 */
function tableStepOf({ ways, steps, answerCount }: Policy): TableStep | undefined {
  const isSettled = ways.slice(1).every(({ repeats }) => repeats === true)
  return answerCount === 1 && isSettled ? steps[0]?.byTable : undefined
}

/** Returns by row whether each policy of a bundle divides the answers by weight. */
export function weightedPolicies(bundle: Bundle): readonly boolean[] {
  const known = new Map<number, boolean>()
  const rows = Array.from(
    { length: bundle.policyRow.length / PolicyCell.Words },
    (_, row) => row * PolicyCell.Words,
  )
  return rows.map((at) => {
    const text = bundle.policyRow[at + PolicyCell.Text]!
    const isWeighted = known.get(text) ?? dividesByWeight(waysOf(policyTextAt(bundle, at)))
    known.set(text, isWeighted)
    return isWeighted
  })
}

/** Returns the ways of all policies of a bundle; services with a plain algorithm have no policy. */
export function waysInPolicies(bundle: Bundle): ReadonlySet<Way> {
  const ways = new Set<Way>()
  for (let at = 0; at < bundle.policyRow.length; at += PolicyCell.Words) {
    for (const { way } of usesOf(policyTextAt(bundle, at))) ways.add(way)
  }
  return ways
}

function policyTextAt(bundle: Bundle, at: number): PolicyText {
  const text = parsePolicyText(textOf(bundle, bundle.policyRow[at + PolicyCell.Text]!))
  assert(text !== undefined, 'the loader has read every policy')
  return text
}

function createSteps(
  environment: RoutingEnvironment,
  text: PolicyText,
): Pick<Policy, 'ways' | 'steps'> {
  const uses = usesOf(text)
  return {
    ways: uses.map(({ way }) => way),
    steps: uses.map(({ way, argument }) => way.bind(environment, argument)),
  }
}

function waysOf(text: PolicyText): readonly Way[] {
  return usesOf(text).map(({ way }) => way)
}

/** A selecting step ends the chain; the compiler warns of what stands behind it. */
function usesOf({ algorithm, filterChain }: PolicyText): readonly FilterUse[] {
  if (filterChain.length === 0) {
    const known = algorithmNamed(algorithm)
    assert(known !== undefined, 'the node refuses bundles with unknown steps')
    return [{ way: known, argument: '' }]
  }
  const uses: FilterUse[] = []
  for (const name of filterChain) {
    const use = filterNamed(name)
    assert(use !== undefined, 'the node refuses bundles with unknown steps')
    uses.push(use)
    if (use.way.kind === 'selecting') break
  }
  return uses
}

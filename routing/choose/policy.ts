// Binds the routing policies of a bundle to their steps, once per bundle.
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { PolicyCell } from '#bundle/format/routing-cells.ts'
import type { PolicyText } from '#bundle/format/routing-cells.ts'
import { parsePolicyText } from '#bundle/format/routing-text.ts'
import { assert } from '#lib/assert.ts'
import type { RoutingEnvironment } from './environment.ts'
import type { Step, Way } from './way.ts'
import { algorithmNamed, filterNamed } from './ways.ts'

export interface Policy {
  readonly ways: readonly Way[]
  /** What the ways do, bound to the bundle. */
  readonly steps: readonly Step[]
  /** One of OnAllDownCode. */
  readonly onAllDown: number
  /** -1: none. */
  readonly fallbackPool: number
  readonly answerCount: number
}

/** @returns the name of a step that this version does not know, or undefined */
export function unknownStepOf(bundle: Bundle): string | undefined {
  for (let at = 0; at < bundle.policyRow.length; at += PolicyCell.Words) {
    const { algorithm, filterChain } = policyTextAt(bundle, at)
    if (filterChain.length === 0 && algorithmNamed(algorithm) === undefined) return algorithm
    const unknown = filterChain.find((name) => filterNamed(name) === undefined)
    if (unknown !== undefined) return unknown
  }
  return undefined
}

/** All policies of a bundle, by row. Steps are bound once for each distinct chain. */
export function createPolicies(environment: RoutingEnvironment): readonly Policy[] {
  const { bundle } = environment
  const bound = new Map<number, Pick<Policy, 'ways' | 'steps'>>()
  const policies: Policy[] = []
  for (let at = 0; at < bundle.policyRow.length; at += PolicyCell.Words) {
    const text = bundle.policyRow[at + PolicyCell.Text]!
    const known = bound.get(text) ?? createSteps(environment, policyTextAt(bundle, at))
    bound.set(text, known)
    policies.push({
      ...known,
      onAllDown: bundle.policyRow[at + PolicyCell.OnAllDown]!,
      fallbackPool: bundle.policyRow[at + PolicyCell.FallbackPool]! - 1,
      answerCount: bundle.policyRow[at + PolicyCell.AnswerCount]!,
    })
  }
  return policies
}

function policyTextAt(bundle: Bundle, at: number): PolicyText {
  const text = parsePolicyText(textOf(bundle, bundle.policyRow[at + PolicyCell.Text]!))
  assert(text !== undefined, 'the loader has read every policy')
  return text
}

function createSteps(
  environment: RoutingEnvironment,
  { algorithm, filterChain }: PolicyText,
): Pick<Policy, 'ways' | 'steps'> {
  if (filterChain.length === 0) {
    const known = algorithmNamed(algorithm)
    assert(known !== undefined, 'the node refuses bundles with unknown steps')
    return { ways: [known], steps: [known.bind(environment, '')] }
  }
  const ways: Way[] = []
  const steps: Step[] = []
  for (const name of filterChain) {
    const use = filterNamed(name)
    assert(use !== undefined, 'the node refuses bundles with unknown steps')
    ways.push(use.way)
    steps.push(use.way.bind(environment, use.argument))
    // A selecting step ends the chain; the compiler warns of what stands behind it.
    if (use.way.kind === 'selecting') break
  }
  return { ways, steps }
}

// Traces one choice step by step: the candidates before and after each step, and the bits of the
// client's address that it used. Runs the same steps as `choose`.
import { Random } from '#lib/random.ts'
import { Chain } from '#routing/chain/chain.ts'
import { choose, loadCandidates, preferByGeoRule } from './choose.ts'
import type { Policy } from './policy.ts'
import type { Way } from './way.ts'

interface TracedStep {
  readonly way: Way
  /** Member indices in order. */
  readonly before: readonly number[]
  readonly after: readonly number[]
  /** Leading bits of the client's address needed so far. */
  readonly scopeBits: number
}

export interface Trace {
  /**
   * The pool whose members were considered: the fallback pool when all of the service's own are
   * down.
   */
  readonly pool: number
  readonly candidates: readonly number[]
  /** The member that a geo rule of the pool sends the client to; -1: none matches. */
  readonly geoRuleMember: number
  /** Empty when a geo rule has decided. */
  readonly steps: readonly TracedStep[]
  /** Member indices of the answer. */
  readonly chosen: readonly number[]
  readonly scopeBits: number
}

/**
 * Runs a policy on a chain that is set up for a query. It advances cursor and random numbers as a
 * query does.
 */
export function traceChoice(chain: Chain, policy: Policy, poolIndex: number): Trace {
  const standing = (): readonly number[] => [...chain.members.subarray(0, chain.count)]
  chain.startScope()
  chain.answerCount = policy.answerCount
  loadCandidates(chain, policy, poolIndex)
  const candidates = standing()
  const pool = chain.poolIndex
  const isRuled = chain.count > 0 && preferByGeoRule(chain)
  const geoRuleMember = isRuled ? chain.members[0]! : -1
  const steps: TracedStep[] = []
  if (chain.count > 0 && !isRuled) {
    for (const [i, step] of policy.steps.entries()) {
      const before = standing()
      step(chain)
      steps.push({ way: policy.ways[i]!, before, after: standing(), scopeBits: chain.scope })
    }
  }
  const chosen = standing().slice(0, policy.answerCount)
  return { pool, candidates, geoRuleMember, steps, chosen, scopeBits: chain.scope }
}

/**
 * Chooses `count` times for the query of a chain, with its own random numbers.
 *
 * @param again makes the choice again; making a chain costs more than many choices
 * @returns by member index, how often it stood first, second, … in the answer; empty when there is
 * no candidate
 */
export function drawManyByPolicy(
  chain: Chain,
  policy: Policy,
  poolIndex: number,
  seed: number,
  count: number,
  again = new Chain(new Random(seed)),
): ReadonlyMap<number, readonly number[]> {
  again.random.restart(seed)
  again.wantsScope = false
  again.setUpAs(chain)
  const picks = new Map<number, number[]>()
  for (let i = 0; i < count; i++) {
    const chosen = choose(again, policy, poolIndex)
    if (chosen === 0) break
    for (let place = 0; place < chosen; place++) {
      const member = again.members[place]!
      let places = picks.get(member)
      if (places === undefined) {
        places = Array.from({ length: policy.answerCount }, () => 0)
        picks.set(member, places)
      }
      places[place]!++
    }
  }
  return picks
}

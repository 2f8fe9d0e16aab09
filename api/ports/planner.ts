// The port to plans: which clients would get another answer after a change that is not made.
import type { Moved } from '#compiler/lower/name-outline.ts'
import type { Result } from '#lib/result.ts'

export interface PlanQuestion {
  /** What would answer; undefined: nothing would change. */
  readonly bundle: Uint8Array | undefined
  /** Whether it goes back to what answered before; asked where the plan is beyond a guardrail. */
  readonly goesBack: (moved: readonly Moved[]) => Promise<boolean>
  /** RFC 3339; empty: now. */
  readonly at: readonly string[]
  /** Also under the health that this node sees. */
  readonly withHealth: boolean
  /** Answers that are listed of each scenario, at most. */
  readonly limit: number
  /** null: who asks sees everything. */
  readonly viewer: { readonly tenant: string; readonly names: ReadonlySet<string> } | null
}

export type PlanFault =
  | { readonly code: 'invalid'; readonly field: string; readonly reason: string }
  /** Others wait already, it took too long, or there is nothing to compare with. */
  | { readonly code: 'busy' | 'too-slow' | 'no-bundle' | 'failed' }

export interface Planner {
  /** Nothing of the node changes. @returns the plan, as `gslbd plan --format json` writes it */
  readonly plan: (question: PlanQuestion) => Promise<Result<object, PlanFault>>
}

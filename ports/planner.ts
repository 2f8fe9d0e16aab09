// Defines the port to plans: which clients would get another answer after a proposed change.
import type { Moved } from '#compiler/lower/name-outline.ts'
import type { Result } from '#lib/result.ts'

export interface PlanQuestion {
  /** The bundle that would answer; undefined: nothing would change. */
  readonly bundle: Uint8Array | undefined
  /** Whether the change goes back to what answered before; called when it exceeds a guardrail. */
  readonly goesBack: (moved: readonly Moved[]) => Promise<boolean>
  /** RFC 3339; empty: now. */
  readonly at: readonly string[]
  /** True: also plans under the health that this node sees. */
  readonly withHealth: boolean
  /** How many answers of each scenario are listed. */
  readonly limit: number
  /** null: the caller may see everything. */
  readonly viewer: { readonly tenant: string; readonly names: ReadonlySet<string> } | null
}

export type PlanFault =
  | { readonly code: 'invalid'; readonly field: string; readonly reason: string }
  /** Too many wait, it took too long, or there is no bundle to compare with. */
  | { readonly code: 'busy' | 'too-slow' | 'no-bundle' | 'failed' }

export interface Planner {
  /**
   * Plans; nothing of the node changes.
   *
   * @returns the plan in the form of `gslbd plan --format json`
   */
  readonly plan: (question: PlanQuestion) => Promise<Result<object, PlanFault>>
}

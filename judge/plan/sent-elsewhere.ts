// Computes the share of an answer's clients that is sent from one address to another, for headline
// and guardrail.
import type { FamilyMovement } from '#judge/document/model.ts'
import { isNowhere } from '#judge/sides/outcome.ts'

/**
 * @returns 0 to 1; clients without an address before do not count: the first member of a pool moves
 * nobody
 */
export function sentElsewhere({ moved, flows }: Pick<FamilyMovement, 'moved' | 'flows'>): number {
  const taken = flows.filter(({ from }) => !isNowhere(from))
  if (taken.length === flows.length) return moved
  return Math.min(
    moved,
    taken.reduce((sum, { share }) => sum + share, 0),
  )
}

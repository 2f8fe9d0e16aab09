// Counts clients that an answer sends from one address to another: for headline and guardrail.
import type { FamilyMovement } from '#judge/document/model.ts'
import { isNowhere } from '#judge/sides/outcome.ts'

/** Who had no address is taken from none: the first member of a pool moves nobody. 0 to 1. */
export function sentElsewhere({ moved, flows }: Pick<FamilyMovement, 'moved' | 'flows'>): number {
  const taken = flows.filter(({ from }) => !isNowhere(from))
  if (taken.length === flows.length) return moved
  return Math.min(
    moved,
    taken.reduce((sum, { share }) => sum + share, 0),
  )
}

// Prints the effect of a change in one line, for an answer to a write.
import type { PlanSummary } from '#judge/document/model.ts'

type Counted = Pick<
  PlanSummary,
  'movedMax' | 'names' | 'addedNames' | 'removedNames' | 'laterChanges'
>

/**
 * @returns such as `moved=12.4%; names=3`, followed by those of `added`, `removed` and `later` that
 * are not 0
 */
export function shortSummary(summary: Counted): string {
  const { movedMax, names, addedNames, removedNames, laterChanges } = summary
  const moved = Math.round(movedMax * 1_000) / 10
  const parts = [`moved=${movedMax > 0 && moved === 0 ? '<0.1' : moved}%`, `names=${names}`]
  if (addedNames > 0) parts.push(`added=${addedNames}`)
  if (removedNames > 0) parts.push(`removed=${removedNames}`)
  if (laterChanges > 0) parts.push(`later=${laterChanges}`)
  return parts.join('; ')
}

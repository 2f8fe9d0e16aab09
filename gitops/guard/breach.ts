// What a change does beyond the guardrails: the names that it removes, else what else it alters.
import type { NameOutline } from '#compiler/plan/name-outline.ts'
import { beyondLimit } from './change-limits.ts'
import { removalBetween, wordsOf } from './removal.ts'

export interface Breach {
  readonly code: 'NamesRemoved' | 'GuardrailReached'
  /** `removes 2 of 3 names (…)`: the end of a sentence about the change. */
  readonly words: string
}

/** undefined: so much may change. */
export function breachBetween(before: NameOutline, after: NameOutline): Breach | undefined {
  const removal = removalBetween(before, after)
  if (removal !== null) return { code: 'NamesRemoved', words: `removes ${wordsOf(removal)}` }
  const words = beyondLimit(before.changes(), after.changes())
  return words === undefined ? undefined : { code: 'GuardrailReached', words }
}

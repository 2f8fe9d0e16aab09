// How a compiler asks its tests: it has no answer path of its own, so somebody gives it one.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { Entry, TreeReport } from './tree.ts'

/** Asks the finished bundle, and reports what is not as the tests say. */
export type PolicyTests = (
  bundle: Bundle,
  tests: readonly Entry<'Test'>[],
  report: TreeReport,
) => void

// The hook that runs policy tests: the compiler has no answer path of its own.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { Entry, TreeReport } from './tree.ts'

/** Queries the finished bundle and reports deviations from the tests. */
export type PolicyTests = (
  bundle: Bundle,
  tests: readonly Entry<'Test'>[],
  report: TreeReport,
) => void

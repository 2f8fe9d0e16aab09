// The hook with which a caller adds findings about running nodes to those of the rules.
import type { Tree, TreeReport } from './tree.ts'

/** Runs last, on a tree without errors. */
export type Observe = (tree: Tree, report: TreeReport) => void

// How a compiler tells what was observed of running nodes, at the places of what it is about.
import type { Tree, TreeReport } from './tree.ts'

/** Runs last, over a tree without errors. */
export type Observe = (tree: Tree, report: TreeReport) => void

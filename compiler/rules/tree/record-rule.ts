// The frame of a tree rule that looks at records and declared zones alone.
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import type { Tree, TreeReport } from '#compiler/tree/tree.ts'
import type { TreeRule } from './tree-rule.ts'

export interface RecordSubject {
  /** Its records and settings only. */
  readonly tree: Tree
  readonly plan: RecordPlan
}

/** Such a rule looks at a plan once: most commits change no record, and there may be many. */
export function recordRule(
  name: string,
  look: (subject: RecordSubject, report: TreeReport) => void,
): TreeRule {
  const found = new WeakMap<RecordPlan, Parameters<TreeReport>[]>()
  return {
    name,
    check({ tree, records: plan }, report) {
      if (plan === undefined) return
      let list = found.get(plan)
      if (list === undefined) {
        const kept: Parameters<TreeReport>[] = []
        look({ tree, plan }, (...finding) => kept.push(finding))
        found.set(plan, kept)
        list = kept
      }
      for (const finding of list) report(...finding)
    },
  }
}

// What the thread of plans is given, and what it answers.
import { runLivePlan } from './live-plan-job.ts'
import type { LivePlanJob } from './live-plan-job.ts'
import { effectOf } from './effect-job.ts'
import type { EffectJob } from './effect-job.ts'

export type PlanJob = EffectJob | LivePlanJob

/** null: it cannot be planned. */
export function runPlanJob(job: PlanJob): object | null {
  return job.kind === 'effect' ? effectOf(job) : runLivePlan(job)
}

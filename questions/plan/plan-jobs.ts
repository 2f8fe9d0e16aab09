// Defines the jobs of the planning thread, and their answers.
import { runLivePlan } from './live-plan-job.ts'
import type { LivePlanJob } from './live-plan-job.ts'
import { effectOf } from './effect-job.ts'
import type { EffectJob } from './effect-job.ts'

export type PlanJob = EffectJob | LivePlanJob

/** @returns null: no plan is possible */
export function runPlanJob(job: PlanJob): object | null {
  return job.kind === 'effect' ? effectOf(job) : runLivePlan(job)
}

// Runs the thread that plans for a running node, typed by the expected answer.
import { JobThread } from '#system/worker/job-thread.ts'
import type { JobThreadOptions } from '#system/worker/job-thread.ts'
import type { PlanJob } from './plan-jobs.ts'

/** @template Answer result of the plan */
export class PlanThread<Answer extends object> extends JobThread<PlanJob, Answer> {
  constructor(options: Omit<JobThreadOptions, 'file'>) {
    super({ ...options, file: new URL('./plan-worker.ts', import.meta.url) })
  }
}

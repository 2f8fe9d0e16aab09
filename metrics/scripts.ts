// Metrics of script steps.
import { scriptOutcomeNames } from '#routing/script/contract.ts'
import type { MetricRows } from './samples.ts'

/** Rows of the metrics table. */
export const scriptRows: MetricRows = {
  gslbd_script_steps_total: {
    help: 'Script steps, by how they ended; all but `done` left the candidates as they were.',
    labels: ['result'],
    read: ({ threads }) =>
      scriptOutcomeNames.map((result) => ({
        value: threads.reduce((sum, { byScriptOutcome }) => sum + byScriptOutcome[result]!, 0),
        labels: { result },
      })),
  },
  gslbd_scripts_benched: {
    help: 'Scripts left out for a while because they used up their time again and again.',
    read: ({ scripts }) => scripts.benched,
  },
  gslbd_script_threads_killed_total: {
    help: 'Script threads that did not come back from a native function and were replaced.',
    read: ({ scripts }) => scripts.killed,
  },
}

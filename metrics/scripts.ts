// Metrics of script steps.
import { scriptOutcomeNames } from '#routing/script/contract.ts'
import type { MetricRow } from './samples.ts'

/** Rows of the metrics table. */
export const scriptRows: readonly MetricRow[] = [
  {
    name: 'gslbd_script_steps_total',
    type: 'counter',
    help: 'Script steps, by how they ended; all but `done` left the candidates as they were.',
    labels: ['result'],
    read: ({ threads }) =>
      scriptOutcomeNames.map((result) => ({
        value: threads.reduce((sum, { byScriptOutcome }) => sum + byScriptOutcome[result]!, 0),
        labels: { result },
      })),
  },
  {
    name: 'gslbd_scripts_benched',
    type: 'gauge',
    help: 'Scripts left out for a while because they used up their time again and again.',
    read: ({ scripts }) => scripts.benched,
  },
  {
    name: 'gslbd_script_threads_killed_total',
    type: 'counter',
    help: 'Script threads that did not come back from a native function and were replaced.',
    read: ({ scripts }) => scripts.killed,
  },
]

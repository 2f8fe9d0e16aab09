// Metrics of the journal from which answers are explained later.
import type { MetricRow } from './samples.ts'

/** Rows of the metrics table. */
export const journalRows: readonly MetricRow[] = [
  {
    name: 'gslbd_journal_writing',
    type: 'gauge',
    help: 'Whether the journal is written; 0 from a failed write on, such as on a full disk.',
    read: ({ journal }) => journal && journal.error === null,
  },
  {
    name: 'gslbd_journal_bytes',
    type: 'gauge',
    help: 'Octets of the journal in the data directory.',
    read: ({ journal }) => journal?.bytes,
  },
  {
    name: 'gslbd_journal_losses_total',
    type: 'counter',
    help: 'How often records of the journal were lost: to a failed write, or a disk too slow.',
    read: ({ journal }) => journal?.losses,
  },
]

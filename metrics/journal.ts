// Metrics of the journal from which answers are explained later.
import type { MetricRows } from './samples.ts'

/** Rows of the metrics table. */
export const journalRows: MetricRows = {
  gslbd_journal_writing: {
    help: 'Whether the journal is written; 0 from a failed write on, such as on a full disk.',
    read: ({ journal }) => journal && journal.error === null,
  },
  gslbd_journal_bytes: {
    help: 'Octets of the journal in the data directory.',
    read: ({ journal }) => journal?.bytes,
  },
  gslbd_journal_losses_total: {
    help: 'How often records of the journal were lost: to a failed write, or a disk too slow.',
    read: ({ journal }) => journal?.losses,
  },
}

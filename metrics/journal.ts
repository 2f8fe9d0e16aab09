// Metrics of the journal from which answers are explained later.
import type { MetricsSnapshot } from './snapshot.ts'
import { one } from './samples.ts'

/** Rows of the metrics table. */
export const journalRows = [
  {
    name: 'gslbd_journal_writing',
    type: 'gauge',
    help: 'Whether the journal is written; 0 from a failed write on, such as on a full disk.',
    labels: [],
    read: ({ journal }: MetricsSnapshot) =>
      journal === null ? [] : one(journal.error === null ? 1 : 0),
  },
  {
    name: 'gslbd_journal_bytes',
    type: 'gauge',
    help: 'Octets of the journal in the data directory.',
    labels: [],
    read: ({ journal }: MetricsSnapshot) => (journal === null ? [] : one(journal.bytes)),
  },
  {
    name: 'gslbd_journal_losses_total',
    type: 'counter',
    help: 'How often records of the journal were lost: to a failed write, or a disk too slow.',
    labels: [],
    read: ({ journal }: MetricsSnapshot) => (journal === null ? [] : one(journal.losses)),
  },
] as const

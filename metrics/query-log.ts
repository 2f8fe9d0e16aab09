// Metrics of the query log: what was written, and what was lost where.
import type { MetricRow } from './samples.ts'

/** Rows of the metrics table. */
export const queryLogRows: readonly MetricRow[] = [
  {
    name: 'gslbd_query_log_records_total',
    type: 'counter',
    help:
      'Queries for the query log: `written`; `full`: lost because more came than it could write; ' +
      '`away`: lost because the file or the receiver did not take them.',
    labels: ['result'],
    read: ({ queryLog }) =>
      queryLog === null
        ? []
        : [
            { value: queryLog.written, labels: { result: 'written' } },
            { value: queryLog.droppedFull, labels: { result: 'full' } },
            { value: queryLog.droppedAway, labels: { result: 'away' } },
          ],
  },
  {
    name: 'gslbd_query_log_bytes_total',
    type: 'counter',
    help: 'Octets that the query log has written.',
    read: ({ queryLog }) => queryLog?.bytes,
  },
  {
    name: 'gslbd_query_log_up',
    type: 'gauge',
    help: '1 while the receiver of the query log, or its file after the first record, takes them.',
    read: ({ queryLog }) => queryLog?.isUp,
  },
]

// Metrics of the query log: what was written, and what was lost where.
import type { MetricRows } from './samples.ts'

/** Rows of the metrics table. */
export const queryLogRows: MetricRows = {
  gslbd_query_log_records_total: {
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
  gslbd_query_log_bytes_total: {
    help: 'Octets that the query log has written.',
    read: ({ queryLog }) => queryLog?.bytes,
  },
  gslbd_query_log_up: {
    help: '1 while the receiver of the query log, or its file after the first record, takes them.',
    read: ({ queryLog }) => queryLog?.isUp,
  },
}

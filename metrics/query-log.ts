// Metrics of the query log: what was written, and what was lost where.
import { one } from './samples.ts'
import type { MetricsSnapshot } from './snapshot.ts'

/** Rows of the metrics table. */
export const queryLogRows = [
  {
    name: 'gslbd_query_log_records_total',
    type: 'counter',
    help:
      'Queries for the query log: `written`; `full`: lost because more came than it could write; ' +
      '`away`: lost because the file or the receiver did not take them.',
    labels: ['result'],
    read: ({ queryLog }: MetricsSnapshot) =>
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
    labels: [],
    read: ({ queryLog }: MetricsSnapshot) => (queryLog === null ? [] : one(queryLog.bytes)),
  },
  {
    name: 'gslbd_query_log_up',
    type: 'gauge',
    help: '1 while the receiver of the query log, or its file after the first record, takes them.',
    labels: [],
    read: ({ queryLog }: MetricsSnapshot) => (queryLog === null ? [] : one(queryLog.isUp ? 1 : 0)),
  },
] as const

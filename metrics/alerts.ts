// Metrics of alerts: what begins and ends, and messages to channels.
import type { MetricRows } from './samples.ts'

/** Rows of the metrics table. */
export const alertRows: MetricRows = {
  gslbd_alerts_total: {
    help: 'Alerts that this node has `opened` and `resolved` for the cluster.',
    labels: ['event'],
    read: ({ alerts }) =>
      alerts === null
        ? []
        : (['opened', 'resolved'] as const).map((event) => ({
            value: alerts[event],
            labels: { event },
          })),
  },
  gslbd_alert_findings: {
    help: 'What this node finds wrong now.',
    read: ({ alerts }) => alerts?.findings,
  },
  gslbd_alert_messages_total: {
    help:
      'Messages of alerts by this node, by kind of channel: `sent`, or `failed` (tried again ' +
      'where that may help). Alert on failures by another way.',
    labels: ['kind', 'result'],
    read: ({ alerts }) =>
      [...(alerts?.delivered ?? [])].flatMap(([kind, counts]) =>
        (['sent', 'failed'] as const).map((result) => ({
          value: counts[result],
          labels: { kind, result },
        })),
      ),
  },
}

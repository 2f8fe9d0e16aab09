// GET /metrics: all metrics, in Prometheus' text format 0.0.4 or as OpenMetrics.
import { Type } from '#lib/schema/type.ts'
import { success } from '#http/reply.ts'
import { route } from '#api/route/route.ts'

export const getMetrics = route('GET /metrics', {
  needs: 'cluster:status',
  // Labels name pools of all tenants.
  ofPlatform: true,
  withoutConfig: true,
  withMetricsToken: true,
  tag: 'Node',
  summary: 'What the node counts, for Prometheus',
  details:
    'GSLB_METRICS_TOKEN opens it, and nothing else. With `Accept: application/openmetrics-text` ' +
    'the answer is OpenMetrics 1.0, with the traces of writes as exemplars.',
  responses: {
    200: {
      description: 'Metrics',
      schema: Type.String(),
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
    },
  },
  ports: ['view'],
  handle: async ({ ports, request }) => {
    const { type, text } = await ports.view.metrics(request.header('accept'))
    return success(text, { 'content-type': type })
  },
})

// Checks the URL of a webhook health check: it names a server and holds no secret.
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { ObjectRule } from './object-rule.ts'

export const healthCheckWebhook: ObjectRule<'Pool'> = {
  name: 'health-check-webhook',
  kind: 'Pool',
  check({ spec: { healthCheck: check } }, report) {
    if (check?.type !== 'webhook') return
    const { webhookURL } = check
    if (webhookURL === '') {
      report('health-check-webhook-missing', valueAt('spec', 'healthCheck', 'type'))
      return
    }
    const at = valueAt('spec', 'healthCheck', 'webhookURL')
    const url = URL.parse(webhookURL)
    if (url === null) report('health-check-webhook-url', at, { args: [webhookURL] })
    else if (url.username !== '' || url.password !== '')
      report('health-check-webhook-credentials', at)
  },
}

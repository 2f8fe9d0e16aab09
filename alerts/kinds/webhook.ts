// Channels that post our own JSON, signed with HMAC-SHA256 (RFC 2104), to an address.
import { createHmac } from 'node:crypto'
import { text, textOf, url, urlFault, urlTarget } from '#alerts/channel-kind.ts'
import type { ChannelKind } from '#alerts/channel-kind.ts'
import { headline } from '#alerts/send/message.ts'
import type { AlertMessage } from '#alerts/send/message.ts'
import { outcomeOf } from '#alerts/send/outcome.ts'
import { post } from '#alerts/send/post.ts'
import { alertLimits } from '#state/ports/alerts.ts'
import type { StoredAlert } from '#state/ports/alerts.ts'

export const webhook: ChannelKind = {
  kind: 'webhook',
  says: 'JSON, signed with `secret`, posted to `url`',
  fields: {
    url: { ...url, isRequired: true, isSecret: true },
    // Never sent, so that it stays where the address changes.
    secret: {
      isSecret: true,
      isMade: true,
      schema: text({
        minLength: 16,
        maxLength: 256,
        'x-expected': '16 to 256 printable ASCII characters',
        description: 'Signs the messages; left out, one is made and shown once',
      }),
    },
  },
  noticesPerMessage: alertLimits.noticesPerMessageMax,
  target: urlTarget,
  fault: urlFault,
  send: async (message, settings, way) => {
    const body = webhookBody(message)
    const timestamp = String(Math.floor(message.sentAtMs / 1_000))
    const headers = {
      'x-gslb-delivery': message.id,
      'x-gslb-timestamp': timestamp,
      'x-gslb-signature': signature(textOf(settings, 'secret'), timestamp, body),
    }
    return outcomeOf(await post(textOf(settings, 'url'), body, headers, way))
  },
}

/** Over the time, too: an old message that somebody sends again shows its age. */
function signature(secret: string, timestamp: string, body: string): string {
  const digest = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return `v1=${digest}`
}

function webhookBody(message: AlertMessage): string {
  return JSON.stringify({
    version: 1,
    id: message.id,
    sentAt: Math.floor(message.sentAtMs / 1_000),
    test: message.isTest,
    summary: headline(message),
    alerts: message.steps.map(({ event, alert }) => ({ event, ...shown(alert) })),
  })
}

function shown({ id, condition, severity, subject, title, detail, ...alert }: StoredAlert) {
  const seconds = (ms: number): number => Math.floor(ms / 1_000)
  return {
    ...{ id, condition, severity, subject, title, detail },
    tenantId: alert.tenantId === '' ? null : alert.tenantId,
    node: alert.node === '' ? null : alert.node,
    openedAt: seconds(alert.openedAtMs),
    resolvedAt: alert.resolvedAtMs === null ? null : seconds(alert.resolvedAtMs),
  }
}

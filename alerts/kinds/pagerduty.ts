// Triggers and resolves incidents by PagerDuty's Events API v2, or a compatible one.
import { text, textOf, url, urlFault, urlTarget } from '#alerts/channel-kind.ts'
import type { ChannelKind } from '#alerts/channel-kind.ts'
import type { AlertMessage } from '#alerts/send/message.ts'
import { outcomeOf } from '#alerts/send/outcome.ts'
import { post } from '#alerts/send/post.ts'

const eventsUrl = 'https://events.pagerduty.com/v2/enqueue'
/** Limit of PagerDuty, in characters. */
const summaryLengthMax = 1_024

export const pagerduty: ChannelKind = {
  kind: 'pagerduty',
  says:
    'an event of the Events API v2 for each alert and for its end, by the integration ' +
    `\`routingKey\`, posted to \`url\` (\`${eventsUrl}\` if left out)`,
  fields: {
    routingKey: {
      isRequired: true,
      isSecret: true,
      schema: text({
        maxLength: 256,
        'x-expected': 'the key of an integration',
        description: 'Key of the integration that takes events',
      }),
    },
    url: { ...url, isPlace: true },
  },
  // An event concerns one incident.
  noticesPerMessage: 1,
  target: (settings) => urlTarget({ ...settings, url: textOf(settings, 'url') || eventsUrl }),
  fault: urlFault,
  send: async (message, settings, way) => {
    const body = pagerdutyBody(message, textOf(settings, 'routingKey'))
    return outcomeOf(await post(textOf(settings, 'url') || eventsUrl, body, {}, way))
  },
}

/** The alert's id joins its end to its beginning, and a repeated event to the first. */
function pagerdutyBody({ steps, isTest }: AlertMessage, routingKey: string): string {
  const [{ event, alert } = undefined!] = steps
  const common = { routing_key: routingKey, dedup_key: `gslbd-${alert.id}` }
  if (event === 'resolved') return JSON.stringify({ ...common, event_action: 'resolve' })
  const { title, detail, severity, condition, subject, tenantId, node, openedAtMs } = alert
  return JSON.stringify({
    ...common,
    event_action: 'trigger',
    client: 'gslbd',
    payload: {
      summary: title.slice(0, summaryLengthMax),
      source: node === '' ? 'gslbd' : node,
      severity: isTest ? 'info' : severity,
      timestamp: new Date(openedAtMs).toISOString(),
      component: subject,
      group: tenantId === '' ? 'operator' : tenantId,
      class: condition,
      custom_details: { detail, test: isTest },
    },
  })
}

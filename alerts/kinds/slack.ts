// Posts text to an incoming webhook of Slack, Mattermost, Rocket.Chat or a compatible one.
import { textOf, url, urlFault, urlTarget } from '#alerts/channel-kind.ts'
import type { ChannelKind } from '#alerts/channel-kind.ts'
import { headline, paragraphs, severityOf } from '#alerts/send/message.ts'
import { outcomeOf } from '#alerts/send/outcome.ts'
import { post } from '#alerts/send/post.ts'
import type { Severity } from '#state/ports/alerts.ts'

/** Notices in one message, so that it stays readable, and below the limits of such services. */
const noticesMax = 20
const textLengthMax = 12_000

const colors: Readonly<Record<Severity, string>> = {
  critical: '#b00020',
  error: '#d9480f',
  warning: '#e8a300',
  info: '#2b8a3e',
}

export const slack: ChannelKind = {
  kind: 'slack',
  says: 'a text, posted to the incoming webhook `url` of Slack or of what takes the same',
  // The URL alone permits to write into the channel.
  fields: { url: { ...url, isRequired: true, isSecret: true } },
  noticesPerMessage: noticesMax,
  target: urlTarget,
  fault: urlFault,
  send: async (message, settings, way) => {
    const text = escaped(headline(message))
    const attachment = {
      color: colors[severityOf(message)],
      fallback: text,
      text: escaped(paragraphs(message).join('\n\n')).slice(0, textLengthMax),
    }
    const body = JSON.stringify({ text, attachments: [attachment] })
    return outcomeOf(await post(textOf(settings, 'url'), body, {}, way))
  },
}

/** Three characters begin mentions and links there. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

// Lists the kinds of channels. Adding one means a row here, a file and its cases.
import type { ChannelKind } from './channel-kind.ts'
import { email } from './kinds/email.ts'
import { pagerduty } from './kinds/pagerduty.ts'
import { slack } from './kinds/slack.ts'
import { webhook } from './kinds/webhook.ts'

export const channelKinds: readonly ChannelKind[] = Object.freeze([
  webhook,
  email,
  slack,
  pagerduty,
])

export function channelKind(kind: string): ChannelKind | undefined {
  return channelKinds.find((row) => row.kind === kind)
}

// The type of a kind of channels: one row of the table in channel-kinds.ts.
import type { ChannelSettings, SendOutcome } from '#state/ports/alerts.ts'
import type { AlertMessage } from './send/message.ts'
import type { Way } from './send/post.ts'

/** Every setting that some kind has. */
export const channelFields = [
  'url',
  'secret',
  'routingKey',
  'host',
  'port',
  'security',
  'username',
  'password',
  'from',
  'to',
] as const
export type ChannelField = (typeof channelFields)[number]

export interface ChannelFault {
  readonly field: ChannelField
  /** What to write, after the name of the field. */
  readonly reason: string
}

export interface ChannelKind {
  readonly kind: string
  /** One line for the reference. */
  readonly says: string
  readonly required: readonly ChannelField[]
  readonly optional: readonly ChannelField[]
  /** Kept sealed, and never shown. */
  readonly secrets: readonly ChannelField[]
  /** Where its secrets are sent to: who changes one of these must write them again. */
  readonly sendsSecretsTo: readonly ChannelField[]
  /** Made by us, and shown once, where it is left out. */
  readonly makes?: ChannelField
  readonly noticesPerMessage: number
  /** For people: without a path, which may hold a token. */
  readonly target: (settings: ChannelSettings) => string
  /** Beyond types, bounds and which fields there are. */
  readonly fault: (settings: ChannelSettings) => ChannelFault | undefined
  /** Never rejects, and ends within `sendLimits.timeoutMs`. @param settings secrets included */
  readonly send: (
    message: AlertMessage,
    settings: ChannelSettings,
    way: Way,
  ) => Promise<SendOutcome>
}

/** '' where it is not there. */
export function textOf(settings: ChannelSettings, field: ChannelField): string {
  const value = settings[field]
  return typeof value === 'string' ? value : ''
}

export function urlFault(settings: ChannelSettings): ChannelFault | undefined {
  const text = textOf(settings, 'url')
  if (text === '') return undefined
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return { field: 'url', reason: 'must be an https:// address' }
  }
  if (url.username !== '' || url.password !== '') {
    return { field: 'url', reason: 'must be without a user name and a password' }
  }
  return undefined
}

/** The origin alone. */
export function urlTarget(settings: ChannelSettings): string {
  return URL.parse(textOf(settings, 'url'))?.origin ?? ''
}

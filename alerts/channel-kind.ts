// The type of a kind of channels: one row of the table in channel-kinds.ts.
import type { ChannelSettings, SendOutcome } from '#state/ports/alerts.ts'
import type { AlertMessage } from './send/message.ts'
import type { Way } from './send/post.ts'

export interface ChannelField {
  /** Plain JSON Schema, draft 7. Kinds that have a field of one name share its schema. */
  readonly schema: { readonly [keyword: string]: unknown; readonly description: string }
  readonly isRequired?: true
  /** Kept sealed, and never shown. */
  readonly isSecret?: true
  /** Says where secrets are sent to: a caller who changes it must write them again. */
  readonly isPlace?: true
  /** Made by us, and shown once, where it is left out. */
  readonly isMade?: true
  /** The field that takes this one along where it is left out. */
  readonly goesWith?: string
}

export interface ChannelFault {
  readonly field: string
  /** What to write, after the name of the field. */
  readonly reason: string
}

export interface ChannelKind {
  readonly kind: string
  /** One line for the reference. */
  readonly says: string
  /** Its settings: what the API takes and shows, the form and the reference have them from here. */
  readonly fields: Readonly<Record<string, ChannelField>>
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
export function textOf(settings: ChannelSettings, field: string): string {
  const value = settings[field]
  return typeof value === 'string' ? value : ''
}

/** The schema of a text: not empty, and printable ASCII where it has no other pattern. */
export function text(bounds: ChannelField['schema']): ChannelField['schema'] {
  return { type: 'string', minLength: 1, pattern: '^[!-~]+$', ...bounds }
}

export const url: ChannelField = {
  schema: text({
    maxLength: 2_000,
    'x-expected': 'an https:// address',
    description:
      'Where messages are posted. http:// and internal addresses: `alerts.allowedHosts` alone',
  }),
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

// Defines the type of a kind of channels: a row of the table in channel-kinds.ts.
import type { ChannelSettings, SendOutcome } from '#state/ports/alerts.ts'
import type { AlertMessage } from './send/message.ts'
import type { Way } from './send/post.ts'

interface ChannelField {
  /** JSON Schema, draft 7. Kinds with a field of the same name share its schema. */
  readonly schema: { readonly [keyword: string]: unknown; readonly description: string }
  readonly isRequired?: true
  /** Stored encrypted, and never shown. */
  readonly isSecret?: true
  /** Names the receiver of secrets: a caller who changes it has to send them again. */
  readonly isPlace?: true
  /** Generated, and shown once, when it is left out. */
  readonly isMade?: true
  /** The field that this one follows when it is left out. */
  readonly goesWith?: string
}

export interface ChannelFault {
  readonly field: string
  /** Advice that follows the name of the field. */
  readonly reason: string
}

export interface ChannelKind {
  readonly kind: string
  /** Description for the reference, one line. */
  readonly says: string
  /** Settings, from which the API, the form and the reference are made. */
  readonly fields: Readonly<Record<string, ChannelField>>
  readonly noticesPerMessage: number
  /** For people: without a path, which may hold a token. */
  readonly target: (settings: ChannelSettings) => string
  /** Checks beyond types, bounds and names of fields. */
  readonly fault: (settings: ChannelSettings) => ChannelFault | undefined
  /**
   * Never rejects, and ends within `sendLimits.timeoutMs`.
   *
   * @param settings with secrets
   */
  readonly send: (
    message: AlertMessage,
    settings: ChannelSettings,
    way: Way,
  ) => Promise<SendOutcome>
}

/** @returns '' when it is absent */
export function textOf(settings: ChannelSettings, field: string): string {
  const value = settings[field]
  return typeof value === 'string' ? value : ''
}

/** The schema of a text: not empty, and by default printable ASCII. */
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

/** Only the origin. */
export function urlTarget(settings: ChannelSettings): string {
  return URL.parse(textOf(settings, 'url'))?.origin ?? ''
}

// Sends one message by one channel: opens its secrets, and hands both to its kind.
import type { Log } from '#lib/log.ts'
import { unseal } from '#lib/secret-box.ts'
import type { ChannelSettings, SendOutcome, StoredChannel } from '#state/ports/alerts.ts'
import { channelKind } from './channel-kinds.ts'
import type { AlertMessage } from './send/message.ts'
import { failed } from './send/outcome.ts'
import type { Way } from './send/post.ts'

interface SendParts {
  /** null: GSLB_SECRET_KEY is not set. */
  readonly secretKey: Uint8Array | null
  readonly way: Way
  readonly log: Log
}

export type SendByChannel = (channel: StoredChannel, message: AlertMessage) => Promise<SendOutcome>

/** Never rejects. */
export function createSender({ secretKey, way, log }: SendParts): SendByChannel {
  return async (channel, message) => {
    const kind = channelKind(channel.kind)
    if (kind === undefined) return failed(`this node knows no channel of kind ${channel.kind}`)
    const settings = openSettings(channel, secretKey)
    if (settings === undefined) return failed(sealed)
    try {
      return await kind.send(message, settings, way)
    } catch (error) {
      log.error({ err: error, kind: channel.kind }, 'a message of an alert failed by our own fault')
      return failed('gslbd itself failed; the log of the node says why')
    }
  }
}

const sealed =
  'the secrets of this channel cannot be read: GSLB_SECRET_KEY is missing, or is not the key ' +
  'under which they were stored'

/** @returns all settings, the secret ones too; undefined: they cannot be read */
export function openSettings(
  { settings, secretCiphertext }: Pick<StoredChannel, 'settings' | 'secretCiphertext'>,
  secretKey: Uint8Array | null,
): ChannelSettings | undefined {
  const opened = secretKey === null ? undefined : unseal(secretKey, secretCiphertext)
  if (opened?.ok !== true) return undefined
  return { ...settings, ...(JSON.parse(opened.value) as ChannelSettings) }
}

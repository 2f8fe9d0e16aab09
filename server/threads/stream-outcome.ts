// What came of a message that the stream thread has passed on: an update, or a NOTIFY.
import { Rcode } from '#dns/rcode.ts'
import type { StreamUpdate } from './stream-messages.ts'
import type { ThreadGroupParts } from './threads-port.ts'

export async function outcomeOf(
  asked: StreamUpdate,
  { onUpdate, onNotice }: Pick<ThreadGroupParts, 'onUpdate' | 'onNotice'>,
): Promise<Rcode> {
  const { message } = asked
  if (asked.kind === 'update') return (await onUpdate?.(message, asked.keyName)) ?? Rcode.Refused
  return onNotice?.(message, asked.client) ?? Rcode.NotImp
}

// What came of a message that the stream thread has passed on: an update, or a NOTIFY.
import { Rcode } from '#dns/rcode.ts'
import { withoutReason } from '#dns/update/update-outcome.ts'
import type { UpdateOutcome } from '#dns/update/update-outcome.ts'
import type { StreamUpdate } from './stream-messages.ts'
import type { ThreadGroupParts } from './threads-port.ts'

export async function outcomeOf(
  asked: StreamUpdate,
  { onUpdate, onNotice }: Pick<ThreadGroupParts, 'onUpdate' | 'onNotice'>,
): Promise<UpdateOutcome> {
  const { message } = asked
  if (asked.kind === 'update') {
    return (await onUpdate?.(message, asked.signer)) ?? withoutReason(Rcode.Refused)
  }
  return withoutReason(onNotice?.(message, asked.client) ?? Rcode.NotImp)
}

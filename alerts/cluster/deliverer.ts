// Sends queued messages, one channel at a time and with back-off after a failure. A message stays
// in the database until its receiver has taken it, so it is sent at least once.
import type { SendByChannel } from '#alerts/send-by-channel.ts'
import { channelKind } from '#alerts/channel-kinds.ts'
import { failed } from '#alerts/send/outcome.ts'
import { backoffMs } from '#lib/backoff.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import { noLongerThan } from '#lib/timer.ts'
import { uuidV7 } from '#lib/uuid.ts'
import type {
  AlertNotice,
  AlertStore,
  ChannelWithHealth,
  SendOutcome,
} from '#state/ports/alerts.ts'
import { clusterLimits } from './limits.ts'

interface DelivererParts {
  readonly store: Pick<AlertStore, 'due' | 'findChannel' | 'beginMessage' | 'settleMessage'>
  readonly send: SendByChannel
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

/** Messages by the kind of their channel. */
export type DeliveryCounts = ReadonlyMap<string, DeliveryCount>

interface DeliveryCount {
  readonly sent: number
  readonly failed: number
}

export class Deliverer {
  readonly #parts: DelivererParts
  /** By channel: its messages under way. */
  readonly #busy = new Map<string, Promise<void>>()
  #isStopped = false
  readonly #counts = new Map<string, DeliveryCount>()

  constructor(parts: DelivererParts) {
    this.#parts = parts
  }

  /** Starts sending what is due, and does not wait for it. */
  async look(term: number): Promise<void> {
    const { store, clock, log } = this.#parts
    const found = await store.due(clock.nowMs(), [...this.#busy.keys()])
    if (!found.ok) return
    for (const [channelId, notices] of byChannel(found.value)) {
      if (this.#isStopped || this.#busy.has(channelId)) continue
      const sending = this.#drain(term, channelId, notices)
        .catch((error: unknown) => log.error({ err: error }, 'alerts of a channel were not sent'))
        .finally(() => this.#busy.delete(channelId))
      this.#busy.set(channelId, sending)
    }
  }

  counts(): DeliveryCounts {
    return this.#counts
  }

  /** Resolves when no message is under way. */
  async idle(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy.values())
  }

  /** Starts nothing more, and waits a little for messages under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await noLongerThan(clusterLimits.stopGraceMs, this.idle())
  }

  async #drain(term: number, channelId: string, notices: readonly AlertNotice[]): Promise<void> {
    const found = await this.#parts.store.findChannel('every-tenant', channelId)
    if (!found.ok || found.value === null) return
    const channel = found.value
    const size = channelKind(channel.kind)?.noticesPerMessage ?? 1
    for (const message of messagesOf(notices, size)) {
      if (this.#isStopped || !(await this.#sendOne(term, channel, message))) return
    }
  }

  /** @returns true when the next one may follow */
  async #sendOne(
    term: number,
    channel: ChannelWithHealth,
    notices: readonly AlertNotice[],
  ): Promise<boolean> {
    const { store, send, clock } = this.#parts
    const sentAtMs = clock.nowMs()
    const messageId = notices[0]!.messageId || uuidV7(sentAtMs)
    const ids = notices.map(({ id }) => id)
    const begun = await store.beginMessage(term, messageId, ids)
    if (!begun.ok || begun.value !== 'begun') return false
    const message = { id: messageId, sentAtMs, isTest: false, steps: notices }
    const outcome = await send(channel, message).catch(() => failed('gslbd itself failed'))
    this.#tell(channel, outcome)
    const failures = channel.health.failures + 1
    const nowMs = clock.nowMs()
    const times = { nowMs, retryAtMs: nowMs + this.#pauseMs(failures) }
    const settled = await store.settleMessage(channel.id, messageId, outcome, times)
    return settled.ok && (outcome.ok || outcome.isFinal)
  }

  #tell(channel: ChannelWithHealth, outcome: SendOutcome): void {
    const { log } = this.#parts
    const { id, name, kind, health } = channel
    const fields = { channel: id, name, kind }
    this.#count(kind, outcome.ok)
    if (outcome.ok) {
      if (health.failures > 0) log.info(fields, 'an alert channel works again')
      const { fault = '' } = outcome
      if (fault !== '' && fault !== health.fault) log.warn({ ...fields, fault }, notToAll)
      return
    }
    // Logged when failures begin; the API shows how they go on.
    if (health.failures > 0 && !outcome.isFinal) return
    const rest = outcome.isFinal ? 'the message is dropped' : 'it is tried again'
    log.warn({ ...fields, fault: outcome.fault }, `an alert was not sent; ${rest}`)
  }

  #count(kind: string, isSent: boolean): void {
    const { sent, failed: fails } = this.#counts.get(kind) ?? { sent: 0, failed: 0 }
    const next = { sent: sent + Number(isSent), failed: fails + Number(!isSent) }
    this.#counts.set(kind, next)
  }

  #pauseMs(failures: number): number {
    const spread = (this.#parts.random.next() / 0xffff_ffff) * 2 - 1
    const pauseMs = backoffMs(clusterLimits.retry, failures)
    return Math.round(pauseMs * (1 + spread * clusterLimits.retryJitter))
  }
}

const notToAll = 'an alert was not sent to all receivers of its channel'

function byChannel(notices: readonly AlertNotice[]): ReadonlyMap<string, readonly AlertNotice[]> {
  return Map.groupBy(notices, ({ channelId }) => channelId)
}

/** Messages that were tried together stay together; others are grouped anew. */
function* messagesOf(
  notices: readonly AlertNotice[],
  size: number,
): Generator<readonly AlertNotice[]> {
  for (const [messageId, some] of Map.groupBy(notices, (notice) => notice.messageId)) {
    if (messageId !== '') yield some
    else for (let i = 0; i < some.length; i += size) yield some.slice(i, i + size)
  }
}

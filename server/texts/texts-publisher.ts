// Publishes the TXT records of a control node on a channel of their own, for nodes that only
// answer. They are encoded, signed, and stored before any node is notified.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import { signChannelRecord, verifyChannelRecord } from '#bundle/signature/channel.ts'
import type { ChannelRecord, SignedChannelRecord, SigningKey } from '#bundle/signature/channel.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { Rounds } from '#lib/rounds.ts'
import type { After } from '#lib/timer.ts'
import type { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'
import { WrittenEncoder } from '#zones/dynamic/written-encoder.ts'
import type { BundleStore } from '#server/node/bundle-store.ts'
import { emptyTexts } from './texts-bundle.ts'

interface TextsPublisherParts {
  readonly feed: Pick<DynamicDns, 'texts' | 'onChange' | 'isKnown'>
  readonly store: Pick<BundleStore, 'record' | 'keep'>
  readonly channel: string
  readonly key: SigningKey
  readonly recordTtlMs: number
  readonly clock: Clock
  readonly after: After
  readonly log: Log
  /** Called when the store has another record. */
  readonly onStored: () => void
}

/** Least time between two publications: changes in that time are published together. */
export const textsPauseMs = 500
/** Time until a store that has failed is tried again. */
const retryMs = 30_000

export class TextsPublisher {
  readonly #parts: TextsPublisherParts
  readonly #encoder: WrittenEncoder
  #newest: SignedChannelRecord | undefined
  readonly #rounds = new Rounds(() => this.#round())
  #callOffLook = (): void => undefined
  #endPause = (): void => undefined
  #endHearing = (): void => undefined
  #isUnstored = false

  constructor(parts: TextsPublisherParts) {
    this.#parts = parts
    this.#encoder = new WrittenEncoder(parts.feed.texts)
  }

  /** Continues from the last publication in the store. */
  start(): void {
    const { feed, store, key } = this.#parts
    const stored = store.record('active')
    if (verifyChannelRecord(stored, [key]).ok) this.#newest = stored as SignedChannelRecord
    this.#endHearing = feed.onChange(({ names }) => {
      this.#encoder.changed(names)
      this.#rounds.ask()
    })
    this.#rounds.ask()
  }

  async stop(): Promise<void> {
    const stopped = this.#rounds.stop()
    this.#endHearing()
    this.#callOffLook()
    this.#endPause()
    await this.#encoder.stop()
    await stopped
  }

  async #round(): Promise<void> {
    const nextLookMs = await this.#publish().catch((error: unknown) => this.#logUnstored(error))
    if (this.#rounds.isStopped) return
    this.#callOffLook()
    this.#callOffLook = this.#parts.after(nextLookMs, () => this.#rounds.ask())
    await this.#pause()
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.#parts.after(textsPauseMs, resolve)
      this.#endPause = () => {
        callOff()
        resolve()
      }
    })
  }

  /**
   * @returns when to check again, even if nothing changes.
   * @throws the file system's error
   */
  async #publish(): Promise<number> {
    const { feed, store, key, clock, recordTtlMs, onStored } = this.#parts
    const renewMs = recordTtlMs / 2
    // No records were read yet: the last publication stays.
    if (!feed.isKnown()) return renewMs
    const none = emptyTexts()
    const { handed, revision } = await this.#encoder.encode(none)
    const { bytes, digest } = handed ?? none
    const before = this.#newest?.record
    const isSame = before?.digest === digest && before.serial === revision
    const ageMs = clock.nowMs() - (before?.issuedAtMs ?? 0)
    // A negative age means that the clock was set back, which a new record mends.
    if (isSame && ageMs >= 0 && ageMs < renewMs) return renewMs - ageMs
    const bundle = sharedCopy(bytes)
    signBundle(bundle, key)
    const signed = signChannelRecord(this.#recordOf(digest, bundle.length, revision, isSame), key)
    store.keep(signed, bundle, this.#newest)
    this.#newest = signed
    this.#isUnstored = false
    onStored()
    return renewMs
  }

  #recordOf(digest: string, bytes: number, revision: number, isRenewal: boolean): ChannelRecord {
    const { channel, clock, recordTtlMs } = this.#parts
    const before = this.#newest?.record
    const issuedAtMs = Math.max(0, Math.floor(clock.nowMs()))
    // After the loss of the directory the numbers must not restart below those that nodes have:
    // they start from the clock, twice as fast, since there are two publications a second at most.
    const first = Math.max(1, Math.floor(issuedAtMs / (textsPauseMs / 2)))
    return {
      channel,
      seq: before === undefined ? first : before.seq + (isRenewal ? 0 : 1),
      serial: revision,
      digest,
      bytes,
      previous: (isRenewal ? before?.previous : before?.digest) ?? '',
      commit: '',
      issuedAtMs,
      expiresAtMs: issuedAtMs + recordTtlMs,
    }
  }

  #logUnstored(error: unknown): number {
    const line = 'nodes that pull do not get the newest TXT records: they cannot be stored here'
    if (!this.#isUnstored && !this.#rounds.isStopped) this.#parts.log.error({ err: error }, line)
    this.#isUnstored = true
    return retryMs
  }
}

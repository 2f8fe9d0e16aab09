// Publishes the TXT records of a control node on a channel of their own, for nodes that only
// answer: encoded, signed, and stored before anybody is told of them.
import { signChannelRecord, verifyChannelRecord } from '#bundle/signature/channel.ts'
import type { ChannelRecord, SignedChannelRecord, SigningKey } from '#bundle/signature/channel.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'
import type { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'
import { TxtEncoder } from '#zones/dynamic/txt-encoder.ts'
import type { BundleStore } from '#server/node/bundle-store.ts'
import { emptyTexts } from './texts-bundle.ts'

export interface TextsPublisherParts {
  readonly feed: Pick<DynamicDns, 'texts' | 'onChange' | 'isKnown'>
  readonly store: Pick<BundleStore, 'record' | 'keep'>
  readonly channel: string
  readonly key: SigningKey
  readonly recordTtlMs: number
  readonly clock: Clock
  readonly after: After
  readonly log: Log
  /** The store has another record. */
  readonly onStored: () => void
}

/** From one publication to the next: what changes meanwhile goes together. */
export const textsPauseMs = 500
/** Until a store that has failed is tried again. */
const retryMs = 30_000

export class TextsPublisher {
  readonly #parts: TextsPublisherParts
  readonly #encoder: TxtEncoder
  #newest: SignedChannelRecord | undefined
  /** Records may have changed since the last time that they were encoded. */
  #isDue = false
  #running: Promise<void> | undefined
  #callOffLook = (): void => undefined
  #endPause = (): void => undefined
  #endHearing = (): void => undefined
  #isStopped = false
  #isUnstored = false

  constructor(parts: TextsPublisherParts) {
    this.#parts = parts
    this.#encoder = new TxtEncoder(parts.feed.texts)
  }

  /** Goes on where the store ends. */
  start(): void {
    const { feed, store, key } = this.#parts
    const stored = store.record('active')
    if (verifyChannelRecord(stored, [key]).ok) this.#newest = stored as SignedChannelRecord
    this.#endHearing = feed.onChange(({ names }) => {
      this.#encoder.changed(names)
      this.#look()
    })
    this.#look()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#endHearing()
    this.#callOffLook()
    this.#endPause()
    await this.#encoder.stop()
    await this.#running
  }

  #look(): void {
    this.#isDue = true
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  async #run(): Promise<void> {
    while (this.#isDue && !this.#isStopped) {
      this.#isDue = false
      const nextLookMs = await this.#publish().catch((error: unknown) => this.#logUnstored(error))
      if (this.#isStopped) return
      this.#callOffLook()
      this.#callOffLook = this.#parts.after(nextLookMs, () => this.#look())
      await this.#pause()
    }
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

  /** @returns when to look again, even where nothing changes. @throws the file system's error */
  async #publish(): Promise<number> {
    const { feed, store, key, clock, recordTtlMs, onStored } = this.#parts
    const renewMs = recordTtlMs / 2
    // Nothing was read yet: what was published before stays.
    if (!feed.isKnown()) return renewMs
    const none = emptyTexts()
    const { handed, revision } = await this.#encoder.encode(none)
    const { bytes, digest } = handed ?? none
    const before = this.#newest?.record
    const isSame = before?.digest === digest && before.serial === revision
    const ageMs = clock.nowMs() - (before?.issuedAtMs ?? 0)
    // A negative age is a clock that was set back: a new record is the cure for that.
    if (isSame && ageMs >= 0 && ageMs < renewMs) return renewMs - ageMs
    const bundle = new Uint8Array(new SharedArrayBuffer(bytes.length))
    bundle.set(bytes)
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
    // A directory that was lost must not begin below what nodes have already: twice as fast as the
    // clock, since there are two publications a second at most.
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
    if (!this.#isUnstored && !this.#isStopped) this.#parts.log.error({ err: error }, line)
    this.#isUnstored = true
    return retryMs
  }
}

// What a control node gives to nodes that pull: the record of its bundle, its octets, and news.
import { hash } from 'node:crypto'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import type { After } from '#lib/timer.ts'
import { fleetLimits } from './limits.ts'

/** A channel record as it is sent. */
export interface SentRecord {
  /** JSON. */
  readonly text: string
  /** Entity tag, with its quotes. */
  readonly tag: string
}

export interface BundleFeedParts {
  /** The record that the store has now; none: there is no bundle yet, or no record is readable. */
  readonly stored: () => SignedChannelRecord | undefined
  readonly after: After
  readonly waitersMax?: number
}

export interface FeedCounts {
  readonly waiting: number
  /** Requests that were to wait, and were too many. */
  readonly turnedAway: number
}

interface Waiter {
  readonly wake: () => void
}

export class BundleFeed {
  readonly #parts: BundleFeedParts
  readonly #waitersMax: number
  readonly #waiters = new Set<Waiter>()
  #channel = ''
  #sent: SentRecord | undefined
  #turnedAway = 0

  constructor(parts: BundleFeedParts) {
    this.#parts = parts
    this.#waitersMax = parts.waitersMax ?? fleetLimits.waitersMax
    this.#read()
  }

  /** undefined: this node has no such channel, or nothing on it yet. */
  record(channel: string): SentRecord | undefined {
    return channel === this.#channel ? this.#sent : undefined
  }

  /** To be called when the store may have another record. */
  changed(): void {
    const before = this.#sent?.tag
    this.#read()
    if (this.#sent?.tag === before) return
    for (const { wake } of [...this.#waiters]) wake()
  }

  /**
   * Waits until there is another record than the one of `tag`, or for `waitMs`.
   *
   * @returns whether it could wait: too many others do
   */
  async waitForOther(tag: string, waitMs: number): Promise<boolean> {
    if (this.#sent?.tag !== tag || waitMs <= 0) return true
    if (this.#waiters.size >= this.#waitersMax) {
      this.#turnedAway++
      return false
    }
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        callOff()
        this.#waiters.delete(waiter)
        resolve()
      }
      const waiter: Waiter = { wake }
      const callOff = this.#parts.after(waitMs, wake)
      this.#waiters.add(waiter)
    })
    return true
  }

  counts(): FeedCounts {
    return { waiting: this.#waiters.size, turnedAway: this.#turnedAway }
  }

  /** Answers all who wait: the process stops. */
  close(): void {
    for (const { wake } of [...this.#waiters]) wake()
  }

  #read(): void {
    const stored = this.#parts.stored()
    if (stored === undefined) return
    const text = JSON.stringify(stored)
    this.#channel = stored.record.channel
    this.#sent = { text, tag: `"${hash('sha256', text).slice(0, 32)}"` }
  }
}

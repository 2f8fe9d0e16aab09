// Serves a control node's channel to nodes that pull: the record of its bundle, and a way to wait
// for the next one.
import { hash } from 'node:crypto'
import { assert } from '#lib/assert.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import type { After } from '#lib/timer.ts'
import type { NodeName } from './delivery/membership.ts'
import { fleetLimits } from './limits.ts'

/** A channel record in the form in which it is sent. */
interface SentRecord {
  /** The record as JSON. */
  readonly text: string
  /** Entity tag, with its quotes. */
  readonly tag: string
}

interface BundleFeedParts {
  /** The stored record; undefined: there is no bundle yet, or no record can be read. */
  readonly stored: () => SignedChannelRecord | undefined
  /** The record for a node during a delivery. null: the stored one. undefined: not known yet. */
  readonly inWaves?: (node: NodeName | undefined) => SignedChannelRecord | null | undefined
  /** Longest wait of a node: nodes of the current wave report often. */
  readonly waitMsFor?: (node: NodeName | undefined) => number
  readonly after: After
  readonly waitersMax?: number
}

export interface FeedCounts {
  readonly waiting: number
  /** Requests to wait that were refused, since too many waited. */
  readonly turnedAway: number
}

interface Waiter {
  readonly wake: () => void
  readonly tag: string
  readonly node: NodeName | undefined
  readonly waitMs: number
}

export class BundleFeed {
  readonly #parts: BundleFeedParts
  readonly #waitersMax: number
  readonly #waiters = new Set<Waiter>()
  #channel = ''
  #sent: SentRecord | undefined
  readonly #texts = new WeakMap<SignedChannelRecord, SentRecord>()
  #turnedAway = 0

  constructor(parts: BundleFeedParts) {
    this.#parts = parts
    this.#waitersMax = parts.waitersMax ?? fleetLimits.waitersMax
    this.#read()
  }

  /**
   * @returns undefined: this node has no such channel, or nothing on it yet. `later`: the delivery
   * is not read yet
   */
  record(channel: string, node?: NodeName): SentRecord | 'later' | undefined {
    if (channel !== this.#channel) return undefined
    const { inWaves = () => null } = this.#parts
    const given = inWaves(node)
    if (given === undefined) return 'later'
    return given === null ? this.#sent : this.#textOf(given)
  }

  /** To be called when the store may have another record. */
  changed(): void {
    this.#read()
    const { waitMsFor = () => Infinity } = this.#parts
    for (const { wake, tag, node, waitMs } of [...this.#waiters]) {
      // The wave of the node has begun, so it is to report more often.
      if (this.#tagFor(node) !== tag || waitMsFor(node) < waitMs) wake()
    }
  }

  /**
   * Waits until there is another record than that of `tag`, or for `patienceMs`.
   *
   * @returns false when too many others wait
   */
  async waitForOther(tag: string, patienceMs: number, node?: NodeName): Promise<boolean> {
    const waitMs = Math.min(patienceMs, this.#parts.waitMsFor?.(node) ?? Infinity)
    if (this.#tagFor(node) !== tag || waitMs <= 0) return true
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
      const waiter: Waiter = { wake, tag, node, waitMs }
      const callOff = this.#parts.after(waitMs, wake)
      this.#waiters.add(waiter)
      assert(this.#waiters.size <= this.#waitersMax, 'requests that wait are within their limit')
    })
    return true
  }

  counts(): FeedCounts {
    return { waiting: this.#waiters.size, turnedAway: this.#turnedAway }
  }

  /** Answers all waiting requests, since the process stops. */
  close(): void {
    for (const { wake } of [...this.#waiters]) wake()
  }

  #tagFor(node: NodeName | undefined): string | undefined {
    const record = this.record(this.#channel, node)
    return record === 'later' ? undefined : record?.tag
  }

  #read(): void {
    const stored = this.#parts.stored()
    if (stored === undefined) return
    this.#channel = stored.record.channel
    this.#sent = sentOf(stored)
  }

  /** Cached: a thousand nodes wait for one of two records. */
  #textOf(signed: SignedChannelRecord): SentRecord {
    const known = this.#texts.get(signed)
    if (known !== undefined) return known
    const sent = sentOf(signed)
    this.#texts.set(signed, sent)
    return sent
  }
}

function sentOf(signed: SignedChannelRecord): SentRecord {
  const text = JSON.stringify(signed)
  return { text, tag: `"${hash('sha256', text).slice(0, 32)}"` }
}

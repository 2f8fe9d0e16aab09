// Holds the events for all clients, bounded in number and octets. A client is a position in the
// log, so a slow one costs no more than a fast one.
import { feedLimits } from './limits.ts'
import { revisionMessage } from './messages.ts'
import type { FeedEvent } from './messages.ts'

/**
 * `mark`: all events of a commit precede it. `restart`: too much happened at once, so a client
 * begins again with a snapshot.
 */
export type LogEntry =
  | (FeedEvent & { readonly kind: 'event' })
  | { readonly kind: 'mark'; readonly revision: string; readonly message: Buffer }
  | { readonly kind: 'restart' }

export interface EventLogSizes {
  readonly eventsMax: number
  readonly eventBytesMax: number
}

export class EventLog {
  readonly #sizes: EventLogSizes
  readonly #entries: (LogEntry | undefined)[] = []
  /** From a revision to the place after its mark. */
  readonly #marks = new Map<string, number>()
  #first = 0
  #next = 0
  #bytes = 0

  constructor(sizes: EventLogSizes = feedLimits) {
    this.#sizes = sizes
  }

  /** Place of the oldest entry. */
  get first(): number {
    return this.#first
  }

  /** Place of the next entry. */
  get next(): number {
    return this.#next
  }

  get bytes(): number {
    return this.#bytes
  }

  /** @param place from `first` to `next`, exclusive */
  at(place: number): LogEntry {
    const entry = this.#entries[place % this.#sizes.eventsMax]
    if (entry === undefined) throw new Error(`the feed has no event at ${place}`)
    return entry
  }

  /** The place after that commit; undefined: it is too long ago. */
  after(revision: string): number | undefined {
    return this.#marks.get(revision)
  }

  append(events: readonly FeedEvent[]): void {
    const { eventsMax, eventBytesMax } = this.#sizes
    const bytes = events.reduce((sum, { message }) => sum + message.length, 0)
    const isBurst =
      events.length > eventsMax * feedLimits.burstShare ||
      bytes > eventBytesMax * feedLimits.burstShare
    if (isBurst) {
      this.restart()
      return
    }
    for (const event of events) this.#push({ kind: 'event', ...event })
  }

  mark(revision: string): void {
    this.#push({ kind: 'mark', revision, message: revisionMessage(revision) })
    this.#marks.set(revision, this.#next)
  }

  restart(): void {
    // Earlier entries are of no use.
    while (this.#first < this.#next) this.#dropFirst()
    this.#push({ kind: 'restart' })
  }

  #push(entry: LogEntry): void {
    const { eventsMax, eventBytesMax } = this.#sizes
    const bytes = sizeOf(entry)
    while (this.#next - this.#first >= eventsMax) this.#dropFirst()
    while (this.#first < this.#next && this.#bytes + bytes > eventBytesMax) this.#dropFirst()
    this.#entries[this.#next % eventsMax] = entry
    this.#next++
    this.#bytes += bytes
  }

  #dropFirst(): void {
    const place = this.#first % this.#sizes.eventsMax
    const entry = this.#entries[place]
    this.#entries[place] = undefined
    this.#first++
    if (entry === undefined) return
    this.#bytes -= sizeOf(entry)
    if (entry.kind !== 'mark') return
    // A later mark of the same commit, after a revert and its revert, stays.
    if (this.#marks.get(entry.revision) === this.#first) this.#marks.delete(entry.revision)
  }
}

function sizeOf(entry: LogEntry): number {
  return entry.kind === 'restart' ? 0 : entry.message.length
}

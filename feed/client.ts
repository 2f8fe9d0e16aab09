// One client of the feed: a position in the shared event log, and a socket that reads from there at
// its own speed.
import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'
import type { FeedSocket } from '#http/feed-socket.ts'
import type { EventLog, LogEntry } from './event-log.ts'
import { closeCodes, feedLimits } from './limits.ts'
import { revisionMessage } from './messages.ts'

export interface FeedClientParts {
  readonly socket: FeedSocket
  readonly log: EventLog
  /** null: all tenants. */
  readonly tenant: string | null
  /** The state from which to begin, or to begin again: its messages, and the place behind it. */
  readonly snapshot: () => { readonly messages: Iterator<Buffer>; readonly revision: string }
  /** What no commit says of the members that the client may see. */
  readonly live: () => Iterator<Buffer>
  /** Up to where the client has everything; null: it has nothing. */
  readonly revision: string | null
  readonly clock: Clock
  readonly after: After
  /** Lets everybody else have a turn before `fn` runs. */
  readonly defer: (fn: () => void) => void
}

export class FeedClient {
  readonly tenant: string | null
  readonly #parts: FeedClientParts
  #place = 0
  /** A snapshot, or what is live of all, which comes before what is at the place. */
  #state: { messages: Iterator<Buffer>; beganAtMs: number } | null = null
  /**
   * It came back and was not told yet how everybody is. What it has of health, rollouts and windows
   * may be of another node, or of before this node's history began: a commit does not say.
   */
  #isLiveDue = false
  /** The revision at its place in the feed. */
  #revision = ''
  /** The last one that the client was told. */
  #sentRevision: string | null = null
  /** An event of the commit whose mark comes next was sent. */
  #isInCommit = false
  #isOpen = true
  #hasStats = false
  #isDeferred = false
  #progressAtMs: number
  #pingedAtMs: number
  #messagesSincePing = 1
  readonly #callsOff: (() => void)[] = []

  constructor(parts: FeedClientParts) {
    const { socket, log, tenant, revision, clock } = parts
    this.#parts = parts
    this.tenant = tenant
    this.#progressAtMs = this.#pingedAtMs = clock.monotonicMs()
    socket.onClosed(() => this.#ended())
    socket.onReceived(() => this.#countMessage())
    const place = revision === null ? undefined : log.after(revision)
    if (revision === null || place === undefined) {
      this.#begin()
    } else {
      this.#place = place
      this.#revision = revision
      this.#isLiveDue = true
      // Says that it worked, even if nothing happened since.
      this.#send(revisionMessage(revision))
      this.#sentRevision = revision
    }
    this.wake()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** There is, or may be, something new in the history. */
  wake(): void {
    if (this.#isDeferred || !this.#isOpen) return
    this.#isDeferred = true
    this.#parts.defer(() => {
      this.#isDeferred = false
      this.#turn()
    })
  }

  get hasStats(): boolean {
    return this.#hasStats
  }

  /** They are worth nothing later: only a client that has everything else gets them. */
  offerStats(message: Buffer): void {
    const hasState = this.#state === null && !this.#isLiveDue
    const isBehind = !hasState || this.#place < this.#parts.log.next
    if (!this.#isOpen || isBehind || this.#parts.socket.bufferedBytes() > 0) return
    this.#hasStats = true
    this.#send(message)
    if (this.#sentRevision === this.#revision) return
    // Commits of others: so that the client's place does not grow old.
    this.#sentRevision = this.#revision
    this.#send(revisionMessage(this.#revision))
  }

  tick(): void {
    if (!this.#isOpen) return
    const { clock, socket } = this.#parts
    const nowMs = clock.monotonicMs()
    const isStalled = socket.bufferedBytes() > 0 && nowMs - this.#progressAtMs >= feedLimits.stallMs
    const beganAtMs = this.#state?.beganAtMs ?? nowMs
    if (isStalled || nowMs - beganAtMs >= feedLimits.snapshotMsMax) this.#tooSlow()
    else if (nowMs - this.#pingedAtMs >= feedLimits.pingMs) this.#ping(nowMs)
    this.wake()
  }

  /** A close frame, and after a moment the end, whether the client agrees or not. */
  close(code: number, reason: string): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const { socket, after } = this.#parts
    socket.close(code, reason)
    this.#callsOff.push(after(feedLimits.closeGraceMs, () => socket.terminate()))
  }

  #turn(): void {
    const { socket } = this.#parts
    for (let count = 0; count < feedLimits.messagesPerTurnMax; count++) {
      if (!this.#isOpen || socket.bufferedBytes() >= feedLimits.bufferedBytesMax) return
      const message = this.#next()
      if (message === null) return
      this.#send(message)
    }
    this.wake()
  }

  #next(): Buffer | null {
    const { log, live } = this.#parts
    for (;;) {
      if (this.#state !== null) {
        const { done, value } = this.#state.messages.next() as IteratorResult<Buffer, undefined>
        if (done !== true) return value
        this.#state = null
      }
      if (this.#place < log.first) {
        this.#fellBehind()
        if (!this.#isOpen) return null
        continue
      }
      if (this.#place >= log.next) {
        if (!this.#isLiveDue) return null
        // Only now: it knows the members, and no older news follows.
        this.#tell(live())
        continue
      }
      const message = this.#take(log.at(this.#place++))
      if (message !== null) return message
    }
  }

  /** @returns what of it is for this client */
  #take(entry: LogEntry): Buffer | null {
    if (entry.kind === 'restart') {
      this.#begin()
      return null
    }
    if (entry.kind === 'event') {
      if (this.tenant !== null && this.tenant !== entry.tenant) return null
      this.#isInCommit = true
      return entry.message
    }
    this.#revision = entry.revision
    if (!this.#isInCommit) return null
    this.#isInCommit = false
    this.#sentRevision = entry.revision
    return entry.message
  }

  #begin(): void {
    const { log, snapshot } = this.#parts
    const { messages, revision } = snapshot()
    this.#tell(messages)
    this.#place = log.next
    this.#revision = this.#sentRevision = revision
    this.#isInCommit = false
  }

  #tell(messages: Iterator<Buffer>): void {
    this.#state = { messages, beganAtMs: this.#parts.clock.monotonicMs() }
    this.#isLiveDue = false
  }

  /** Whether by its own fault: a restart throws away the history of everybody. */
  #fellBehind(): void {
    const { log } = this.#parts
    if (log.at(log.first).kind === 'restart') this.#begin()
    else this.#tooSlow()
  }

  #send(message: Buffer): void {
    const { socket, clock } = this.#parts
    // The time without progress begins with the first octet that waits.
    if (socket.bufferedBytes() === 0) this.#progressAtMs = clock.monotonicMs()
    socket.send(message, () => {
      this.#progressAtMs = clock.monotonicMs()
      this.wake()
    })
  }

  #tooSlow(): void {
    this.close(closeCodes.tooSlow, 'too slow; come back with the last revision')
  }

  #ping(nowMs: number): void {
    // A client that is gone would not hear why.
    if (this.#messagesSincePing === 0) {
      this.#parts.socket.terminate()
      return
    }
    this.#pingedAtMs = nowMs
    this.#messagesSincePing = 0
    this.#parts.socket.ping()
  }

  #countMessage(): void {
    this.#messagesSincePing++
    if (this.#messagesSincePing <= feedLimits.incomingPerPingMax) return
    this.close(closeCodes.tooMuch, 'the feed takes no messages')
  }

  #ended(): void {
    this.#isOpen = false
    this.#state = null
    for (const callOff of this.#callsOff.splice(0)) callOff()
  }
}

// Serves one client of the feed: a position in the shared event log, and a socket that reads at its
// own speed.
import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'
import type { FeedSocket } from '#http/feed-socket.ts'
import type { EventLog, LogEntry } from './event-log.ts'
import { closeCodes, feedLimits } from './limits.ts'
import { revisionMessage } from './messages.ts'

interface FeedClientParts {
  readonly socket: FeedSocket
  readonly log: EventLog
  /** null: all tenants. */
  readonly tenant: string | null
  /** The state to begin with, possibly again: its messages, and the place after it. */
  readonly snapshot: () => { readonly messages: Iterator<Buffer>; readonly revision: string }
  /** Health and overlays of members that the client may see, which no commit contains. */
  readonly live: () => Iterator<Buffer>
  /** Up to where the client has everything; null: it has nothing. */
  readonly revision: string | null
  readonly clock: Clock
  readonly after: After
  /** Runs `fn` after other clients had a turn. */
  readonly defer: (fn: () => void) => void
}

export class FeedClient {
  readonly tenant: string | null
  readonly #parts: FeedClientParts
  #place = 0
  /** A snapshot, or the present health: sent before what is at the place. */
  #state: { messages: Iterator<Buffer>; beganAtMs: number } | null = null
  /**
   * True: the client came back, and has not got the present health. What it has of health, rollouts
   * and windows may be another node's, or older than this node's history: a commit does not tell.
   */
  #isLiveDue = false
  /** The revision at its place in the feed. */
  #revision = ''
  /** The last revision that was sent. */
  #sentRevision: string | null = null
  /** True: an event of the commit whose mark follows was sent. */
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
      // Confirms the connection, even if nothing has happened since.
      this.#send(revisionMessage(revision))
      this.#sentRevision = revision
    }
    this.wake()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** To be called when the history may have something new. */
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

  /**
   * Only sent to a client that has everything else, since numbers are soon outdated.
   *
   * @param message null: the client sees no numbers, and gets a sign of life, for a connection may
   * end without a word
   */
  offerStats(message: Buffer | null): void {
    const hasState = this.#state === null && !this.#isLiveDue
    const isBehind = !hasState || this.#place < this.#parts.log.next
    if (!this.#isOpen || isBehind || this.#parts.socket.bufferedBytes() > 0) return
    if (message !== null) {
      this.#hasStats = true
      this.#send(message)
      if (this.#sentRevision === this.#revision) return
    }
    // For commits of other tenants, so that the client's place does not expire.
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

  /** Sends a close frame, and cuts the connection off after a moment. */
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
        // Only now, when it knows the members and no older news follows.
        this.#tell(live())
        continue
      }
      const message = this.#take(log.at(this.#place++))
      if (message !== null) return message
    }
  }

  /** @returns the message, if the client may see it */
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

  /** By its own fault or not: a restart drops the whole history. */
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
    // A client that is gone would not receive the reason.
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

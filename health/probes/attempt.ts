// Runs one probe attempt: keeps its deadline, frees its resources, and reports its result once.
import type { Socket } from 'node:net'
import { systemClock } from '#lib/clock.ts'
import { healthLimits } from '#health/limits.ts'
import type { Cancel, Outcome, ProbeResult, Report } from './probe.ts'
import { isLocalError, reasonOf } from './reasons.ts'

export class Attempt {
  readonly #report: Report
  readonly #cleanups: (() => void)[] = []
  readonly #timer: NodeJS.Timeout
  // The system's clock, in tests as well, since sockets live in real time.
  readonly #startedMs = systemClock.monotonicMs()
  #grace: NodeJS.Immediate | undefined
  #rttMs = 0
  #isOver = false
  /** Why a timeout would be this node's fault, not the member's; empty: it would not. */
  excuse = ''

  constructor(timeoutMs: number, report: Report) {
    this.#report = report
    this.#timer = setTimeout(() => {
      // Timers run before sockets are read: an answer that arrived while this thread was busy
      // counts.
      this.#grace = setImmediate(() => {
        this.#giveUp(timeoutMs)
      })
    }, timeoutMs)
  }

  /** Runs `cleanup` when the attempt ends, or now if it has ended. */
  onOver(cleanup: () => void): void {
    if (this.#isOver) cleanup()
    else this.#cleanups.push(cleanup)
  }

  /** @param socket one that is connecting; it is destroyed when the attempt ends */
  use(socket: Socket): void {
    // The listener stays: an error of the socket after the end must not be unhandled.
    socket.on('error', (error) => {
      this.fail(error)
    })
    this.onOver(() => {
      socket.destroy()
    })
  }

  /** @param socket one to the member itself: its handshake gives the member's RTT */
  useMember(socket: Socket): void {
    this.use(socket)
    socket.once('connect', () => {
      this.#rttMs = systemClock.monotonicMs() - this.#startedMs
    })
  }

  /** Records an RTT that was measured without a handshake. */
  answeredAfter(rttMs: number): void {
    this.#rttMs = rttMs
  }

  get isOver(): boolean {
    return this.#isOver
  }

  succeed(): void {
    this.#end('success', '')
  }

  /** @param cause a sentence, or the error of a socket, of TLS or of the HTTP parser */
  fail(cause: string | Error): void {
    if (typeof cause === 'string') this.#end('failure', cause)
    else this.#end(isLocalError(cause) ? 'local-error' : 'failure', reasonOf(cause))
  }

  /** @param reason why this node could not probe */
  failLocally(reason: string): void {
    this.#end('local-error', reason)
  }

  readonly cancel: Cancel = () => {
    this.#close()
  }

  #giveUp(timeoutMs: number): void {
    const overdueMs = systemClock.monotonicMs() - this.#startedMs - timeoutMs
    // The thread slept through the deadline (a paused machine, no CPU), so the member had no
    // chance.
    if (overdueMs > healthLimits.stallMs) this.#end('local-error', 'this node was stalled')
    else if (this.excuse !== '') this.#end('local-error', this.excuse)
    else this.#end('timeout', `no result within ${timeoutMs} ms`)
  }

  #end(outcome: Outcome, reason: string): void {
    if (this.#isOver) return
    this.#close()
    const result: ProbeResult = { outcome, rttMs: this.#rttMs, reason }
    this.#report(result)
  }

  #close(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    clearImmediate(this.#grace)
    for (const cleanup of this.#cleanups.splice(0)) cleanup()
  }
}

// The life of one probe attempt: a deadline, the resources it holds, a result reported once.
import type { Socket } from 'node:net'
import { systemClock } from '#lib/clock.ts'
import { healthLimits } from '#health/limits.ts'
import type { Cancel, Outcome, ProbeResult, Report } from './probe.ts'
import { isLocalError, reasonOf } from './reasons.ts'

export class Attempt {
  readonly #report: Report
  readonly #cleanups: (() => void)[] = []
  readonly #timer: NodeJS.Timeout
  // Sockets live in real time, in tests too.
  readonly #startedMs = systemClock.monotonicMs()
  #grace: NodeJS.Immediate | undefined
  #rttMs = 0
  #isOver = false
  /** Why this node, not the member, is to blame when the time runs out; empty: it is not. */
  excuse = ''

  constructor(timeoutMs: number, report: Report) {
    this.#report = report
    this.#timer = setTimeout(() => {
      // Timers run before sockets: an answer that came while this thread was busy is read first.
      this.#grace = setImmediate(() => {
        this.#giveUp(timeoutMs)
      })
    }, timeoutMs)
  }

  /** Runs `cleanup` when the attempt is over, at once if it is. */
  onOver(cleanup: () => void): void {
    if (this.#isOver) cleanup()
    else this.#cleanups.push(cleanup)
  }

  /** @param socket one that is connecting; it is destroyed when the attempt is over. */
  use(socket: Socket): void {
    // Stays for the socket's life: an error after the end must find a listener.
    socket.on('error', (error) => {
      this.fail(error)
    })
    this.onOver(() => {
      socket.destroy()
    })
  }

  /** @param socket one to the member itself: its handshake is the member's RTT. */
  useMember(socket: Socket): void {
    this.use(socket)
    socket.once('connect', () => {
      this.#rttMs = systemClock.monotonicMs() - this.#startedMs
    })
  }

  /** The member answered what was sent to it; where there is no handshake to measure. */
  answeredAfter(rttMs: number): void {
    this.#rttMs = rttMs
  }

  get isOver(): boolean {
    return this.#isOver
  }

  succeed(): void {
    this.#end('success', '')
  }

  /** @param cause a sentence of ours, or the error of a socket, of TLS or of the HTTP parser. */
  fail(cause: string | Error): void {
    if (typeof cause === 'string') this.#end('failure', cause)
    else this.#end(isLocalError(cause) ? 'local-error' : 'failure', reasonOf(cause))
  }

  /** @param reason why this node could not do it */
  failLocally(reason: string): void {
    this.#end('local-error', reason)
  }

  readonly cancel: Cancel = () => {
    this.#close()
  }

  #giveUp(timeoutMs: number): void {
    const overdueMs = systemClock.monotonicMs() - this.#startedMs - timeoutMs
    // A thread that slept through the deadline (a paused machine, no CPU) gave nobody the time.
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

// Implements the icmp probe: several echo requests, of which one reply is enough.
import { randomBytes, randomInt } from 'node:crypto'
import { parseAddress } from '#dns/address.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { healthLimits } from '#health/limits.ts'
import type { Probe, ProbeResult, ProbeTarget, Report } from './probe.ts'
import { isLocalError, reasonOf } from './reasons.ts'
import { decodeReply, encodeRequest, tokenBytes } from './icmp-packet.ts'
import type { IcmpFamily } from './icmp-packet.ts'
import { openIcmpSocket } from './icmp-socket.ts'
import type { IcmpSocket, Received } from './icmp-socket.ts'

export function createIcmp(log: Log): Probe {
  const exchange = new EchoExchange(log)
  return {
    run(target, report) {
      const attempt = new EchoAttempt(target, report, exchange)
      exchange.begin(attempt)
      return () => {
        attempt.cancel()
      }
    },
  }
}

/**
 * Shares one socket per family among all attempts of the thread, and is open while there are any.
 * It polls every few milliseconds: a blocking call would hold one of the few threads that name
 * lookups need, and could not be cancelled. The kernel stamps replies, so that a late poll does not
 * lengthen a round trip.
 */
class EchoExchange {
  readonly #identifier = randomInt(0x1_0000)
  readonly #sockets = new Map<IcmpFamily, IcmpSocket>()
  readonly #attempts = new Map<string, EchoAttempt>()
  #sequence = 0
  #timer: NodeJS.Timeout | undefined
  readonly #forbidden: ForbiddenLog

  constructor(log: Log) {
    this.#forbidden = new ForbiddenLog(log)
  }

  begin(attempt: EchoAttempt): void {
    this.#attempts.set(attempt.token, attempt)
    this.#timer ??= setInterval(() => {
      this.drain()
    }, healthLimits.icmpPollMs)
    attempt.sendNext()
  }

  end(attempt: EchoAttempt): void {
    this.#attempts.delete(attempt.token)
    if (this.#attempts.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const socket of this.#sockets.values()) socket.close()
    this.#sockets.clear()
  }

  /** Errors: a code such as `EACCES`. */
  send({ family, octets, token }: EchoAttempt): Result<SentEcho, string> {
    const socket = this.#socketFor(family)
    if (!socket.ok) return socket
    this.#sequence = (this.#sequence + 1) & 0xffff
    const echo = { identifier: this.#identifier, sequence: this.#sequence, token }
    const startedMs = systemClock.monotonicMs()
    const sent = socket.value.send(encodeRequest(family, echo), octets)
    if (!sent.ok) return sent
    return ok({ sequence: this.#sequence, wallMs: sent.value, monotonicMs: startedMs })
  }

  /** Passes on the replies that have arrived. */
  drain(): void {
    for (const socket of this.#sockets.values()) {
      for (let n = 0; n < healthLimits.icmpReadsPerTurnMax; n++) {
        // The last awaited reply closes the socket.
        if (!this.#sockets.has(socket.family)) break
        const received = socket.receive()
        if (received === undefined) break
        this.#take(socket, received)
      }
    }
  }

  #take(socket: IcmpSocket, { packet, from, atMs }: Received): void {
    const { family, isRaw } = socket
    const reply = decodeReply(family, packet, isRaw && family === 'v4')
    if (reply === undefined || (isRaw && reply.identifier !== this.#identifier)) return
    const attempt = this.#attempts.get(reply.token)
    // The source is checked as well: another host may have overheard the token.
    if (attempt?.family === family && from.equals(attempt.octets)) attempt.take(reply, atMs)
  }

  #socketFor(family: IcmpFamily): Result<IcmpSocket, string> {
    const known = this.#sockets.get(family)
    if (known !== undefined) return ok(known)
    const opened = openIcmpSocket(family)
    if (!opened.ok) return opened
    this.#sockets.set(family, opened.value)
    return opened
  }

  /** Logs a probe that this node may not send. */
  reportUnsendable(target: ProbeTarget, code: string): void {
    if (forbiddenReasons.has(code)) this.#forbidden.tell(target, code)
  }
}

const minuteMs = 60_000

/**
 * Logs each probe that was not sent; of many in a minute the first, and the number of the others.
 */
class ForbiddenLog {
  readonly #log: Log
  #sinceMs = -Infinity
  #lines = 0
  #leftOut = 0

  constructor(log: Log) {
    this.#log = log
  }

  tell({ pool, ipAddress }: ProbeTarget, code: string): void {
    const nowMs = systemClock.monotonicMs()
    if (nowMs - this.#sinceMs >= minuteMs) {
      this.#sinceMs = nowMs
      this.#lines = 0
    }
    if (this.#lines++ >= healthLimits.icmpForbiddenLinesPerMinute) {
      this.#leftOut++
      return
    }
    const leftOut = this.#leftOut === 0 ? {} : { leftOut: this.#leftOut }
    this.#leftOut = 0
    this.#log.error(
      { pool, ipAddress, code, ...leftOut },
      'an icmp probe cannot be sent, so that its member counts as unhealthy: give the process ' +
        'CAP_NET_RAW, or put its group into net.ipv4.ping_group_range',
    )
  }
}

const mayNotSend = 'this node may not send ICMP'
const forbiddenReasons: ReadonlyMap<string, string> = new Map([
  ['EACCES', mayNotSend],
  ['EPERM', mayNotSend],
  ['koffi', 'this node cannot send ICMP'],
])

interface SentEcho {
  readonly sequence: number
  /** By the wall clock, as the kernel stamps replies. */
  readonly wallMs: number
  readonly monotonicMs: number
}

/**
 * An attempt of several requests. The next one is sent when the last one is answered, or when its
 * share of the time is over: a member is not flooded, and the last request has time for a reply.
 */
class EchoAttempt {
  readonly family: IcmpFamily
  readonly octets: Uint8Array
  readonly token = randomBytes(tokenBytes).toString('hex')
  readonly #target: ProbeTarget
  readonly #report: Report
  readonly #exchange: EchoExchange
  readonly #startedMs = systemClock.monotonicMs()
  readonly #unanswered = new Map<number, SentEcho>()
  #sentCount = 0
  #rttMsSum = 0
  #replyCount = 0
  #isOver = false
  #next: NodeJS.Timeout | undefined
  #failing: NodeJS.Immediate | undefined
  readonly #deadline: NodeJS.Timeout

  constructor(target: ProbeTarget, report: Report, exchange: EchoExchange) {
    const octets = parseAddress(target.ipAddress)
    assert(octets.ok, 'the address of a target is one')
    this.octets = octets.value
    this.family = octets.value.length === 4 ? 'v4' : 'v6'
    this.#target = target
    this.#report = report
    this.#exchange = exchange
    this.#deadline = setTimeout(() => {
      this.#giveUp()
    }, target.check.timeoutMs)
  }

  sendNext(): void {
    const { icmpCount, timeoutMs } = this.#target.check
    clearTimeout(this.#next)
    if (this.#isOver || this.#sentCount === icmpCount) return
    this.#sentCount++
    const sent = this.#exchange.send(this)
    if (sent.ok) {
      this.#unanswered.set(sent.value.sequence, sent.value)
    } else if (this.#sentCount === 1) {
      this.#exchange.reportUnsendable(this.#target, sent.error)
      // Deferred, since a report must not come before `run` has returned.
      this.#failing = setImmediate(() => {
        this.#end(failureOf(sent.error))
      })
      return
    }
    this.#next = setTimeout(() => {
      this.sendNext()
    }, timeoutMs / icmpCount)
  }

  take({ sequence }: { readonly sequence: number }, atMs: number): void {
    const sent = this.#unanswered.get(sequence)
    if (sent === undefined) return
    const elapsedMs = systemClock.monotonicMs() - sent.monotonicMs
    const stampedMs = atMs - sent.wallMs
    // Ignored when the wall clock was set meanwhile.
    const rttMs = stampedMs >= 0 && stampedMs <= elapsedMs ? stampedMs : elapsedMs
    if (rttMs > this.#target.check.timeoutMs) return
    this.#unanswered.delete(sequence)
    this.#rttMsSum += rttMs
    this.#replyCount++
    if (this.#replyCount === this.#target.check.icmpCount) this.#succeed()
    else this.sendNext()
  }

  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#next)
    clearTimeout(this.#deadline)
    clearImmediate(this.#failing)
    this.#exchange.end(this)
  }

  #giveUp(): void {
    // Replies that arrived while this thread was busy count.
    this.#exchange.drain()
    if (this.#isOver) return
    const { timeoutMs } = this.#target.check
    const overdueMs = systemClock.monotonicMs() - this.#startedMs - timeoutMs
    if (this.#replyCount > 0) this.#succeed()
    else if (overdueMs > healthLimits.stallMs)
      this.#end({ outcome: 'local-error', rttMs: 0, reason: 'this node was stalled' })
    else this.#end({ outcome: 'timeout', rttMs: 0, reason: `no reply within ${timeoutMs} ms` })
  }

  #succeed(): void {
    this.#end({ outcome: 'success', rttMs: this.#rttMsSum / this.#replyCount, reason: '' })
  }

  #end(result: ProbeResult): void {
    if (this.#isOver) return
    this.cancel()
    this.#report(result)
  }
}

function failureOf(code: string): ProbeResult {
  const forbidden = forbiddenReasons.get(code)
  if (forbidden !== undefined) return { outcome: 'failure', rttMs: 0, reason: forbidden }
  const error = Object.assign(new Error(code), { code })
  const outcome = isLocalError(error) ? 'local-error' : 'failure'
  return { outcome, rttMs: 0, reason: reasonOf(error) }
}

// Follows one zone on its primary servers: when they are asked, what comes of it, and when it
// expires. RFC 1034 section 4.3.5, RFC 1996.
import { assert } from '#lib/assert.ts'
import { backoffMs } from '#lib/backoff.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { After } from '#lib/timer.ts'
import type { AddressPort } from '#dns/address-port.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import type { PrimaryQuestion } from './ask-primary.ts'
import { inboundTimers } from './limits.ts'
import { isNewer } from './transfer-reader.ts'
import type { InboundSoa, Transferred } from './transfer-reader.ts'

/** What is stored of a zone. */
export interface StoredZone {
  readonly soa: InboundSoa
  readonly isExpired: boolean
}

export interface TakeFault {
  /**
   * `held`: a guardrail says that it is too much. `refused`: it cannot be used. `misfit`: changes
   * are not for what is here. `later`: it could not be written now.
   */
  readonly is: 'held' | 'refused' | 'misfit' | 'later'
  /** A sentence for people. */
  readonly reason: string
}

/** A person says that a zone is taken whatever the guardrails say. */
export interface Acceptance {
  readonly reason: string
}

export type Came = Exclude<Transferred, { readonly is: 'current' }>

interface FollowerParts {
  readonly name: string
  /** Wire form, lower case. */
  readonly zone: Uint8Array
  readonly primaries: readonly AddressPort[]
  /** Errors: half a sentence. */
  readonly key: () => Result<TsigKey | undefined, string>
  /** Errors: a sentence without its subject. */
  readonly ask: (
    primary: AddressPort,
    question: PrimaryQuestion,
    stop: AbortSignal,
  ) => Promise<Result<Transferred, string>>
  /** undefined: nothing has ever come. */
  readonly stored: () => StoredZone | undefined
  /** Whether what is stored is what came, and nobody has written it since. */
  readonly isAsItCame: () => Promise<boolean>
  /** @param stop nothing is written any more: people may write the files */
  readonly take: (
    came: Came,
    accepted: Acceptance | undefined,
    stop: AbortSignal,
  ) => Promise<Result<null, TakeFault>>
  readonly markExpired: (isExpired: boolean) => Promise<Result<null, TakeFault>>
  /** When a primary server was heard last, Unix epoch; 0: unknown. */
  readonly contactAtMs: number
  /** Tells other nodes, too, which may believe it for `expireMs`. */
  readonly onContact: (atMs: number, expireMs: number) => void
  /**
   * When any control node heard one last, as far as that is known, Unix epoch; 0: none has within
   * the time `expire`, or nobody says.
   */
  readonly sharedContactMs: () => Promise<number>
  readonly clock: Clock
  readonly after: After
  readonly random: Pick<Random, 'next'>
  readonly log: Log
}

export const followStates = ['asking', 'current', 'failing', 'held', 'refused', 'expired'] as const
type FollowState = (typeof followStates)[number]

export interface FollowStatus {
  readonly zone: string
  readonly primaries: readonly AddressPort[]
  readonly state: FollowState
  /** The serial that is here; undefined: none is. */
  readonly serial: number | undefined
  /** The serial that is held or refused; undefined: none is. */
  readonly offered: number | undefined
  /** Why it is not as it should be; empty: it is. */
  readonly error: string
  /** When a primary server was heard last, Unix epoch; 0: never. */
  readonly contactAtMs: number
  readonly transfers: number
  readonly failures: number
}

interface Heard extends Pick<PrimaryQuestion, 'wants'> {
  readonly soa: InboundSoa
  /** The primary server, for people. */
  readonly where: string
  readonly faults: string[]
}

export class ZoneFollower {
  readonly #parts: FollowerParts
  #state: FollowState = 'asking'
  #error = ''
  #offered: number | undefined
  #contactAtMs: number
  /** The same by the monotonic clock: from here on a clock that jumps expires nothing. */
  #contactMs: number
  #failures = 0
  /** Writes in a row that had to be put off. */
  #putOff = 0
  #counts = { transfers: 0, failures: 0 }
  #callOff: () => void = () => undefined
  #running: Promise<void> | undefined
  #isAskedAgain = false
  #lookedMs = -Infinity
  /** What was stored when it was looked at last. */
  #seen: StoredZone | undefined
  /** By the monotonic clock: when the commits so far are paid for, see `inboundTimers`. */
  #commitsPaidMs = -Infinity
  readonly #stop = new AbortController()

  constructor(parts: FollowerParts) {
    this.#parts = parts
    const { clock, contactAtMs } = parts
    this.#contactAtMs = contactAtMs
    const agoMs = contactAtMs === 0 ? 0 : Math.max(0, clock.nowMs() - contactAtMs)
    this.#contactMs = clock.monotonicMs() - agoMs
    this.#seen = parts.stored()
  }

  start(): void {
    this.#arm(0)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#callOff()
    await this.#running
  }

  /** A primary server says that the zone has changed. RFC 1996 section 3. */
  notice(): void {
    if (this.#running !== undefined) {
      this.#isAskedAgain = true
      return
    }
    this.#askAfter(inboundTimers.noticeMs)
  }

  /** Asks as soon as the last look is so long ago. */
  #askAfter(pauseMs: number): void {
    const agoMs = this.#parts.clock.monotonicMs() - this.#lookedMs
    this.#arm(Math.max(0, pauseMs - agoMs))
  }

  /** The stored zone may have changed: another node may have written it. */
  storedChanged(): void {
    const before = this.#seen
    this.#see()
    if (this.#running !== undefined) return
    const stored = this.#seen
    const isOtherSerial = stored?.soa.serial !== before?.soa.serial
    // It may be what could not be used here: a look tells.
    if (isOtherSerial && (this.#state === 'held' || this.#state === 'refused')) this.notice()
    else if (this.#state === 'refused') this.#askAfter(inboundTimers.mendedMs)
    if (stored === undefined && before !== undefined) this.notice()
    // What could not be used may be usable now.
    this.#offered = undefined
    if (this.#state === 'expired' && stored?.isExpired === false) this.#be('failing', this.#error)
    const isExpiredInVain = stored?.isExpired === true && !this.#isTooLongAgo(stored)
    if (isExpiredInVain && this.#state !== 'failing') this.notice()
  }

  /**
   * A new serial, and a mark of expiry that was taken back, say that a node has heard a primary
   * server, also where nodes share no contacts. Without the second, a node that is cut off would
   * mark the zone again at each try.
   */
  #see(): void {
    const [before, stored] = [this.#seen, this.#parts.stored()]
    this.#seen = stored
    const isOtherSerial = stored?.soa.serial !== before?.soa.serial
    if (isOtherSerial || stored?.isExpired !== before?.isExpired) this.#countCommit()
    const isTakenBack = before?.isExpired === true && stored?.isExpired === false
    if (!isTakenBack && !isOtherSerial) return
    this.#contactMs = this.#parts.clock.monotonicMs()
  }

  /** Transfers the whole zone now, whatever its serial, and takes it beyond guardrails. */
  async accept(acceptance: Acceptance): Promise<Result<number, string>> {
    await this.#running
    await this.#run(acceptance)
    const isTaken = this.#state === 'current' && this.#error === ''
    return isTaken ? ok(this.#parts.stored()?.soa.serial ?? 0) : err(this.#error)
  }

  status(): FollowStatus {
    const { name, primaries } = this.#parts
    return {
      ...{ zone: name, primaries, state: this.#state, error: this.#error },
      serial: this.#parts.stored()?.soa.serial,
      offered: this.#offered,
      contactAtMs: this.#contactAtMs,
      ...this.#counts,
    }
  }

  #arm(delayMs: number): void {
    this.#callOff()
    if (this.#stop.signal.aborted) return
    const pauseMs = Math.max(delayMs, this.#untilCommitMs())
    this.#callOff = this.#parts.after(pauseMs, () => void this.#run())
  }

  /** Commits of all nodes count. */
  #countCommit(): void {
    const { atOnce, everyMs } = inboundTimers.commits
    const nowMs = this.#parts.clock.monotonicMs()
    const paidMs = Math.max(this.#commitsPaidMs, nowMs) + everyMs
    this.#commitsPaidMs = Math.min(paidMs, nowMs + atOnce * everyMs)
  }

  #untilCommitMs(): number {
    const { atOnce, everyMs } = inboundTimers.commits
    return this.#commitsPaidMs - (atOnce - 1) * everyMs - this.#parts.clock.monotonicMs()
  }

  async #run(acceptance?: Acceptance): Promise<void> {
    if (this.#running !== undefined) return this.#running
    if (this.#stop.signal.aborted) return
    this.#callOff()
    this.#lookedMs = this.#parts.clock.monotonicMs()
    const run = this.#look(acceptance)
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error, zone: this.#parts.name }, 'a zone transfer failed')
        return inboundTimers.firstRetry.mostMs
      })
      .then((pauseMs) => {
        this.#running = undefined
        this.#see()
        this.#arm(this.#isAskedAgain ? inboundTimers.noticeMs : pauseMs)
        this.#isAskedAgain = false
      })
    this.#running = run
    await run
  }

  /** @returns the pause until the next look */
  async #look(acceptance: Acceptance | undefined): Promise<number> {
    const key = this.#parts.key()
    if (!key.ok) return await this.#failed(key.error)
    const isAsItCame = await this.#parts.isAsItCame()
    const wants = acceptance !== undefined ? 'force' : isAsItCame ? 'changes' : 'anew'
    const faults: string[] = []
    for (const primary of this.#parts.primaries) {
      const pauseMs = await this.#askOne(primary, { key: key.value, wants, acceptance }, faults)
      if (pauseMs !== undefined) return pauseMs
      if (this.#stop.signal.aborted) return 0
    }
    return await this.#failed(faults.join('; '))
  }

  /** @returns undefined: the next one is to be asked */
  async #askOne(
    primary: AddressPort,
    how: Pick<PrimaryQuestion, 'key' | 'wants'> & { readonly acceptance: Acceptance | undefined },
    faults: string[],
  ): Promise<number | undefined> {
    const { ask, zone, stored } = this.#parts
    const serial = stored()?.soa.serial
    const { key, wants, acceptance } = how
    const asked = { zone, key, serial, wants, refused: this.#offered }
    const got = await ask(primary, asked, this.#stop.signal)
    // What comes too late is of servers that are perhaps no primary servers any more.
    if (this.#stop.signal.aborted) return 0
    const where = `${primary.address} port ${primary.port}`
    if (!got.ok) {
      faults.push(`${where} ${got.error}`)
      return undefined
    }
    const { is, soa } = got.value
    const heard = { soa, where, wants, faults }
    if (is === 'current') return await this.#heardCurrent(heard)
    const isPutBack = wants === 'anew' && soa.serial === serial
    if (acceptance === undefined) {
      const isOther = stored()?.soa.serial !== serial
      if (isOther && (is === 'changes' || this.#isHere(soa))) return this.#overtaken(soa)
      if (!isPutBack && this.#isHere(soa)) return await this.#heardCurrent(heard)
    }
    const taken = await this.#parts.take(got.value, acceptance, this.#stop.signal)
    if (!taken.ok && this.#stop.signal.aborted) return 0
    if (!taken.ok && taken.error.is === 'misfit' && wants === 'changes') {
      return await this.#askOne(primary, { ...how, wants: 'whole' }, faults)
    }
    this.#heard(soa)
    if (taken.ok) return this.#taken(soa, got.value, where)
    const isOvertaken = !isPutBack && this.#isHere(soa)
    if (acceptance === undefined && isOvertaken) return this.#overtaken(soa)
    const pauseMs = this.#notTaken(soa, taken.error)
    if (taken.error.is === 'later') return pauseMs
    return (await this.#unmarked()).ok ? pauseMs : inboundTimers.rewriteMs
  }

  /** Whether what is stored is this serial, or a newer one. */
  #isHere({ serial }: InboundSoa): boolean {
    const stored = this.#parts.stored()
    return stored !== undefined && !isNewer(serial, stored.soa.serial)
  }

  /** Another node has written while this one asked. @returns the pause until the next look */
  #overtaken(soa: InboundSoa): number {
    this.#heard(soa)
    this.#putOff = 0
    this.#offered = undefined
    return inboundTimers.noticeMs
  }

  async #heardCurrent({ soa, where, wants, faults }: Heard): Promise<number | undefined> {
    const stored = this.#parts.stored()
    const isOther = wants === 'anew' || soa.serial !== stored?.soa.serial
    const isOffered = isOther && soa.serial === this.#offered
    if (stored !== undefined && isNewer(stored.soa.serial, soa.serial)) {
      faults.push(
        `${where} has the serial ${soa.serial}, which is before ${stored.soa.serial} here: ` +
          'raise it there, or transfer the zone in spite of it ' +
          `(POST /api/v1/zone-transfers/${this.#parts.name}/accept)`,
      )
      return undefined
    }
    this.#heard(soa)
    const unmarked = await this.#unmarked()
    if (!unmarked.ok) return this.#notTaken(soa, unmarked.error)
    if (isOffered) return this.#pauseMs(stored?.soa ?? soa, 'refresh')
    this.#putOff = 0
    this.#offered = undefined
    this.#be('current', '')
    return this.#pauseMs(soa, 'refresh')
  }

  /**
   * A primary server was heard: what is here is answered, also where a newer serial is held or
   * refused, since a person decides on that one.
   */
  async #unmarked(): Promise<Result<null, TakeFault>> {
    const isExpired = this.#parts.stored()?.isExpired === true
    return isExpired ? await this.#parts.markExpired(false) : ok(null)
  }

  #heard(soa: InboundSoa): void {
    const { clock, onContact } = this.#parts
    this.#failures = 0
    this.#contactMs = clock.monotonicMs()
    this.#contactAtMs = clock.nowMs()
    onContact(this.#contactAtMs, expireMs(soa))
  }

  /** This node is perhaps cut off, and another one is not. */
  async #hearOthers(): Promise<void> {
    const { clock, sharedContactMs } = this.#parts
    const atMs = await sharedContactMs()
    const aheadMs = atMs - clock.nowMs()
    if (atMs === 0) return
    // It would hold off the end of a zone for as long as the clock is ahead.
    if (aheadMs > inboundTimers.contactAheadMs) {
      const { name, log } = this.#parts
      return log.warn({ zone: name, aheadMs }, contactInFuture)
    }
    // Clocks of nodes differ a little: what is to come is now.
    const agoMs = Math.max(0, -aheadMs)
    this.#contactMs = Math.max(this.#contactMs, clock.monotonicMs() - agoMs)
  }

  #taken(soa: InboundSoa, came: Came, where: string): number {
    this.#counts.transfers++
    this.#putOff = 0
    this.#offered = undefined
    const { name, log } = this.#parts
    const size = came.is === 'whole' ? came.records.length : came.changes.length
    log.info({ zone: name, serial: soa.serial, from: where, [came.is]: size }, 'a zone came in')
    this.#be('current', '')
    return this.#pauseMs(soa, 'refresh')
  }

  #notTaken(soa: InboundSoa, { is, reason }: TakeFault): number {
    if (is === 'later') {
      this.#be('failing', reason)
      return this.#rewriteMs(soa)
    }
    this.#putOff = 0
    this.#offered = soa.serial
    this.#be(is === 'held' ? 'held' : 'refused', reason)
    return this.#pauseMs(soa, 'refresh')
  }

  async #failed(reason: string): Promise<number> {
    const stored = this.#parts.stored()
    this.#failures++
    this.#counts.failures++
    if (stored === undefined) {
      this.#be('failing', reason)
      return this.#shortened(backoffMs(inboundTimers.firstRetry, this.#failures))
    }
    const retryMs = this.#pauseMs(stored.soa, 'retry')
    if (this.#isTooLongAgo(stored)) await this.#hearOthers()
    if (this.#stop.signal.aborted) return 0
    if (!this.#isTooLongAgo(stored)) {
      this.#be(stored.isExpired ? 'expired' : 'failing', reason)
      return Math.min(retryMs, Math.max(1_000, this.#leftMs(stored)))
    }
    if (!stored.isExpired) {
      const marked = await this.#parts.markExpired(true)
      if (!marked.ok) {
        this.#be('failing', `${reason}; that it has expired is not written: ${marked.error.reason}`)
        return inboundTimers.rewriteMs
      }
    }
    // Another node may have taken the mark back meanwhile.
    this.#be(this.#parts.stored()?.isExpired === true ? 'expired' : 'failing', reason)
    return retryMs
  }

  /** What came is not kept, so the zone comes once more before each try: ever less often. */
  #rewriteMs(soa: InboundSoa): number {
    const firstMs = inboundTimers.rewriteMs
    const mostMs = Math.max(firstMs, this.#pauseMs(soa, 'retry'))
    return backoffMs({ firstMs, mostMs }, ++this.#putOff)
  }

  #leftMs({ soa }: StoredZone): number {
    return this.#contactMs + expireMs(soa) - this.#parts.clock.monotonicMs()
  }

  #isTooLongAgo(stored: StoredZone): boolean {
    return this.#leftMs(stored) <= 0
  }

  #pauseMs(soa: InboundSoa, which: 'refresh' | 'retry'): number {
    const { refreshMinMs, refreshMaxMs, retryMinMs, retryMaxMs } = inboundTimers
    const [min, max] = which === 'refresh' ? [refreshMinMs, refreshMaxMs] : [retryMinMs, retryMaxMs]
    return this.#shortened(Math.min(max, Math.max(min, soa[which] * 1_000)))
  }

  #shortened(pauseMs: number): number {
    const part = inboundTimers.jitter * (this.#parts.random.next() / 2 ** 32)
    return Math.round(pauseMs * (1 - part))
  }

  /** The log says each change of state once. */
  #be(state: FollowState, error: string): void {
    assert(state !== 'asking', 'a zone that was looked at has a state')
    const isNews = state !== this.#state
    this.#state = state
    this.#error = error
    if (!isNews) return
    const { name, log } = this.#parts
    if (state === 'current') log.info({ zone: name }, 'the zone is as its primary server has it')
    else if (state === 'expired') log.error({ zone: name, reason: error }, 'the zone has expired')
    else log.warn({ zone: name, reason: error }, saysOf[state])
  }
}

function expireMs({ expire }: InboundSoa): number {
  const { expireMinMs, expireMaxMs } = inboundTimers
  return Math.min(expireMaxMs, Math.max(expireMinMs, expire * 1_000))
}

const saysOf = {
  asking: '',
  failing: 'the zone cannot be kept up to date from its primary servers',
  held: 'what came of the zone is held: it changes more than guardrails permit',
  refused: 'what came of the zone cannot be used; what is here stays',
} as const

const contactInFuture =
  'another node noted contact with a primary in the future, which does not count: look at the ' +
  'clocks of this node and of the others'

// Manages the script helpers of all answering threads: starts, watches and replaces them.
import { availableParallelism } from 'node:os'
import { adoptBundle } from '#bundle/load/load.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { namesOfSeat, scriptBodiesOf, scriptSeatsOf } from '#routing/script/bodies.ts'
import { scriptOutcomeNames } from '#routing/script/contract.ts'
import type { Generation } from '#answer/serving-view.ts'
import { ScriptPenalties } from './script-penalty.ts'
import { StartLimiter } from '#system/worker/start-limiter.ts'
import { HelperThread } from './worker-thread.ts'
import { MailCell, Mailbox, strikesMax } from '#answer/script-mailbox.ts'
import type { ScriptSet } from '#answer/script-mailbox.ts'
import { ReportLimit } from './report-limit.ts'
import type { ScriptReport } from './report-limit.ts'

interface ScriptHostParts {
  /** Number of answering threads; each has its own mailbox and helper. */
  readonly threads: number
  readonly clock: Clock
  readonly log: Log
}

export interface ScriptStatus {
  /** Scripts in the serving bundle. */
  readonly scripts: number
  /** Scripts suspended now. */
  readonly benched: number
  /** Helpers killed inside a script since the start. */
  readonly killed: number
}

/** A helper is killed when it is busy with one question for this long at every look. */
const stuck = { afterMs: 30, looks: 3 } as const
const lookMs = 10
/** Penalties are checked less often: there is a cell for each service with a script. */
const looksPerPenaltyLook = 10
/** Characters kept of an error thrown by a script. */
const reasonLengthMax = 200
/** Pause between the unexpected end of a helper and its successor. */
const restartMs = 1_000

interface Post {
  readonly shared: SharedArrayBuffer
  readonly cells: Int32Array
  helper: HelperThread | undefined
  /** The open question, and since when it was seen open. */
  asked: number
  openSinceMs: number
  looks: number
  isReplacing: boolean
  /** Its helper is queued to start. */
  isWaiting: boolean
}

export class ScriptHost {
  readonly #parts: ScriptHostParts
  readonly #posts: readonly Post[]
  readonly #penalties: ScriptPenalties
  readonly #limit: ReportLimit
  readonly #starts = new StartLimiter(availableParallelism())
  #spare: HelperThread | undefined
  #serving: Generation | undefined
  #timer: NodeJS.Timeout | undefined
  #killed = 0
  #looks = 0
  /** The host is stopping: no helper starts any more. */
  #isCalledOff = false

  constructor(parts: ScriptHostParts) {
    this.#parts = parts
    this.#penalties = new ScriptPenalties(parts.clock)
    this.#limit = new ReportLimit(parts.clock)
    this.#posts = Array.from({ length: parts.threads }, () => {
      const shared = new SharedArrayBuffer(Mailbox.bytes)
      const cells = new Int32Array(shared, 0, MailCell.Words)
      return {
        shared,
        cells,
        helper: undefined,
        asked: 0,
        openSinceMs: 0,
        looks: 0,
        isReplacing: false,
        isWaiting: false,
      }
    })
  }

  mailbox(thread: number): SharedArrayBuffer {
    return this.#posts[thread]!.shared
  }

  /** The scripts that a generation carries to the threads; null: its bundle has none. */
  scriptsOf({ bundle, digest }: Generation): ScriptSet | null {
    const adopted = adoptBundle(bundle, digest)
    const bodies = scriptBodiesOf(adopted)
    if (bodies.length === 0) return null
    const { starts, scripts, keys } = scriptSeatsOf(adopted, bodies)
    const strikes = this.#penalties.carry(keys)
    return { bodies, seatStarts: starts, seatScripts: scripts, strikes }
  }

  /** Call it before the answering threads get the generation. */
  publish(generation: Generation): void {
    this.#serving = generation
    if (generation.scripts === undefined || generation.scripts === null) {
      this.#penalties.clear()
      void this.#dismiss()
      return
    }
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref()
    for (const post of this.#posts) {
      if (post.helper === undefined && !post.isReplacing) this.#manInTurn(post)
      else this.#tell(post)
    }
    if (this.#spare?.hasEnded !== false) this.#startSpare()
  }

  /** True when every helper needed has adopted the scripts of this generation. */
  haveAdopted(number: number): boolean {
    const scripts = this.#serving?.scripts ?? null
    if (scripts === null) return true
    return this.#posts.every(({ cells }) => Atomics.load(cells, MailCell.Adopted) >= number)
  }

  status(): ScriptStatus {
    return {
      scripts: this.#serving?.scripts?.bodies.length ?? 0,
      benched: this.#penalties.size,
      killed: this.#killed,
    }
  }

  /** Keeps helpers that have not started from starting. */
  callOffStarts(): void {
    this.#isCalledOff = true
    this.#starts.callOff()
  }

  async stop(): Promise<void> {
    this.callOffStarts()
    await this.#dismiss()
  }

  #manInTurn(post: Post): void {
    if (post.isWaiting) return
    post.isWaiting = true
    const start = async (): Promise<void> => {
      post.isWaiting = false
      const isWanted = this.#timer !== undefined && !post.isReplacing
      if (isWanted && post.helper === undefined) await this.#man(post)
    }
    this.#starts.add(start, (error) => {
      this.#logNotStarted(error)
      this.#refillLater(post)
    })
  }

  /** @returns when the helper is ready, or has ended */
  #man(post: Post): Promise<void> {
    const helper = this.#spare?.hasEnded === false ? this.#spare : new HelperThread()
    this.#spare = undefined
    post.helper = helper
    post.looks = 0
    helper.onEnd(() => {
      if (post.helper !== helper) return
      // The helper ended unexpectedly: its engine failed, or it ran out of memory.
      this.#vacate(post)
      this.#refillLater(post)
    })
    helper.onReport((report) => this.#log(report))
    helper.serve(post.shared)
    this.#tell(post)
    this.#startSpare()
    return helper.ready
  }

  /** Keeps one helper ready, since a start takes long. */
  #startSpare(): void {
    if (this.#isCalledOff) return
    try {
      this.#spare = new HelperThread()
    } catch (error) {
      this.#logNotStarted(error)
    }
  }

  #logNotStarted(error: unknown): void {
    this.#parts.log.error({ err: error }, 'a thread for scripts did not start; tried again')
  }

  #refillLater(post: Post): void {
    post.isReplacing = true
    setTimeout(() => this.#refill(post), restartMs).unref()
  }

  #tell(post: Post): void {
    if (this.#serving === undefined) return
    post.helper?.tell(this.#serving)
    Atomics.notify(post.cells, MailCell.Asked)
  }

  #vacate(post: Post): void {
    post.helper = undefined
    Atomics.store(post.cells, MailCell.HasHelper, 0)
    Atomics.store(post.cells, MailCell.Adopted, 0)
  }

  #refill(post: Post): void {
    post.isReplacing = false
    if (this.#timer !== undefined && post.helper === undefined) this.#manInTurn(post)
  }

  #look(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    for (const post of this.#posts) this.#lookAt(post, nowMs)
    this.#looks++
    if (this.#looks % looksPerPenaltyLook !== 0) return
    for (const { seat, pauseMs } of this.#penalties.look()) {
      this.#parts.log.warn(
        { ...this.#namesOf(seat), pauseMs },
        'a script used up its time again and again; for a while it is left out',
      )
    }
  }

  #lookAt(post: Post, nowMs: number): void {
    const asked = Atomics.load(post.cells, MailCell.Asked)
    // A question left open by a dead helper does not count: the next helper closes it at its start.
    const hasHelper = Atomics.load(post.cells, MailCell.HasHelper) === 1
    const isOpen = hasHelper && Atomics.load(post.cells, MailCell.Answered) !== asked
    if (!isOpen || post.looks === 0 || post.asked !== asked || post.helper === undefined) {
      post.asked = asked
      post.openSinceMs = nowMs
      post.looks = isOpen ? 1 : 0
      return
    }
    post.looks++
    if (post.looks >= stuck.looks && nowMs - post.openSinceMs >= stuck.afterMs) this.#kill(post)
  }

  #kill(post: Post): void {
    const { helper } = post
    const seat = post.cells[MailCell.Seat]!
    // In another generation the seat may belong to another service.
    const isOfServing = post.cells[MailCell.Generation] === this.#serving?.number
    this.#vacate(post)
    post.isReplacing = true
    this.#killed++
    if (isOfServing) this.#penalties.strike(seat, strikesMax)
    this.#parts.log.warn(
      isOfServing ? this.#namesOf(seat) : {},
      'a script did not come back from a native function; its thread was killed',
    )
    // The new helper must not see the mailbox before the old one can no longer write.
    void helper?.end().then(() => this.#refill(post))
  }

  async #dismiss(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    const ending = this.#posts.flatMap(({ helper }) => (helper === undefined ? [] : [helper.end()]))
    for (const post of this.#posts) this.#vacate(post)
    if (this.#spare !== undefined) ending.push(this.#spare.end())
    this.#spare = undefined
    await Promise.all(ending)
    // A helper in the middle of adopting may have set its flag again.
    for (const post of this.#posts) if (post.helper === undefined) this.#vacate(post)
  }

  /** Logs a report, rate-limited per service. */
  #log({ generation, seat, outcome, reason }: ScriptReport): void {
    if (generation !== this.#serving?.number) return
    const names = this.#namesOf(seat)
    if (!this.#limit.allows(names.service)) return
    this.#parts.log.warn(
      { ...names, result: scriptOutcomeNames[outcome], reason: reason.slice(0, reasonLengthMax) },
      'a script changed nothing',
    )
  }

  /** The names behind a seat of the serving generation. */
  #namesOf(seat: number): {
    readonly tenant: string
    readonly service: string
    readonly step: string
  } {
    const { bundle, digest, scripts } = this.#serving!
    const { bodies, seatStarts: starts, seatScripts } = scripts!
    const seats = { starts, scripts: seatScripts }
    const names = namesOfSeat(adoptBundle(bundle, digest), seats, bodies, seat)
    const { tenant, service, steps } = names
    return { tenant, service, step: steps.join(', ') }
  }
}

// Announces and withdraws the routes of this node: checks the node on its clock, queries it as a
// client does, and instructs the BGP daemon until the daemon has done so.
import type { Backoff } from '#lib/backoff.ts'
import { backoffMs } from '#lib/backoff.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'
import { Announcer } from './announcer.ts'
import type { AnnouncerSettings, Finding, WithdrawalReason } from './announcer.ts'
import type { AnycastDriver, DriverReply } from './driver.ts'
import type { SelfAnswer } from './self-query.ts'

interface AnycastSettings extends AnnouncerSettings {
  readonly addresses: readonly string[]
  readonly intervalMs: number
  /** 0: a bundle of any age is good enough. */
  readonly maxBundleAgeMs: number
  /** Time from the withdrawal to the end of a process that stops. */
  readonly drainMs: number
}

export interface AnycastParts {
  readonly settings: AnycastSettings
  readonly driver: AnycastDriver
  /** When the serving channel record was issued, Unix time; null: there is no bundle. */
  readonly issuedAtMs: () => number | null
  /** Sends a query to this node at one of its addresses. */
  readonly askSelf: (address: string) => Promise<SelfAnswer>
  /** Whether the routes stay as the process left them that this one replaces. */
  readonly takesOver: boolean
  readonly clock: Clock
  readonly after: After
  readonly log: Log
}

export interface AnycastStatus {
  readonly addresses: readonly string[]
  /** Whether this node wants its routes announced. */
  readonly isAnnounced: boolean
  readonly sinceMs: number
  /** Why the routes are withdrawn; null when they are announced. */
  readonly reason: WithdrawalReason | null
  readonly holdDownLeftMs: number
  readonly driver: {
    /** Whether the daemon could be reached; null before the first command. */
    readonly isReachable: boolean | null
    readonly announces: DriverReply['announces']
    /** The last reply of the daemon, or why it could not be reached. */
    readonly reply: string
    /** Unix time of that reply; null before the first one. */
    readonly atMs: number | null
  }
  /** The last query to this node itself; null before the first one. */
  readonly selfQuery: (SelfAnswer & { readonly address: string; readonly atMs: number }) | null
  /** Count of checks in a row without an answer. */
  readonly silentLooks: number
  readonly counts: AnycastCounts
}

interface AnycastCounts {
  readonly announced: number
  readonly withdrawn: number
  readonly answered: number
  readonly silent: number
  readonly driverFaults: number
  /** How often the daemon had changed the routes by itself, and was instructed again. */
  readonly overruled: number
}

const tries: Backoff = { firstMs: 250, mostMs: 10_000 }
/** A daemon whose routes cannot be read is instructed again after this time. */
const announceAgainMs = 10_000
const warnEveryMs = 60_000

const sentences: Readonly<Record<WithdrawalReason, string>> = {
  starting: 'it has not answered yet',
  'no-bundle': 'it has no bundle',
  'bundle-old': 'its bundle was not confirmed for longer than anycast.maxBundleAge',
  silent: 'its own queries are not answered',
  draining: 'it stops',
}

export class Anycast {
  readonly #parts: AnycastParts
  readonly #announcer: Announcer
  readonly #counts = {
    announced: 0,
    withdrawn: 0,
    answered: 0,
    silent: 0,
    driverFaults: 0,
    overruled: 0,
  }
  #driver: AnycastStatus['driver'] = { isReachable: null, announces: null, reply: '', atMs: null }
  #selfQuery: AnycastStatus['selfQuery'] = null
  #logged = ''
  #warnedAtMs = -Infinity
  /** The last command that the daemon has confirmed. */
  #confirmed: 'announced' | 'withdrawn' | undefined
  #announcedAtMs = 0
  #failures = 0
  #nextTryAtMs = 0
  #isPaused = false
  /** Checks and commands run one after another. */
  #turn: Promise<void> = Promise.resolve()
  #callOff: () => void = () => undefined

  constructor(parts: AnycastParts) {
    this.#parts = parts
    const { settings, clock, takesOver } = parts
    this.#announcer = new Announcer(settings, clock, takesOver)
  }

  /**
   * Starts checking. The first check runs at once, with the routes withdrawn unless they are taken
   * over.
   */
  start(): void {
    this.#then(() => this.#look())
    this.#schedule()
  }

  /** Stops checking and leaves the routes as they are, because another process takes over. */
  async pause(): Promise<void> {
    this.#isPaused = true
    this.#callOff()
    await this.#turn
  }

  /**
   * Withdraws the routes, and waits until routers have removed them.
   *
   * @returns at once when they were not announced
   */
  async drain(): Promise<void> {
    const { settings, log, clock } = this.#parts
    const wasAnnounced = this.#announcer.wanted !== 'withdrawn' || this.#confirmed === 'announced'
    this.#announcer.drain()
    await this.pause()
    const giveUpMs = clock.monotonicMs() + settings.drainMs
    for (;;) {
      await this.#tell(true)
      if (this.#confirmed === 'withdrawn' || !wasAnnounced || clock.monotonicMs() >= giveUpMs) break
      await this.#wait(Math.min(tries.firstMs, giveUpMs - clock.monotonicMs()))
    }
    if (!wasAnnounced || this.#confirmed !== 'withdrawn') return
    log.info({ drainMs: settings.drainMs }, 'waiting until no more queries come; they are answered')
    await this.#wait(settings.drainMs)
  }

  status(): AnycastStatus {
    const { sinceMs, reason, holdDownLeftMs, silentLooks, wanted } = this.#announcer
    return {
      addresses: this.#parts.settings.addresses,
      isAnnounced: wanted === 'announced',
      ...{ sinceMs, reason, holdDownLeftMs, silentLooks },
      ...{ driver: this.#driver, selfQuery: this.#selfQuery, counts: { ...this.#counts } },
    }
  }

  #then(work: () => Promise<void>): void {
    this.#turn = this.#turn.then(work)
  }

  #schedule(): void {
    this.#callOff = this.#parts.after(this.#parts.settings.intervalMs, () => {
      // While one check takes long, no further checks queue up behind it.
      this.#then(async () => {
        if (!this.#isPaused) await this.#look()
        if (!this.#isPaused) this.#schedule()
      })
    })
  }

  async #look(): Promise<void> {
    const before = this.#announcer.wanted
    // No query may arrive here before the first answer is seen, so the routes are withdrawn first.
    if (this.#confirmed === undefined && before === 'withdrawn') await this.#tell(false)
    const finding = await this.#find()
    if (this.#isPaused) return
    const wanted = this.#announcer.see(finding)
    if (wanted !== before) this.#nextTryAtMs = 0
    await this.#check()
    await this.#tell(false)
    this.#say()
  }

  async #find(): Promise<Finding> {
    const { issuedAtMs, settings, clock } = this.#parts
    const issued = issuedAtMs()
    if (issued === null) return 'no-bundle'
    const ageMs = clock.nowMs() - issued
    if (settings.maxBundleAgeMs > 0 && ageMs > settings.maxBundleAgeMs) return 'bundle-old'
    for (const address of settings.addresses) {
      const answer = await this.#parts.askSelf(address)
      this.#counts[answer.fault === null ? 'answered' : 'silent']++
      this.#selfQuery = { ...answer, address, atMs: clock.nowMs() }
      if (answer.fault !== null) return 'silent'
    }
    return 'fit'
  }

  /**
   * Checks what the daemon announces: one that was restarted, or that somebody else has instructed,
   * is instructed again.
   */
  async #check(): Promise<void> {
    const { clock, driver } = this.#parts
    if (this.#confirmed === undefined) return
    const looked = await driver.look()
    if (!looked.ok) return this.#fail(looked.error)
    const { announces, text } = looked.value
    if (announces !== null) this.#hear(looked.value)
    const isLost = clock.monotonicMs() - this.#announcedAtMs > announceAgainMs && announces === null
    const other = this.#confirmed === 'announced' ? 'none' : 'all'
    if (announces === other || announces === 'some') {
      this.#counts.overruled++
      this.#warn(text)
    } else if (!isLost) return
    this.#confirmed = undefined
  }

  async #tell(isUrgent: boolean): Promise<void> {
    const { wanted } = this.#announcer
    const { clock, driver } = this.#parts
    if (wanted === 'as-before' || wanted === this.#confirmed) return
    if (!isUrgent && clock.monotonicMs() < this.#nextTryAtMs) return
    const done = await (wanted === 'announced' ? driver.announce() : driver.withdraw())
    if (!done.ok) return this.#fail(done.error)
    this.#hear(done.value)
    this.#failures = 0
    this.#nextTryAtMs = 0
    this.#confirmed = wanted
    this.#announcedAtMs = clock.monotonicMs()
    this.#say()
  }

  #hear({ announces, text }: DriverReply): void {
    const atMs = this.#parts.clock.nowMs()
    this.#driver = { isReachable: true, announces, reply: text, atMs }
  }

  /** Logs each change and each reason once, not each repeated command. */
  #say(): void {
    const { settings, log } = this.#parts
    const { reason, wanted } = this.#announcer
    if (wanted === 'as-before' || this.#confirmed !== wanted) return
    const line = `${wanted} ${reason}`
    if (this.#logged === line) return
    if (!this.#logged.startsWith(wanted)) this.#counts[wanted]++
    this.#logged = line
    const fields = { addresses: settings.addresses, driver: this.#driver.reply }
    if (reason === null) return log.info(fields, 'the addresses are announced')
    const level = reason === 'starting' || reason === 'draining' ? 'info' : 'error'
    const why = reason === 'silent' ? { fault: this.#selfQuery?.fault } : {}
    log[level]({ ...fields, ...why }, `the addresses are withdrawn: ${sentences[reason]}`)
  }

  /** Limits warnings: two programs that instruct one daemon would fill the log. */
  #warn(reply: string): void {
    const { clock, log } = this.#parts
    if (clock.monotonicMs() - this.#warnedAtMs < warnEveryMs) return
    this.#warnedAtMs = clock.monotonicMs()
    log.warn({ driver: reply }, 'the BGP daemon has changed the routes: it is told again')
  }

  #fail(why: string): void {
    const { clock, log } = this.#parts
    this.#counts.driverFaults++
    this.#failures++
    this.#nextTryAtMs = clock.monotonicMs() + backoffMs(tries, this.#failures)
    this.#confirmed = undefined
    if (this.#driver.isReachable !== false || this.#driver.reply !== why) {
      log.error({}, `the BGP daemon cannot be told; answers go on: ${why}`)
    }
    this.#driver = { isReachable: false, announces: null, reply: why, atMs: clock.nowMs() }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (ms <= 0) resolve()
      else this.#parts.after(ms, resolve)
    })
  }
}

// Commits the outcome of rollouts and the member sets of maintenance windows. Every node tries; the
// first commit wins.
import { assert } from '#lib/assert.ts'
import type {
  CommitResult,
  NeedsPlan,
  Operation,
  WriteFailure,
  WriteRequest,
} from '#config/operation.ts'
import { OverlayIndex } from '#config/overlays/effective.ts'
import type { OpenRollout, TripOf } from '#config/overlays/effective.ts'
import type { ConfigView } from '#config/view.ts'
import { backoffMs } from '#lib/backoff.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import type { After } from '#lib/timer.ts'
import { uuidV7 } from '#lib/uuid.ts'

interface OverlayKeeperParts {
  readonly config: ConfigView
  readonly write: (request: WriteRequest) => Promise<CommitResult>
  /** The regression that ended a rollout, while its file does not record the end. */
  readonly tripOf: TripOf
  readonly clock: Clock
  readonly after: After
  readonly random: Random
  readonly log: Log
}

/** Longest pause: a jump of the clock is noticed by then. */
const tickMs = 5_000
/** Pause while the configuration is not read: nothing announces that it is. */
const unreadyMs = 500
/** Random spread: nodes that act at the same instant write one after the other, without races. */
const spreadMs = 1_000
/** The node that saw a regression writes first; others write after this pause if it did not. */
const othersWaitMs = 1_000
/** Requests under way; others wait for the next look. */
const writesMax = 64
const retries = { firstMs: 5_000, mostMs: 300_000 } as const

/** Author of the commits: the node itself, and no user. */
const actor = { name: 'gslbd', address: 'node@gslbd' } as const

interface Due {
  readonly operation: (atMs: number) => Operation
  /** Time of the next try, by the monotonic clock. */
  nextAtMs: number
  failures: number
  isUnderWay: boolean
}

export class OverlayKeeper {
  readonly #parts: OverlayKeeperParts
  /** Due work, by id of the rollout or window. */
  readonly #due = new Map<string, Due>()
  /** How long the next plan waits with a rollout, if not for the random spread. */
  readonly #waits = new Map<string, number>()
  readonly #underWay = new Set<Promise<void>>()
  #leave: () => void = () => undefined
  #callOff: () => void = () => undefined
  #isStopped = true
  /** Code of the last logged failure; '' after a success. */
  #loggedCode = ''

  constructor(parts: OverlayKeeperParts) {
    this.#parts = parts
  }

  start(): void {
    assert(this.#isStopped, 'a keeper starts once')
    this.#isStopped = false
    this.#leave = this.#parts.config.onChange(() => this.look())
    this.look()
  }

  /** Waits for writes under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#callOff()
    this.#leave()
    await Promise.all(this.#underWay)
    assert(this.#underWay.size === 0, 'a keeper that has stopped writes nothing')
  }

  /** To be called when this node, or another one, saw a regression of a rollout. */
  regressed(rolloutUid: string, isOwn: boolean): void {
    this.#waits.set(rolloutUid, isOwn ? 0 : othersWaitMs + this.#spread())
    this.look()
  }

  look(): void {
    if (this.#isStopped) return
    const { config, clock, tripOf } = this.#parts
    if (!config.isReady()) return this.#arm(unreadyMs)
    const nowMs = clock.nowMs()
    const index = OverlayIndex.of(config.snapshot())
    this.#plan(index, nowMs)
    this.#writeDue(nowMs)
    const waiting = [...this.#due.values()].filter(({ isUnderWay }) => !isUnderWay)
    const nextMs = waiting.map(({ nextAtMs }) => nextAtMs - clock.monotonicMs())
    const eventMs = index.nextEventAtMs(nowMs, tripOf) - nowMs
    const isIdle = index.rollouts.length + index.windows.length === 0
    this.#callOff()
    // Otherwise the next commit starts the next look.
    if (!isIdle) this.#arm(Math.max(1, Math.min(tickMs, eventMs, ...nextMs)))
  }

  #arm(delayMs: number): void {
    assert(!this.#isStopped, 'a keeper that has stopped does not look again')
    this.#callOff()
    this.#callOff = this.#parts.after(delayMs, () => this.look())
  }

  #plan(index: OverlayIndex, nowMs: number): void {
    const { clock, tripOf } = this.#parts
    const found = new Map<string, Due['operation']>()
    for (const rollout of index.overRollouts(nowMs, tripOf)) {
      found.set(rollout.entry.uid, (atMs) => settling(rollout, tripOf, atMs))
    }
    for (const { entry } of index.unrecordedWindows(nowMs)) {
      found.set(entry.uid, (atMs) => recording(entry.uid, atMs))
    }
    for (const uid of this.#due.keys()) if (!found.has(uid)) this.#due.delete(uid)
    for (const [uid, operation] of found) {
      const waitMs = this.#waits.get(uid)
      const known = this.#due.get(uid)
      if (known !== undefined && waitMs === undefined) continue
      const nextAtMs = clock.monotonicMs() + (waitMs ?? this.#spread())
      if (known !== undefined) known.nextAtMs = Math.min(known.nextAtMs, nextAtMs)
      else this.#due.set(uid, { operation, nextAtMs, failures: 0, isUnderWay: false })
    }
    assert(this.#due.size === found.size, 'each outcome to write is due once')
    this.#waits.clear()
  }

  #spread(): number {
    return (this.#parts.random.next() / 2 ** 32) * spreadMs
  }

  #writeDue(nowMs: number): void {
    const monotonicMs = this.#parts.clock.monotonicMs()
    for (const [uid, due] of this.#due) {
      if (this.#underWay.size >= writesMax) return
      if (due.isUnderWay || due.nextAtMs > monotonicMs) continue
      due.isUnderWay = true
      const work: Promise<void> = this.#write(uid, due, nowMs).finally(() => {
        this.#underWay.delete(work)
        this.look()
      })
      this.#underWay.add(work)
      assert(this.#underWay.size <= writesMax, 'writes under way are within their limit')
    }
  }

  async #write(uid: string, due: Due, nowMs: number): Promise<void> {
    const { write, clock, log } = this.#parts
    assert(due.isUnderWay, 'an outcome is marked before it is written')
    const operation = due.operation(nowMs)
    const done = await write({ requestId: uuidV7(nowMs), actor, operations: [operation] })
    due.isUnderWay = false
    due.nextAtMs = clock.monotonicMs() + backoffMs(retries, ++due.failures)
    if (!done.ok) return this.#tell(uid, done.error)
    this.#loggedCode = ''
    const { isChanged, revision } = done.value
    if (!isChanged) return
    const what = operation.verb === 'settle' ? 'rollout settled' : 'maintenance window recorded'
    log.info({ uid, commit: revision }, what)
  }

  /** A decision is in effect even while it cannot be written; the log says so once. */
  #tell(uid: string, { code, message }: WriteFailure | NeedsPlan): void {
    if (code === this.#loggedCode || code === 'not-found') return
    this.#loggedCode = code
    this.#parts.log.warn(
      { uid, code, reason: message },
      'what a rollout or window has come to is in force and cannot be written to Git; it is tried again',
    )
  }
}

function settling({ entry, schedule }: OpenRollout, tripOf: TripOf, atMs: number): Operation {
  const { startAtMs } = schedule
  const trip = tripOf(entry.uid, startAtMs)
  const regression = trip === null ? {} : { regression: { ...trip, startAtMs } }
  const target = { uid: entry.uid }
  return { verb: 'settle', kind: 'Rollout', target, atMs, ...regression }
}

function recording(uid: string, atMs: number): Operation {
  return { verb: 'record', kind: 'MaintenanceWindow', target: { uid }, atMs }
}

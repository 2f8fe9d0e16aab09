// Keeps a target in step with a zone: one control node at a time compares, and writes what may be
// written; after commits, periodically, and when a person asks for it.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import { holderOf, isFreeFor, LeaseWatch } from '#lib/cluster/lease-watch.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { ZonePushStore } from '#state/ports/zone-pushes.ts'
import { pushLimits } from './limits.ts'
import { planOf } from './plan.ts'
import type { Noted, PushPlan } from './plan.ts'
import { noState, printPushState, readPushState } from './push-state.ts'
import type { AskedPush, PushReport, PushState } from './push-state.ts'
import type { PushTarget } from './push-target.ts'
import { keysOf } from './record-sets.ts'
import type { RecordSet } from './record-sets.ts'
import { sendAll } from './send-all.ts'
import type { SendResult } from './send-all.ts'
import { reportOf } from './report.ts'

export interface PushSettings {
  readonly name: string
  readonly type: string
  /** Absolute, in lower case. */
  readonly zone: string
  readonly intervalMs: number
  /** False: nothing is written but what a person asks for. */
  readonly isAutomatic: boolean
  /** Records that one round may take away without replacing them. */
  readonly deletesMax: number
  readonly hasApexNs: boolean
}

interface ZonePusherParts {
  readonly settings: PushSettings
  readonly target: PushTarget
  readonly store: ZonePushStore
  /** What the zone has now. Errors: a sentence on why it is not known. */
  readonly wanted: () => Result<readonly RecordSet[], string>
  /** Another one where the zone may have changed; costs little. */
  readonly mark: () => string
  /** This node's name; no two control nodes have the same. */
  readonly node: string
  /** Unique for this process. */
  readonly instance: string
  readonly clock: Clock
  readonly log: Log
}

interface RoundOutcome {
  readonly asked: AskedPush | null
  readonly report: PushReport
}

interface PlannedPush {
  readonly plan: PushPlan
  /** Keys of the records that count as ours. */
  readonly owned: ReadonlySet<string>
  /** Keys of all records that are wanted or there. */
  readonly known: ReadonlySet<string>
  /** Mark of the zone that it is for. */
  readonly mark: string
}

/** Each lost race is another node that has done something. */
const triesMax = 5

export class ZonePusher {
  readonly settings: PushSettings
  readonly #parts: ZonePusherParts
  readonly #holder: string
  readonly #watch: LeaseWatch
  readonly #end = new AbortController()
  #running: Promise<void> | undefined
  #state: PushState = noState
  /** -1: not known yet. */
  #revision = -1
  #dueAtMs = 0
  #failures = 0
  #isChanged = false
  /** Mark of the zone that was compared last by this process. */
  #compared = ''
  /** How a round ended, until it is stored. */
  #ended: RoundOutcome | null = null
  #fault = ''

  constructor(parts: ZonePusherParts) {
    this.settings = parts.settings
    this.#parts = parts
    this.#holder = holderOf(parts.node, parts.instance)
    this.#watch = new LeaseWatch(parts.clock, pushLimits.abandonedMs)
  }

  /** As it was when it was looked at last. */
  get state(): PushState {
    return this.#state
  }

  /** True: this process pushes. */
  get isHolder(): boolean {
    return this.#state.holder === this.#holder
  }

  /** Why what is stored cannot be used; empty: it can. */
  get fault(): string {
    return this.#fault
  }

  /** To be called when the zone may have changed. */
  changed(): void {
    this.#isChanged = true
  }

  /** To be called every few seconds; starts a round where one is due, and does not wait for it. */
  async look(): Promise<void> {
    if (this.#end.signal.aborted || !(await this.#refresh())) return
    if (!this.isHolder) {
      // The node that pushes now knows better.
      this.#ended = null
      if (!(await this.#claim())) return
    }
    if (this.#watch.isBeatDue(pushLimits.beatMs)) await this.#beat()
    if (this.#running !== undefined || !(await this.#store()) || !this.#isDue()) return
    this.#running = this.#round(this.#state.asked).finally(() => {
      this.#running = undefined
    })
  }

  /** Resolves when no round is under way. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** Lets another node push at once. */
  async stop(): Promise<void> {
    this.#end.abort()
    await this.#running
    if (this.isHolder) await this.#change((state) => ({ ...state, holder: '' }))
  }

  /**
   * What would be written now; nothing is. Errors: a sentence.
   * @param isAgain what the target has taken and not made is to be sent again, too
   */
  async plan(signal: AbortSignal, isAgain = false): Promise<Result<PlannedPush, string>> {
    const { settings, target, store } = this.#parts
    const mark = this.#parts.mark()
    const wanted = this.#parts.wanted()
    if (!wanted.ok) return wanted
    const { fitting, skipped } = fitted(wanted.value, this.#parts)
    const there = await target.read(signal)
    if (!there.ok) return there
    const stored = await this.#owned(store)
    if (!stored.ok) return stored
    const input = {
      ...{ zone: settings.zone, hasApexNs: settings.hasApexNs, owned: stored.value },
      ...{ wanted: fitting, skipped, there: there.value },
      // What a node of another release has stored has none.
      taken: new Set(isAgain ? [] : (this.#state.report?.taken ?? [])),
    }
    const known = keysOf([...fitting, ...there.value])
    return ok({ plan: planOf(input), owned: stored.value, known, mark })
  }

  /** Has the node that pushes do so, with what a person permits. Errors: a sentence. */
  async ask(asked: AskedPush): Promise<Result<null, string>> {
    const changed = await this.#change((state) => ({ ...state, asked }))
    if (!changed) return err(this.#fault)
    return ok(null)
  }

  /** Records at another place than before are not ours. */
  async #owned(store: ZonePushStore): Promise<Result<ReadonlySet<string>, string>> {
    const { place } = this.#parts.target
    if (this.#state.place !== place) return ok(new Set())
    const records = await store.records(this.settings.name)
    return records.ok ? ok(new Set(records.value)) : err(records.error.message)
  }

  #isDue(): boolean {
    if (this.#state.asked !== null) return true
    const nowMs = this.#parts.clock.monotonicMs()
    if (nowMs >= this.#dueAtMs) return true
    if (!this.#isChanged || this.#failures > 0) return false
    this.#isChanged = false
    return this.#parts.mark() !== this.#compared
  }

  async #round(asked: AskedPush | null): Promise<void> {
    const { clock, store, target, settings } = this.#parts
    this.#isChanged = false
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(pushLimits.roundMs)])
    const planned = await this.plan(signal, asked !== null && asked.plan === '')
    const moved = this.#state.place === target.place || (await this.#moveIn())
    if (!planned.ok || !moved) {
      const fault = planned.ok ? this.#fault : planned.error
      await this.#finish(asked, { ...reportOf(this.#state.report), fault, atMs: clock.nowMs() })
      return
    }
    const { plan, owned, known, mark } = planned.value
    this.#compared = mark
    const isPermitted = asked !== null && asked.plan === plan.digest
    const isHeld = plan.deletes > settings.deletesMax && !isPermitted
    const isStale = asked !== null && asked.plan !== '' && !isPermitted
    const mayWrite = !isHeld && (settings.isAutomatic || (asked !== null && !isStale))
    const adopted = asked?.adopt === true && !isStale ? plan.adoptable : []
    const sent = mayWrite ? await this.#write(plan, owned, adopted, signal) : noneSent
    if (sent.isStored) {
      const gone = [...owned].filter((key) => !known.has(key))
      await store.change(settings.name, [...gone, ...sent.disowned], mayWrite ? [] : adopted)
    }
    const atMs = Math.floor(clock.nowMs())
    const before = this.#state.report
    const held = isHeld ? { deletes: plan.deletes, limit: settings.deletesMax } : null
    const stale = isStale ? staleFault : ''
    await this.#finish(
      asked,
      reportOf(before, { plan, sent, held, atMs, fault: sent.fault || stale }),
    )
    this.#tell(plan, sent, isHeld)
  }

  /** What is about to be written counts as ours before it is: a process may end in between. */
  async #write(
    plan: PushPlan,
    owned: ReadonlySet<string>,
    adopted: readonly string[],
    signal: AbortSignal,
  ): Promise<SendResult> {
    const { store, target, settings } = this.#parts
    if (plan.changes.length === 0 && adopted.length === 0) return noneSent
    const added = keysOf(plan.changes.map((one) => ({ ...one, values: one.adds })))
    const ahead = await store.change(settings.name, [], [...added, ...adopted])
    if (!ahead.ok) return { ...noneSent, fault: ahead.error.message, isStored: false }
    return await sendAll(plan.changes, target, owned, signal)
  }

  /** Where the target is another server or zone, nothing there is ours yet. */
  async #moveIn(): Promise<boolean> {
    const { store, settings, target } = this.#parts
    const before = await store.records(settings.name)
    if (!before.ok) return this.#failed(before.error.message)
    const emptied = await store.change(settings.name, before.value, [])
    if (!emptied.ok) return this.#failed(emptied.error.message)
    return await this.#change((state) => ({ ...state, place: target.place }))
  }

  async #finish(asked: AskedPush | null, report: PushReport): Promise<void> {
    const { clock, log, settings } = this.#parts
    const { name, intervalMs } = settings
    const before = this.#state.report?.fault ?? ''
    this.#ended = { asked, report }
    await this.#store()
    this.#failures = report.fault === '' ? 0 : this.#failures + 1
    const retryMs = pushLimits.retryFirstMs * 2 ** Math.min(this.#failures - 1, 10)
    const pauseMs =
      this.#failures === 0 ? intervalMs : Math.min(retryMs, pushLimits.retryMostMs, intervalMs)
    this.#dueAtMs = clock.monotonicMs() + pauseMs
    if (report.fault !== '' && report.fault !== before) {
      log.error({ target: name, reason: report.fault }, 'a zone is not pushed; tried again')
    }
  }

  /**
   * Until it is stored that a person's question was answered, no other round begins: it would
   * answer it again.
   *
   * @returns false: it is not stored
   */
  async #store(): Promise<boolean> {
    const ended = this.#ended
    if (ended === null) return true
    const { asked, report } = ended
    const isStored = await this.#change((state) => ({
      ...{ ...state, report },
      // Another person may have asked meanwhile.
      asked: state.asked?.atMs === asked?.atMs ? null : state.asked,
    }))
    if (isStored) this.#ended = null
    return isStored
  }

  #tell(plan: PushPlan, { written, fault }: SendResult, isHeld: boolean): void {
    const { log, settings } = this.#parts
    const { name: target, zone, deletesMax } = settings
    if (isHeld && this.#heldPlan !== plan.digest) {
      this.#heldPlan = plan.digest
      const { deletes, digest } = plan
      log.warn({ target, zone, deletes, deletesMax, plan: digest }, heldMessage)
    }
    if (written > 0) log.info({ target, zone, written, complete: fault === '' }, 'pushed a zone')
  }

  #heldPlan = ''

  /** @returns false: it cannot be read */
  async #refresh(): Promise<boolean> {
    const found = await this.#parts.store.read(this.settings.name)
    if (!found.ok) return this.#failed(found.error.message)
    this.#fault = ''
    this.#take(found.value?.revision ?? 0, found.value?.state ?? '')
    return true
  }

  #take(revision: number, text: string): void {
    if (revision === this.#revision) return
    this.#revision = revision
    this.#state = text === '' ? noState : readPushState(text)
  }

  #failed(fault: string): false {
    this.#fault = fault
    return false
  }

  async #claim(): Promise<boolean> {
    const seen = this.#revision
    const isFree = isFreeFor(this.#parts.node, this.#state.holder)
    if (!isFree && !this.#watch.isAbandoned(seen)) return false
    return await this.#change((state) =>
      this.#revision === seen ? { ...state, holder: this.#holder } : null,
    )
  }

  async #beat(): Promise<void> {
    await this.#change((state) => (this.isHolder ? { ...state, beat: state.beat + 1 } : null))
  }

  /**
   * @param next null: not any more.
   * @returns false: it is not so
   */
  async #change(next: (state: PushState) => PushState | null): Promise<boolean> {
    const { store } = this.#parts
    const { name } = this.settings
    for (let tries = 0; tries < triesMax; tries++) {
      if (!(await this.#refresh())) return false
      const changed = next(this.#state)
      if (changed === null) return false
      const revision = this.#revision
      assert(revision >= 0, 'the state is changed after it was read')
      const text = printPushState(changed)
      const replaced = await store.replace(name, revision, text)
      if (!replaced.ok) return this.#failed(replaced.error.message)
      if (replaced.value) {
        this.#take(revision + 1, text)
        return true
      }
    }
    return this.#failed('other nodes change what is stored of this push all the time')
  }
}

const noneSent: SendResult = { written: 0, fault: '', disowned: [], undone: null, isStored: true }

const staleFault =
  'what is to be changed is not what was permitted any more: look at the plan, and permit it again'
const heldMessage =
  'a push is held: it would delete more records than its limit; permit this plan by ' +
  '"gslbd push apply NAME --plan DIGEST", or raise deletesMax'

interface Fitted {
  readonly fitting: readonly RecordSet[]
  readonly skipped: readonly Noted[]
}

const cnameAtApex = 'the apex of a zone cannot have a CNAME record'

function fitted(
  wanted: readonly RecordSet[],
  { settings: { zone }, target }: Pick<ZonePusherParts, 'settings' | 'target'>,
): Fitted {
  const [fitting, skipped]: [RecordSet[], Noted[]] = [[], []]
  for (const set of wanted) {
    const isAtApex = set.owner === zone && set.type === 'CNAME'
    const fit = isAtApex ? cnameAtApex : target.fit(set)
    if (typeof fit === 'string') skipped.push({ owner: set.owner, type: set.type, why: fit })
    else fitting.push(fit)
  }
  return { fitting, skipped }
}

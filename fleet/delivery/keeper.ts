// Runs a delivery on a control node: reads the shared state, takes new bundles as targets, and,
// where this node decides, evaluates the nodes of the wave.
import { assert } from '#lib/assert.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { Adoptions, viewsOf } from './gates.ts'
import { act, firstState, look, propose, reportSeconds } from './machine.ts'
import type { DeliveryAction, Hearing, Made } from './machine.ts'
import { placeFor, shadowFor, waveOf } from './membership.ts'
import type { DeliveryNode, NodeName } from './membership.ts'
import { deliveryLimits } from './plan.ts'
import type { DeliveryPlan } from './plan.ts'
import type { PlaceRecords } from './records.ts'
import { isUnderWay, deliveryPhases } from './state.ts'
import type { DeliveryState, DeliveryPhase } from './state.ts'

/** A row of the shared store. */
export interface SharedRow {
  readonly revision: number
  readonly decider: string
  readonly state: string
}

export interface DeliveryKeeperParts {
  /** Name of this control node. */
  readonly name: string
  /** Errors: a sentence. */
  readonly read: () => Promise<Result<SharedRow | null, string>>
  /** Returns false when another node was faster. Errors: a sentence. */
  readonly replace: (
    seen: number,
    row: Omit<SharedRow, 'revision'>,
  ) => Promise<Result<boolean, string>>
  /** Whether there may be a row: a database exists. */
  readonly mayHaveRow: () => boolean
  /** The state in the data directory; undefined: there is none. */
  readonly kept: () => string | undefined
  /** Stores the state for the next start, with the bundles that it names. */
  readonly keep: (text: string, state: DeliveryState) => void
  /** The bundle that this node compiled and stored, and its seq. undefined: none yet. */
  readonly made: () => { readonly made: Made; readonly seq: number } | undefined
  /** The plan in that commit. null: there is none. undefined: it is not known yet. */
  readonly plan: (commit: string) => DeliveryPlan | null | undefined
  readonly nodes: () => readonly DeliveryNode[]
  /** How many nodes are heard that do not count. */
  readonly strangers: () => number
  /** See `Hearing`; it may begin before this process. */
  readonly heardMs: () => number
  readonly records: PlaceRecords
  /** Called when nodes may get another record than before. */
  readonly onChange: () => void
  readonly clock: Clock
  readonly log: Log
}

export interface DeliveryView {
  readonly state: DeliveryState
  readonly decider: string
  readonly waitsFor: string
  readonly waves: ReturnType<typeof viewsOf>
  /** Why the store cannot be used; '': it can. */
  readonly fault: string
}

export class DeliveryKeeper {
  readonly #parts: DeliveryKeeperParts
  readonly #adoptions = new Adoptions()
  #state: DeliveryState | undefined
  #decider = ''
  #revision = 0
  /** By the monotonic clock: when another revision was seen, and since when nodes are heard. */
  #changedAtMs: number
  #observedFromMs: number
  #isRead = false
  #waitsFor = ''
  #fault = ''
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: DeliveryKeeperParts) {
    this.#parts = parts
    this.#changedAtMs = this.#observedFromMs = parts.clock.monotonicMs()
    const kept = parts.kept()
    const state = kept === undefined ? undefined : readState(kept)
    if (state?.ok === true) this.#state = state.value
    else if (state !== undefined) parts.log.warn({}, state.error)
  }

  /**
   * The record for a node. null: there is no delivery in waves. undefined: it is not known yet, and
   * the node keeps what it has.
   */
  recordFor(node: NodeName | undefined): SignedChannelRecord | null | undefined {
    if (this.#state !== undefined) return this.#parts.records.of(placeFor(this.#state, node))
    if (!this.#isRead && this.#parts.mayHaveRow()) return undefined
    return null
  }

  /** Digest of the bundle that a node is to compute with beside its own; '': none. */
  shadowFor(node: NodeName | undefined): string {
    return this.#state === undefined ? '' : (shadowFor(this.#state, node)?.digest ?? '')
  }

  /** Longest wait of a node for news: nodes of the current wave report often. */
  waitMsFor(node: NodeName | undefined): number {
    const state = this.#state
    if (state === undefined || node === undefined || state.plan === null) return Infinity
    if (!isUnderWay(state) || waveOf(node, state.plan.waves, state.waves) < 0) return Infinity
    const nodes = state.waves.reduce((sum, wave) => sum + wave.nodes, 0)
    return reportSeconds(nodes) * 1_000
  }

  view(): DeliveryView | null {
    const state = this.#state
    if (state === undefined) return null
    const { nodes, clock } = this.#parts
    const waves = viewsOf(state, nodes(), this.#adoptions, clock.nowMs(), this.#hearing().heardMs)
    return { state, decider: this.#decider, waitsFor: this.#waitsFor, waves, fault: this.#fault }
  }

  /** Makes one step, after those under way. */
  tick(): Promise<void> {
    return this.#inTurn(() => this.#step())
  }

  /** Errors: why the action is not possible now, in a sentence. */
  act(action: DeliveryAction): Promise<Result<DeliveryState, string>> {
    return this.#inTurn(async () => {
      const read = await this.#read()
      if (!read.ok) return read
      if (this.#state === undefined) return err('nothing was ever delivered in waves here')
      const { nodes, clock, log } = this.#parts
      const acted = act(this.#state, action, nodes(), clock.nowMs())
      if (!acted.ok) return acted
      const written = await this.#write(acted.value, this.#parts.name)
      if (!written.ok) return written
      if (!written.value) return err('another control node changed it at this moment: try again')
      log.info({ action, phase: acted.value.phase }, 'an operator has changed the delivery')
      return ok(acted.value)
    })
  }

  async #step(): Promise<void> {
    const { mayHaveRow, made, plan, clock } = this.#parts
    const commit = made()?.made.commit
    const isWanted = commit !== undefined && (plan(commit) ?? null) !== null
    const isNews = !this.#isRead && mayHaveRow()
    if (this.#state === undefined && !isWanted && !isNews) return
    const read = await this.#read()
    if (!read.ok) return
    if (await this.#propose()) return
    const state = this.#state
    if (state === undefined || !isUnderWay(state) || state.phase === 'held') return
    const silentMs = clock.monotonicMs() - this.#changedAtMs
    const isMine = this.#decider === this.#parts.name
    if (!isMine && silentMs < deliveryLimits.takeOverMs) return
    await this.#decide(state, !isMine || silentMs >= deliveryLimits.beatMs)
  }

  /** @returns true when the state changed, or another node was faster */
  async #propose(): Promise<boolean> {
    const { made: makes, plan: plans, nodes, clock, log } = this.#parts
    const news = makes()
    if (news === undefined) return false
    const { made, seq } = news
    const plan = plans(made.commit)
    if (plan === undefined) return false
    const nowMs = clock.nowMs()
    if (this.#state === undefined) {
      if (plan === null) return false
      const seen = nodes().map((node) => node.seq)
      await this.#write(firstState(made, Math.max(seq, ...seen), nowMs), this.#parts.name)
      return true
    }
    const next = propose(this.#state, made, plan, nodes(), nowMs)
    if (next === this.#state) return false
    const written = await this.#write(next, this.#parts.name)
    if (written.ok && written.value) {
      const { commit, digest } = made
      const waves = plan?.waves.length ?? 0
      log.info({ commit, digest, seq: next.topSeq, waves }, 'a new bundle is on its way to nodes')
    }
    return true
  }

  async #decide(state: DeliveryState, isBeatDue: boolean): Promise<void> {
    const { nodes, strangers, clock, log, name } = this.#parts
    const seen = [clock.nowMs(), this.#hearing(), strangers()] as const
    const looked = look(state, nodes(), this.#adoptions, ...seen)
    this.#waitsFor = looked.waitsFor
    const next = looked.state
    if (next === state && !isBeatDue) return
    const written = await this.#write(next, name)
    if (!written.ok || !written.value || next === state) return
    const { phase, verdict, waves, target, good } = next
    const fields = { phase, commit: target?.commit, wave: waves.length, seq: next.topSeq }
    if (verdict !== null) {
      log.error(
        { ...fields, ...verdict, wave: verdict.wave + 1, good: good.digest },
        `a delivery was stopped: ${verdict.gate}`,
      )
    } else if (next.adoptedAtMs === state.adoptedAtMs || phase === 'done') {
      log.info(fields, phase === 'done' ? 'all nodes are given the bundle' : 'the next wave begins')
    }
  }

  async #read(): Promise<Result<null, string>> {
    const row = await this.#parts.read()
    if (!row.ok) return this.#failed(row.error)
    this.#isRead = true
    if (row.value === null) {
      this.#fault = ''
      this.#revision = 0
      return ok(null)
    }
    const { revision, decider, state: text } = row.value
    if (revision !== this.#revision) {
      const state = readState(text)
      if (!state.ok) return this.#failed(state.error)
      this.#apply(state.value, decider, revision)
    }
    this.#fault = ''
    return ok(null)
  }

  async #write(state: DeliveryState, decider: string): Promise<Result<boolean, string>> {
    const seen = this.#revision
    const isForward = state.topSeq >= (this.#state?.topSeq ?? 0)
    assert(isForward, 'no step of a delivery takes back a number')
    const written = await this.#parts.replace(seen, { decider, state: printState(state) })
    if (!written.ok) return this.#failed(written.error)
    if (written.value) this.#apply(state, decider, seen + 1)
    return written
  }

  #apply(state: DeliveryState, decider: string, revision: number): void {
    const { clock, keep, onChange, log } = this.#parts
    this.#revision = revision
    this.#decider = decider
    this.#changedAtMs = clock.monotonicMs()
    const text = printState(state)
    if (this.#state !== undefined && printState(this.#state) === text) return
    this.#state = state
    if (!isUnderWay(state)) this.#waitsFor = ''
    try {
      keep(text, state)
    } catch (error) {
      log.warn({ err: error }, 'the state of the delivery is not kept: a restart asks the database')
    }
    onChange()
  }

  #failed(fault: string): Result<never, string> {
    if (this.#fault !== fault) {
      this.#parts.log.error({}, `the delivery stands still, and what was given stays: ${fault}`)
    }
    this.#fault = fault
    return err(fault)
  }

  #hearing(): Hearing {
    const { clock, heardMs } = this.#parts
    const observedMs = clock.monotonicMs() - this.#observedFromMs
    return { observedMs, heardMs: Math.min(observedMs, heardMs()) }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }
}

/** Version of the form of a state as text, in the shared store and on disk. */
const stateFormat = 1

export const printState = (state: DeliveryState): string =>
  JSON.stringify({ format: stateFormat, ...state })

/** Checks only form and version, since this program alone writes it. */
export function readState(text: string): Result<DeliveryState, string> {
  const value = parseJson(text)
  if (value === undefined) return err('the stored state of the delivery is no JSON')
  const { format: found, ...state } = fieldsOf(value) as Partial<DeliveryState> & {
    format?: number
  }
  if (found !== stateFormat) {
    return err(`the stored state of the delivery has format ${String(found)}: upgrade this node`)
  }
  const holds =
    deliveryPhases.includes(state.phase as DeliveryPhase) &&
    Number.isSafeInteger(state.topSeq) &&
    Number.isSafeInteger(state.good?.seq) &&
    Array.isArray(state.waves)
  return holds ? ok(state as DeliveryState) : err('the stored state of the delivery is damaged')
}

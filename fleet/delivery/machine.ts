// Implements the state machine of a delivery: how a new bundle, a look at the nodes, and an
// operator change it. Uses no clock, network or store.
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { failedGate, measureOf, shadowOf, viewsOf } from './gates.ts'
import type { Adoptions } from './gates.ts'
import { cutOf, waveOf } from './membership.ts'
import type { DeliveryNode } from './membership.ts'
import { deliveryLimits } from './plan.ts'
import type { DeliveryPlan } from './plan.ts'
import { isUnderWay } from './state.ts'
import type { BegunWave, DeliveryState, Measure, Place, Verdict } from './state.ts'

/** A bundle that a control node has made. */
export type Made = Omit<Place, 'seq'>

/** Records of a delivery begin here; a control node's own have lower numbers. */
const seqBase = 1_000_000_000

/** @param topSeq the highest number that any node may have seen */
export function firstState(good: Made, topSeq: number, nowMs: number): DeliveryState {
  const seq = Math.max(topSeq, seqBase) + 1
  return {
    phase: 'done',
    good: { ...good, seq },
    target: null,
    topSeq: seq,
    newest: { commit: good.commit, serial: good.serial },
    plan: null,
    waves: [],
    sinceMs: nowMs,
    adoptedAtMs: null,
    verdict: null,
    phaseAtMs: nowMs,
  }
}

/**
 * Takes a newer bundle as the target, which ends the delivery under way: its nodes get the last
 * good bundle again, until their wave comes. A commit that changes no answer ends nothing: it may
 * decide about the delivery under way.
 *
 * @param plan null: all nodes get it at once
 */
export function propose(
  state: DeliveryState,
  made: Made,
  plan: DeliveryPlan | null,
  nodes: readonly DeliveryNode[],
  nowMs: number,
): DeliveryState {
  const { commit, serial } = made
  const isNewer = serial === 0 || serial > state.newest.serial
  if (commit === state.newest.commit || !isNewer) return caughtUp(state, made, nowMs)
  const newest = { commit, serial }
  // A bundle that answers like the good one is a revert, and goes to all nodes at once.
  if (plan !== null && isAlike(made, state.good)) return given({ ...state, newest }, made, nowMs)
  if (plan !== null && isAlike(made, state.target)) {
    return decided({ ...state, newest }, plan, nodes, nowMs)
  }
  const good = isUnderWay(state) ? takenBack(state) : state.good
  const topSeq = Math.max(state.topSeq, good.seq) + 1
  assert(topSeq > state.topSeq, 'the number of a target was never given before')
  const target = { ...made, seq: topSeq }
  const next: DeliveryState = {
    ...state,
    ...{ good, target, topSeq, plan, waves: [], newest },
    ...{ phase: 'rolling', phaseAtMs: nowMs, verdict: null },
  }
  return plan === null ? finished(next, nowMs) : withWave(next, nodes, nowMs)
}

const isAlike = ({ content = '' }: Made, other: Place | null): boolean =>
  content !== '' && other?.content === content

/** Lets a commit pass that changed no answer while a change was under delivery. */
function caughtUp(state: DeliveryState, made: Made, nowMs: number): DeliveryState {
  const { phase, good, newest } = state
  const isBehind = phase === 'done' && made.commit === newest.commit && good.commit !== made.commit
  return isBehind && isAlike(made, good) ? given(state, made, nowMs) : state
}

/** Gives the bundle to all nodes at once. */
function given(state: DeliveryState, made: Made, nowMs: number): DeliveryState {
  const topSeq = state.topSeq + 1
  const target = { ...made, seq: topSeq, serial: Math.max(made.serial, state.good.serial) }
  return finished({ ...state, target, topSeq, waves: [], plan: null }, nowMs)
}

/** Identifies which nodes are in which wave, whatever time a wave is held. */
const nodesIn = (plan: DeliveryPlan | null): string =>
  JSON.stringify(plan?.waves.map(({ labels, percent }) => [labels, percent]))

/**
 * Applies a commit that answers as the target does: its decisions about the change, and its gates.
 */
function decided(
  state: DeliveryState,
  next: DeliveryPlan,
  nodes: readonly DeliveryNode[],
  nowMs: number,
): DeliveryState {
  const hasSameWaves = nodesIn(next) === nodesIn(state.plan)
  const decisionIn = (plan: DeliveryPlan | null): DeliveryAction | undefined =>
    plan?.decisions?.findLast(({ commit }) => state.target?.commit.startsWith(commit))?.decision
  const [before, now] = [decisionIn(state.plan), decisionIn(next)]
  // Waves that have begun stay as they were.
  const planned = hasSameWaves ? { ...state, plan: next } : state
  if (now === before) return planned
  const action = now ?? (before === 'pause' ? 'resume' : undefined)
  if (action === undefined) return planned
  const acted = act(planned, action, nodes, nowMs)
  return acted.ok ? acted.value : planned
}

interface Look {
  readonly state: DeliveryState
  /** Reason of the wait, for people; '': none. */
  readonly waitsFor: string
}

/** For how long the deciding node knows what nodes say. */
export interface Hearing {
  /** Since it decides: a hold is watched for no longer. */
  readonly observedMs: number
  /** Since all that nodes say has come there; 0: what other control nodes hear does not. */
  readonly heardMs: number
}

/**
 * @param strangers nodes that are heard and do not count
 */
export function look(
  state: DeliveryState,
  nodes: readonly DeliveryNode[],
  adoptions: Adoptions,
  nowMs: number,
  { observedMs, heardMs }: Hearing,
  strangers = 0,
): Look {
  const { plan, target, phase } = state
  if (plan === null || target === null || !isUnderWay(state)) return { state, waitsFor: '' }
  adoptions.note(target.digest, nodes)
  if (phase === 'held') return { state, waitsFor: 'a person' }
  const anew = heardSince(state, nodes, nowMs)
  if (anew !== undefined)
    return { state: anew, waitsFor: 'the nodes of the wave to take the bundle' }
  const views = viewsOf(state, nodes, adoptions, nowMs, heardMs)
  const failed = failedGate(state, views, adoptions, nowMs)
  if (failed !== undefined) return stopped(state, failed, nowMs)
  const wave = state.waves.length - 1
  const { adopted, waiting } = views[wave]!
  const ageMs = Math.max(0, nowMs - state.sinceMs)
  // Nodes that cannot be heard may have it.
  const isPatient = ageMs < deliveryLimits.adoptMs || heardMs <= deliveryLimits.silentMs
  const some = state.waves[wave]!.nodes + adopted.length + waiting.length > 0
  // No node has the labels, or none is listed: the bundle would be tried by nobody.
  const isStrange = nodes.length === 0 && strangers > 0
  if (!some && (plan.waves[wave]!.labels !== null || isStrange)) {
    const what = isStrange ? 'a node that is listed' : 'a node with the labels of the wave'
    if (isPatient) return { state, waitsFor: what }
    return heldFor(state, { gate: 'noNodes', wave, value: 0, limit: 1, atMs: nowMs }, nowMs)
  }
  const unheard = expectedAdopters(state, wave, views) - adopted.length - waiting.length
  if (waiting.length > 0 || unheard > 0) {
    const what = state.waves[wave]!.isShadow ? 'compute with' : 'take'
    const taking = `${nodesOf(waiting.length)} to ${what} the bundle`
    const waitsFor = waiting.length > 0 ? taking : `reports of ${nodesOf(unheard)}`
    if (isPatient) return { state, waitsFor }
    const value = waiting.length
    return stopped(state, { gate: 'notAdopted', wave, value, limit: 0, atMs: nowMs }, nowMs)
  }
  const taken = state.adoptedAtMs === null ? { ...state, adoptedAtMs: nowMs } : state
  if (phase === 'paused') return { state: taken, waitsFor: 'a person: it is paused' }
  return afterHold(
    taken,
    nodes,
    views.flatMap((view) => view.adopted),
    nowMs,
    observedMs,
  )
}

/** The first wave again, where it is a share of nodes of which none was heard when it began. */
function heardSince(
  state: DeliveryState,
  nodes: readonly DeliveryNode[],
  nowMs: number,
): DeliveryState | undefined {
  const { plan, waves } = state
  const isShare = waves.length === 1 && plan?.waves[0]?.labels === null
  if (!isShare || waves[0]!.nodes > 0 || liveOf(nodes).length === 0) return undefined
  return withWave({ ...state, waves: [] }, nodes, nowMs)
}

const nodesOf = (count: number): string => (count === 1 ? '1 node' : `${count} nodes`)

/** How many nodes should adopt; refusing and silent ones have passed their gates. */
function expectedAdopters(
  { waves }: DeliveryState,
  wave: number,
  views: readonly { readonly refused: readonly unknown[]; readonly silent: number }[],
): number {
  const { refused, silent } = views[wave]!
  return waves[wave]!.nodes - refused.length - silent
}

/** A duration for people, such as `45 s` or `9 min`. */
function timeOf(ms: number): string {
  return ms <= 120_000 ? `${Math.ceil(ms / 1_000)} s` : `${Math.ceil(ms / 60_000)} min`
}

function afterHold(
  state: DeliveryState,
  nodes: readonly DeliveryNode[],
  adopted: readonly DeliveryNode[],
  nowMs: number,
  observedMs: number,
): Look {
  const plan = state.plan!
  const wave = plan.waves[state.waves.length - 1]!
  const { isShadow } = state.waves.at(-1)!
  const holdMs = isShadow ? wave.shadowMs : wave.holdMs
  const heldMs = Math.min(Math.max(0, nowMs - state.adoptedAtMs!), observedMs)
  if (heldMs < holdMs) return { state, waitsFor: timeOf(holdMs - heldMs) }
  const freshMs = Math.max(deliveryLimits.freshMs, reportSeconds(adopted.length) * 3_000)
  // Reports have to be from the end of the time, not from its beginning.
  const late = holdMs === 0 ? [] : adopted.filter(({ ageMs }) => ageMs > freshMs)
  if (late.length > 0) return { state, waitsFor: `word of ${nodesOf(late.length)}` }
  if (isShadow) {
    const next = afterShadow(state, nodes, adopted, nowMs)
    return { state: next, waitsFor: 'the nodes of the wave to take the bundle' }
  }
  if (state.waves.length === plan.waves.length) {
    return { state: finished(state, nowMs), waitsFor: '' }
  }
  return { state: withWave(state, nodes, nowMs), waitsFor: 'the next wave to take the bundle' }
}

/** Gives the nodes of the last wave the bundle that they have computed with. */
function afterShadow(
  state: DeliveryState,
  nodes: readonly DeliveryNode[],
  shadowing: readonly DeliveryNode[],
  nowMs: number,
): DeliveryState {
  const { waves } = state
  assert(waves.at(-1)?.isShadow === true, 'a wave that answers does not go back to computing')
  const own = shadowing.filter(({ shadow }) => shadow?.digest === state.target!.digest)
  const begun = {
    ...waves.at(-1)!,
    ...{ isShadow: false, shadow: shadowOf(own) },
    before: beforeOf(state, waves, waves.length - 1, liveOf(nodes)),
  }
  return { ...state, waves: [...waves.slice(0, -1), begun], sinceMs: nowMs, adoptedAtMs: null }
}

/** Interval at which so many nodes report during their wave. */
export function reportSeconds(nodes: number): number {
  const { waitSecondsMin, reportsPerSecond } = deliveryLimits
  return Math.max(waitSecondsMin, Math.ceil(nodes / reportsPerSecond))
}

export const deliveryActions = ['pause', 'resume', 'promote', 'abort'] as const
export type DeliveryAction = (typeof deliveryActions)[number]

/** Errors: why the action is not possible now, in a sentence. */
export function act(
  state: DeliveryState,
  action: DeliveryAction,
  nodes: readonly DeliveryNode[],
  nowMs: number,
): Result<DeliveryState, string> {
  const { phase, target } = state
  if (target === null || phase === 'done') return err('nothing is on its way')
  const isOver = phase === 'returned' || phase === 'aborted'
  const as = (next: 'paused' | 'rolling'): Result<DeliveryState, string> =>
    ok({ ...state, phase: next, phaseAtMs: nowMs })
  if (action === 'pause') {
    if (phase === 'rolling') return as('paused')
    return err(phase === 'paused' ? 'it is paused' : 'it was stopped: nothing is on its way')
  }
  if (action === 'abort') {
    if (isOver) return err('it was taken back')
    return ok({ ...back(state, nowMs), phase: 'aborted' })
  }
  if (action === 'promote') return ok(finished(isOver ? renumbered(state) : state, nowMs))
  if (phase === 'paused') return as('rolling')
  if (phase === 'rolling') return err('it is not paused')
  return ok(begunAnew(state, nodes, nowMs))
}

/**
 * Begins with the first wave, under a new seq: nodes may have seen the earlier one, and gone back.
 */
function begunAnew(
  state: DeliveryState,
  nodes: readonly DeliveryNode[],
  nowMs: number,
): DeliveryState {
  const good = isUnderWay(state) ? takenBack(state) : state.good
  const next = renumbered({ ...state, good, topSeq: Math.max(state.topSeq, good.seq) })
  const rolling = { phase: 'rolling', phaseAtMs: nowMs, verdict: null, waves: [] } as const
  return withWave({ ...next, ...rolling }, nodes, nowMs)
}

function renumbered(state: DeliveryState): DeliveryState {
  const { target } = state
  assert(target !== null, 'what gets a new number is on its way')
  const topSeq = state.topSeq + 1
  return { ...state, topSeq, target: { ...target, seq: topSeq } }
}

function withWave(
  state: DeliveryState,
  nodes: readonly DeliveryNode[],
  nowMs: number,
): DeliveryState {
  assert(state.plan !== null, 'waves are those of a plan')
  const plans = state.plan.waves
  const wave = state.waves.length
  assert(wave < plans.length, 'a delivery has no more waves than its plan')
  const live = liveOf(nodes)
  const cut = cutOf(wave, plans, state.waves, live)
  const begun = [...state.waves, { cut }]
  const own = live.filter((node) => waveOf(node, plans, begun) === wave)
  const before = beforeOf(state, begun, wave, live)
  const isShadow = (plans[wave]!.shadowMs ?? 0) > 0
  return {
    ...state,
    waves: [
      ...state.waves,
      { cut, nodes: own.length, begunAtMs: nowMs, before, isShadow, shadow: null },
    ],
    sinceMs: nowMs,
    adoptedAtMs: null,
  }
}

const liveOf = (nodes: readonly DeliveryNode[]): readonly DeliveryNode[] =>
  nodes.filter(({ ageMs }) => ageMs <= deliveryLimits.silentMs)

function beforeOf(
  { plan }: DeliveryState,
  begun: readonly Pick<BegunWave, 'cut'>[],
  wave: number,
  live: readonly DeliveryNode[],
): Measure {
  const own = live.filter((node) => waveOf(node, plan!.waves, begun) === wave)
  return measureOf(own.map(({ counters }) => counters))
}

function stopped(state: DeliveryState, verdict: Verdict, nowMs: number): Look {
  assert(isUnderWay(state), 'a gate stops what is under way')
  if (state.plan!.onFailure === 'hold') return heldFor(state, verdict, nowMs)
  return { state: { ...back(state, nowMs), phase: 'returned', verdict }, waitsFor: '' }
}

function heldFor(state: DeliveryState, verdict: Verdict, nowMs: number): Look {
  const held = { ...state, phase: 'held', phaseAtMs: nowMs, verdict } as const
  return { state: held, waitsFor: 'a person' }
}

function back(state: DeliveryState, nowMs: number): DeliveryState {
  const good = takenBack(state)
  return { ...state, good, topSeq: good.seq, phaseAtMs: nowMs }
}

/** The last good bundle under a new number. Its serial does not decrease either: RFC 1982. */
function takenBack({ good, target, topSeq }: DeliveryState): Place {
  return { ...good, seq: topSeq + 1, serial: Math.max(good.serial, target?.serial ?? 0) }
}

function finished(state: DeliveryState, nowMs: number): DeliveryState {
  const good = state.target
  assert(good !== null, 'what ends well was on its way')
  assert(good.seq > state.good.seq, 'what all nodes get has a higher number than what they had')
  const done = { phase: 'done', phaseAtMs: nowMs, verdict: null } as const
  return { ...state, ...done, good, topSeq: Math.max(state.topSeq, good.seq) }
}

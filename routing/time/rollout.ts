// Computes the phase and weight of a rollout at an instant, from its file, the clock and this
// node's observations.
import type { RolloutIntentModel, RolloutModel, RolloutStepModel } from '#bundle/format/model.ts'

export type RolloutState = 'pending' | 'running' | 'paused' | 'promoted' | 'rolled_back'

/** Intents allowed in each state. The API answers 409 to others. */
export const allowedIntents: Readonly<
  Record<RolloutState, readonly RolloutIntentModel['intent'][]>
> = Object.freeze({
  pending: ['abort'],
  running: ['pause', 'promote', 'abort'],
  paused: ['promote', 'abort'],
  promoted: [],
  rolled_back: [],
})

/** The part of a rollout that depends on time. */
export type RolloutSchedule = Pick<RolloutModel, 'baseWeight' | 'startAtMs' | 'steps' | 'intents'>

/** A regression that this node has seen. */
export interface RolloutTrip {
  readonly atMs: number
  /** A sentence for people. */
  readonly reason: string
}

export interface RolloutMoment {
  readonly state: RolloutState
  /** Position in `steps` of the current step, or of the last one reached. */
  readonly stepIndex: number
  /** null: the pool's weight, because the rollout has not begun. */
  readonly weight: number | null
  /** Why it has ended or is held; empty while it is on its way. */
  readonly reason: string
  /** Time of the next moment; Infinity: never by itself. */
  readonly nextEventAtMs: number
}

/**
 * Follows the steps by the clock. A step lasts from its start up to the start of the next one. The
 * earlier of two decisions counts when it ends the rollout; an intent that `allowedIntents` does
 * not allow in the state of its instant changes nothing.
 *
 * @param trip regression seen by this node; a promotion or abortion at its time or later overrules
 * it
 */
export function rolloutAt(
  rollout: RolloutSchedule,
  nowMs: number,
  trip: RolloutTrip | null = null,
): RolloutMoment {
  const { steps, intents, startAtMs } = rollout
  let decided: Decision | undefined
  let unseen = trip
  for (const { intent, atMs } of intents) {
    if (unseen !== null && unseen.atMs < atMs) {
      decided = afterTrip(rollout, decided, unseen)
      unseen = null
    }
    if (atMs > nowMs) break
    decided = afterIntent(rollout, decided, intent, atMs)
  }
  // Setting the clock back does not undo what was observed.
  if (unseen !== null) decided = afterTrip(rollout, decided, unseen)
  const coming = nextIntentAt(rollout, nowMs)
  if (decided !== undefined) {
    const { isFinal, ...moment } = decided
    return { ...moment, nextEventAtMs: isFinal ? Infinity : coming }
  }
  const { phase, stepIndex, endsAtMs } = scheduledAt(rollout, nowMs)
  if (phase === 'pending') {
    const nextEventAtMs = Math.min(startAtMs, coming)
    return { state: 'pending', stepIndex: 0, weight: null, reason: '', nextEventAtMs }
  }
  if (phase === 'finished') return promoted(rollout, 'every step has ended')
  const weight = stepWeight(rollout.baseWeight, steps[stepIndex]!)
  const nextEventAtMs = Math.min(endsAtMs, coming)
  return { state: 'running', stepIndex, weight, reason: '', nextEventAtMs }
}

/** The result of decisions, up to the next one. */
interface Decision extends Omit<RolloutMoment, 'nextEventAtMs'> {
  /** Later decisions change nothing. */
  readonly isFinal: boolean
}

function afterIntent(
  rollout: RolloutSchedule,
  decided: Decision | undefined,
  intent: 'pause' | 'promote' | 'abort',
  atMs: number,
): Decision | undefined {
  if (decided?.isFinal === true) return decided
  const { phase, stepIndex } = scheduledAt(rollout, atMs)
  if (decided === undefined && phase === 'finished') return finished(rollout)
  switch (intent) {
    case 'pause': {
      if (decided !== undefined || phase !== 'running') return decided
      const weight = stepWeight(rollout.baseWeight, rollout.steps[stepIndex]!)
      return { state: 'paused', stepIndex, weight, reason: 'paused', isFinal: false }
    }
    case 'promote': {
      if (decided === undefined && phase === 'pending') return undefined
      return { ...finished(rollout), reason: 'promoted' }
    }
    case 'abort':
      return rolledBack(rollout, decided?.stepIndex ?? stepIndex, 'aborted', true)
  }
}

function afterTrip(
  rollout: RolloutSchedule,
  decided: Decision | undefined,
  { atMs, reason }: RolloutTrip,
): Decision | undefined {
  if (decided !== undefined) return decided
  const { phase, stepIndex } = scheduledAt(rollout, atMs)
  return phase === 'running' ? rolledBack(rollout, stepIndex, reason, false) : undefined
}

function rolledBack(
  { baseWeight }: RolloutSchedule,
  stepIndex: number,
  reason: string,
  isFinal: boolean,
): Decision {
  return { state: 'rolled_back', stepIndex, weight: baseWeight, reason, isFinal }
}

function finished(rollout: RolloutSchedule): Decision {
  const { nextEventAtMs: _, ...moment } = promoted(rollout, 'every step has ended')
  return { ...moment, isFinal: true }
}

function promoted({ steps, baseWeight }: RolloutSchedule, reason: string): RolloutMoment {
  const stepIndex = steps.length - 1
  const weight = stepWeight(baseWeight, steps[stepIndex]!)
  return { state: 'promoted', stepIndex, weight, reason, nextEventAtMs: Infinity }
}

interface Scheduled {
  readonly phase: 'pending' | 'running' | 'finished'
  readonly stepIndex: number
  /** Infinity: the step is held until a promotion. */
  readonly endsAtMs: number
}

/** The steps without any intents. */
function scheduledAt({ startAtMs, steps }: RolloutSchedule, atMs: number): Scheduled {
  if (atMs < startAtMs) return { phase: 'pending', stepIndex: 0, endsAtMs: startAtMs }
  let endsAtMs = startAtMs
  for (const [stepIndex, { holdSeconds }] of steps.entries()) {
    endsAtMs = holdSeconds === 0 ? Infinity : endsAtMs + holdSeconds * 1_000
    if (atMs < endsAtMs) return { phase: 'running', stepIndex, endsAtMs }
  }
  return { phase: 'finished', stepIndex: steps.length - 1, endsAtMs }
}

/** @returns the time of the next recorded intent; Infinity when there is none */
function nextIntentAt({ intents }: RolloutSchedule, nowMs: number): number {
  return intents.find(({ atMs }) => atMs > nowMs)?.atMs ?? Infinity
}

/** A share above zero is at least 1: rounding must not drain a member of small weight. */
export function stepWeight(baseWeight: number, { weightPct }: RolloutStepModel): number {
  const weight = Math.round((baseWeight * weightPct) / 100)
  return weight === 0 && weightPct > 0 && baseWeight > 0 ? 1 : weight
}

/** True when rounding changes a share by more than a quarter. */
export function isCoarse(baseWeight: number, { weightPct }: RolloutStepModel): boolean {
  const exact = (baseWeight * weightPct) / 100
  return Math.abs(stepWeight(baseWeight, { weightPct, holdSeconds: 0 }) - exact) > exact / 4
}

/** All future changes of the weight by time alone, the first at the start. */
export function rolloutTimeline(
  rollout: RolloutSchedule,
): readonly { readonly atMs: number; readonly moment: RolloutMoment }[] {
  const timeline: { atMs: number; moment: RolloutMoment }[] = []
  const { startAtMs, steps, intents } = rollout
  let atMs = Math.min(startAtMs, intents[0]?.atMs ?? Infinity)
  // One event per step or intent: there can be no more.
  for (let events = steps.length + intents.length + 1; events >= 0 && atMs < Infinity; events--) {
    const moment = rolloutAt(rollout, atMs)
    timeline.push({ atMs, moment })
    atMs = moment.nextEventAtMs
  }
  return timeline
}

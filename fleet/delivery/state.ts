// The state of a delivery: what all control nodes of a fleet share of it.
import type { DeliveryPlan } from './plan.ts'

/** A bundle and its place in the order of its channel. */
export interface Place {
  readonly seq: number
  /** SHA-256, hex. */
  readonly digest: string
  /** Hex. */
  readonly commit: string
  /** Serial of the SOA records; 0: not known. */
  readonly serial: number
  /**
   * The same for two bundles that answer alike, whatever commits they are of; '' or left out: not
   * known.
   */
  readonly content?: string
}

/**
 * `done`: all nodes are given `good`. `rolling`, `paused`, `held`: those of the waves so far are
 * given `target`. `returned`, `aborted`: all are given `good`, and `target` is what was stopped.
 */
export const deliveryPhases = ['done', 'rolling', 'paused', 'held', 'returned', 'aborted'] as const
export type DeliveryPhase = (typeof deliveryPhases)[number]

export const gateNames = [
  'servfail',
  'noCandidate',
  'membersDown',
  'p99',
  'changedAnswers',
  'refusals',
  'silent',
  'notAdopted',
  'noNodes',
] as const
export type GateName = (typeof gateNames)[number]

/** Why a delivery was stopped. */
export interface Verdict {
  readonly gate: GateName
  /** From 0. */
  readonly wave: number
  readonly value: number
  readonly limit: number
  readonly atMs: number
}

/** What nodes did before they got a bundle; shares in percent. */
export interface Measure {
  readonly answers: number
  readonly servfail: number
  readonly noCandidate: number
  readonly membersDown: number
}

/** A wave that has begun. */
export interface BegunWave {
  /** Nodes whose place is not above it belong to it; -1: none does for its place. */
  readonly cut: number
  /** Nodes that were heard when it began. */
  readonly nodes: number
  readonly before: Measure
  /** Its nodes compute with the target and do not answer from it yet. */
  readonly isShadow: boolean
  /** What came of that, when it is over; null: it is not, or nothing was computed. */
  readonly shadow: ShadowMeasure | null
}

export interface ShadowMeasure {
  /** Queries. */
  readonly compared: number
  /** Percent of them that have another answer. */
  readonly changed: number
}

export interface DeliveryState {
  readonly phase: DeliveryPhase
  readonly good: Place
  readonly target: Place | null
  /** The highest that was ever given. */
  readonly topSeq: number
  /** The newest commit that was delivered or is to be. */
  readonly newest: { readonly commit: string; readonly serial: number }
  /** null: it was delivered to all at once. */
  readonly plan: DeliveryPlan | null
  /** The last is the one that is on. */
  readonly waves: readonly BegunWave[]
  /** When the wave began, Unix epoch. */
  readonly sinceMs: number
  /** When all its nodes had the bundle; null: not yet. */
  readonly adoptedAtMs: number | null
  readonly verdict: Verdict | null
  /** When `phase` became what it is, Unix epoch. */
  readonly phaseAtMs: number
}

/** Some nodes are given another bundle than the others. */
export const isUnderWay = ({ phase }: DeliveryState): boolean =>
  phase === 'rolling' || phase === 'paused' || phase === 'held'

// Defines the state of a delivery, which all control nodes of a fleet share.
import type { DeliveryPlan } from './plan.ts'

/** A bundle, and its place in the order of its channel. */
export interface Place {
  readonly seq: number
  /** SHA-256, hex. */
  readonly digest: string
  /** Hex. */
  readonly commit: string
  /** Serial of the SOA records; 0: unknown. */
  readonly serial: number
  /** Equal for two bundles with equal answers, whatever their commits; '' or left out: unknown. */
  readonly content?: string
}

/**
 * `done`: all nodes get `good`. `rolling`, `paused`, `held`: nodes of the waves that began get
 * `target`. `returned`, `aborted`: all nodes get `good`, and `target` was stopped.
 */
export const deliveryPhases = ['done', 'rolling', 'paused', 'held', 'returned', 'aborted'] as const
export type DeliveryPhase = (typeof deliveryPhases)[number]

export type GateName =
  | 'servfail'
  | 'noCandidate'
  | 'membersDown'
  | 'p99'
  | 'changedAnswers'
  | 'refusals'
  | 'silent'
  | 'notAdopted'
  | 'noNodes'

/** Why a delivery was stopped. */
export interface Verdict {
  readonly gate: GateName
  /** Number of the wave, from 0. */
  readonly wave: number
  readonly value: number
  readonly limit: number
  readonly atMs: number
}

/** Measurements of nodes before they got a bundle; shares in percent. */
export interface Measure {
  readonly answers: number
  readonly servfail: number
  readonly noCandidate: number
  readonly membersDown: number
}

/** A wave that has begun. */
export interface BegunWave {
  /** Nodes up to this place belong to it; -1: none by its place. */
  readonly cut: number
  /** How many nodes were heard when it began. */
  readonly nodes: number
  /** When it began, Unix epoch; left out by older versions. */
  readonly begunAtMs?: number
  readonly before: Measure
  /** True: its nodes compute with the target, and do not answer from it yet. */
  readonly isShadow: boolean
  /** Result of that, when it is over; null: it is not, or nothing was computed. */
  readonly shadow: ShadowMeasure | null
}

export interface ShadowMeasure {
  /** Number of compared queries. */
  readonly compared: number
  /** Percent of them with another answer. */
  readonly changed: number
}

export interface DeliveryState {
  readonly phase: DeliveryPhase
  readonly good: Place
  readonly target: Place | null
  /** The highest seq that was ever given. */
  readonly topSeq: number
  /** The newest commit that was delivered, or is to be. */
  readonly newest: { readonly commit: string; readonly serial: number }
  /** null: it was delivered to all nodes at once. */
  readonly plan: DeliveryPlan | null
  /** Waves that have begun; the last one is the current one. */
  readonly waves: readonly BegunWave[]
  /** When the wave began, Unix epoch. */
  readonly sinceMs: number
  /** When all its nodes had the bundle; null: not yet. */
  readonly adoptedAtMs: number | null
  readonly verdict: Verdict | null
  /** Time of the last change of `phase`, Unix epoch. */
  readonly phaseAtMs: number
}

/** Whether some nodes get another bundle than the others. */
export const isUnderWay = ({ phase }: DeliveryState): boolean =>
  phase === 'rolling' || phase === 'paused' || phase === 'held'

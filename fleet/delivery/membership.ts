// Decides which wave a node belongs to: by its labels, or by its place among all nodes.
import { hash } from 'node:crypto'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import type { WavePlan } from './plan.ts'
import { isUnderWay } from './state.ts'
import type { BegunWave, DeliveryState, Place } from './state.ts'

/** The part of a node's report that decides its wave. */
export type NodeName = Pick<NodeReport, 'name' | 'labels'>

/** A node as the deciding control node knows it. */
export interface DeliveryNode extends NodeName {
  readonly instance: string
  readonly digest: string | null
  readonly seq: number
  /** Age of its last report. */
  readonly ageMs: number
  readonly refusals: NodeReport['refusals']
  /** How far its clock is ahead (+) or behind (-). */
  readonly clockOffsetMs: number
  readonly counters: NodeReport['counters']
  readonly shadow: NodeReport['shadow']
}

/** 48 bits, so that no two nodes are expected to have the same place. */
const placeMax = 0xffff_ffff_ffff

/** A number from 0, derived from the name alone, so that a node stays in its wave. */
function placeOf(name: string): number {
  return Number.parseInt(hash('sha256', name).slice(0, 12), 16)
}

/** From 0; -1: in none of the waves that have begun. */
export function waveOf(
  node: NodeName,
  plans: readonly WavePlan[],
  begun: readonly Pick<BegunWave, 'cut'>[],
): number {
  const place = placeOf(node.name)
  return begun.findIndex(({ cut }, i) => place <= cut || hasLabels(node, plans[i]?.labels ?? null))
}

function hasLabels({ labels }: NodeName, asked: WavePlan['labels']): boolean {
  return (
    asked !== null &&
    Object.entries(asked).every(
      ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
    )
  )
}

/** The bundle that a node is to serve. undefined: the node does not name itself. */
export function placeFor(state: DeliveryState, node: NodeName | undefined): Place {
  const { target, good, plan, waves } = state
  if (target === null || plan === null || !isUnderWay(state)) return good
  const wave = node === undefined ? -1 : waveOf(node, plan.waves, waves)
  return wave >= 0 && !waves[wave]!.isShadow ? target : good
}

/** The bundle that a node is to compute with beside its own; undefined: none. */
export function shadowFor(state: DeliveryState, node: NodeName | undefined): Place | undefined {
  const { target, plan, waves } = state
  if (target === null || plan === null || !isUnderWay(state) || node === undefined) return undefined
  const wave = waveOf(node, plan.waves, waves)
  return wave >= 0 && waves[wave]!.isShadow ? target : undefined
}

/**
 * The highest place in the wave with this number. A share is rounded up to whole nodes, so that
 * each such wave has one.
 *
 * @param live nodes that are heard
 */
export function cutOf(
  wave: number,
  plans: readonly WavePlan[],
  begun: readonly Pick<BegunWave, 'cut'>[],
  live: readonly NodeName[],
): number {
  const before = begun[wave - 1]?.cut ?? -1
  const percent = plans[wave]?.percent ?? null
  if (percent === null) return before
  if (percent >= 100) return placeMax
  const ahead = live.filter((node) => waveOf(node, plans, begun) >= 0).length
  const places = live
    .filter((node) => waveOf(node, plans, begun) < 0)
    .map(({ name }) => placeOf(name))
    .toSorted((a, b) => a - b)
  const more = Math.ceil((live.length * percent) / 100) - ahead
  return more <= 0 ? before : Math.max(before, places[more - 1] ?? before)
}

// Schedules the probes of each target: spread over the interval, with jitter, never two at once.
import { assert } from '#lib/assert.ts'
import { hash32 } from '#health/spread/hash32.ts'
import type { Random } from '#lib/random.ts'
import { DueHeap } from './due-heap.ts'
import type { DueItem } from './due-heap.ts'

/**
 * Probes of a target are on a grid of 95 % of its interval, moved back by up to 5 % each time. Two
 * probes are then 90 to 100 % of the interval apart, a failure is seen within one interval and the
 * timeout, and targets of many nodes with equal intervals do not fall into step.
 */
const gridShare = 0.95
const jitterShare = 0.05

export interface Scheduled extends DueItem {
  readonly periodMs: number
  readonly jitterMs: number
  /** Offset of the target's grid. */
  readonly phaseMs: number
}

/** @param name decides the offset: it is the same after every start */
export function scheduled(name: string, intervalMs: number): Scheduled {
  assert(intervalMs > 0, 'the loader lets no check without an interval pass')
  const periodMs = intervalMs * gridShare
  const phaseMs = (hash32(name) / 4_294_967_296) * periodMs
  return { dueMs: 0, heapIndex: -1, periodMs, jitterMs: intervalMs * jitterShare, phaseMs }
}

/** Schedules by the monotonic clock, so that a jump of the wall clock moves nothing. */
export class Schedule<Item extends Scheduled> {
  readonly #idle = new DueHeap<Item>()
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** The target that is due first. */
  get first(): Item | undefined {
    return this.#idle.first
  }

  /** Infinity when no target waits. */
  get nextDueMs(): number {
    return this.#idle.first?.dueMs ?? Infinity
  }

  /**
   * Queues a target for the first slot of its grid after `fromMs`: when it was added, or when its
   * last probe began. Missed slots are skipped.
   */
  add(item: Item, fromMs: number): void {
    const jitterMs = (this.#random.next() / 4_294_967_296) * item.jitterMs
    // A probe may begin up to jitterMs before its slot, which is then used.
    const slot = Math.floor((fromMs - item.phaseMs + item.jitterMs) / item.periodMs) + 1
    item.dueMs = item.phaseMs + slot * item.periodMs - jitterMs
    assert(item.dueMs > fromMs - item.periodMs, 'a probe is due after the one before')
    this.#idle.add(item)
  }

  /** Removes the most overdue target from the queue; it is in flight until it is added again. */
  takeDue(nowMs: number): Item | undefined {
    const first = this.#idle.first
    if (first === undefined || first.dueMs > nowMs) return undefined
    this.#idle.remove(first)
    return first
  }

  remove(item: Item): void {
    this.#idle.remove(item)
  }
}

// Evaluates the gates of a delivery: compares what the nodes of its waves report since they took
// the bundle with what they reported before.
import { assert } from '#lib/assert.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { waveOf } from './membership.ts'
import type { DeliveryNode } from './membership.ts'
import { deliveryLimits } from './plan.ts'
import type { GateLimits } from './plan.ts'
import type { DeliveryState, GateName, Measure, ShadowMeasure, Verdict } from './state.ts'

type Counters = NodeReport['counters']

/** Counters of nodes at the time when they were first seen with the bundle. */
export class Adoptions {
  #digest = ''
  /** Nodes that had it, and serve another one. */
  readonly #lost = new Set<string>()
  readonly #first = new Map<string, { readonly instance: string; readonly counters: Counters }>()

  note(digest: string, nodes: readonly DeliveryNode[]): void {
    if (digest !== this.#digest) {
      this.#first.clear()
      this.#lost.clear()
    }
    this.#digest = digest
    for (const { name, instance, counters, digest: served } of nodes) {
      const known = this.#first.get(name)
      if (served === digest) this.#lost.delete(name)
      if (served !== digest && this.#first.delete(name)) this.#lost.add(name)
      if (served !== digest) continue
      if (known === undefined) this.#first.set(name, { instance, counters })
      // The process is new, and its counters began under this bundle.
      else if (known.instance !== instance) this.#first.set(name, { instance, counters: zero })
      assert(!this.#lost.has(name), 'a node that answers from the bundle has not left it')
    }
  }

  /** Whether a node took the bundle and left it by itself, as after threads that died under it. */
  hasLeft({ name }: DeliveryNode): boolean {
    return this.#lost.has(name)
  }

  /** Returns the counters of a node since it took the bundle. */
  since({ name, counters }: DeliveryNode): Counters {
    const first = this.#first.get(name)?.counters ?? counters
    return {
      ...counters,
      answers: counters.answers - first.answers,
      servfail: counters.servfail - first.servfail,
      noCandidate: counters.noCandidate - first.noCandidate,
    }
  }
}

const zero: Counters = {
  queries: 0,
  answers: 0,
  servfail: 0,
  noCandidate: 0,
  dropped: 0,
  shadowed: 0,
  shadowDiffered: 0,
  p99Us: null,
  membersHealthy: 0,
  membersDown: 0,
  membersWarming: 0,
}

export function measureOf(all: readonly Counters[]): Measure {
  const sum = (of: (counters: Counters) => number): number =>
    all.reduce((total, one) => total + of(one), 0)
  const answers = sum((one) => one.answers)
  const members = sum((one) => one.membersHealthy + one.membersDown + one.membersWarming)
  return {
    answers,
    servfail: percent(
      sum((one) => one.servfail),
      answers,
    ),
    noCandidate: percent(
      sum((one) => one.noCandidate),
      answers,
    ),
    membersDown: percent(
      sum((one) => one.membersDown),
      members,
    ),
  }
}

const percent = (part: number, whole: number): number => (whole <= 0 ? 0 : (part / whole) * 100)

/** Results of the queries that these nodes also computed with the bundle. */
export function shadowOf(nodes: readonly DeliveryNode[]): ShadowMeasure {
  const sum = (of: 'compared' | 'changed'): number =>
    nodes.reduce((total, { shadow }) => total + (shadow?.[of] ?? 0), 0)
  const compared = sum('compared')
  return { compared, changed: rounded(percent(sum('changed'), compared)) }
}

/** The nodes of a wave by their progress. */
interface WaveView {
  /** Nodes that answer from the bundle; in a shadow wave, those that compute with it. */
  readonly adopted: readonly DeliveryNode[]
  /** Nodes that were heard since the wave began, and do not have the bundle. */
  readonly waiting: readonly DeliveryNode[]
  readonly refused: readonly DeliveryNode[]
  /** Nodes that were heard when the wave began or later, and have been silent for too long. */
  readonly silent: number
}

/** @param heardMs see `Hearing` */
export function viewsOf(
  state: DeliveryState,
  nodes: readonly DeliveryNode[],
  adoptions: Adoptions,
  nowMs: number,
  heardMs: number,
): readonly WaveView[] {
  const { plan, waves, target, sinceMs } = state
  if (plan === null || target === null) return []
  const byWave = Map.groupBy(nodes, (node) => waveOf(node, plan.waves, waves))
  const { silentMs } = deliveryLimits
  // A node that was lost long before is not missed now.
  const countsMs = Math.max(0, nowMs - sinceMs) + silentMs
  return waves.map((begun, wave) => {
    const all = (byWave.get(wave) ?? []).filter(
      ({ ageMs, digest }) => ageMs <= countsMs || digest === target.digest,
    )
    const heard = all.filter(({ ageMs }) => ageMs <= silentMs)
    const refused = heard.filter(
      (node) =>
        node.digest !== target.digest &&
        (adoptions.hasLeft(node) || hasRefused(node, target.digest, begun.begunAtMs)),
    )
    const has = ({ digest, shadow }: DeliveryNode): boolean =>
      (begun.isShadow ? shadow?.digest : digest) === target.digest
    const adopted = heard.filter((node) => has(node) && !refused.includes(node))
    const waiting = heard.filter((node) => !has(node) && !refused.includes(node))
    // Another control node may have heard them when the wave began.
    const unknown = Math.max(0, begun.nodes - all.length)
    // For a while after nothing could be heard, nobody is silent.
    const silent = heardMs > silentMs ? all.length - heard.length + unknown : 0
    return { adopted, waiting, refused, silent }
  })
}

/** Clocks are compared to a second or so. */
const clockSlackMs = 2_000

/** A refusal from before the wave was of an earlier try: its cause may have been mended. */
function hasRefused({ refusals, clockOffsetMs }: DeliveryNode, of: string, begunAtMs = 0): boolean {
  return refusals.some(
    ({ digest, atMs }) => digest === of && atMs - clockOffsetMs >= begunAtMs - clockSlackMs,
  )
}

/** The first gate that fails. */
export function failedGate(
  state: DeliveryState,
  views: readonly WaveView[],
  adoptions: Adoptions,
  nowMs: number,
): Verdict | undefined {
  const { plan, waves } = state
  if (plan === null) return undefined
  assert(views.length === waves.length, 'each wave that has begun has its view')
  for (const [wave, view] of views.entries()) {
    const { before, isShadow } = waves[wave]!
    const rows = isShadow
      ? rowsOfShadow(plan.gates, view)
      : rowsOf(plan.gates, view, before, adoptions)
    for (const [gate, value, limit] of rows) {
      if (value > limit) return { gate, wave, value: rounded(value), limit, atMs: nowMs }
    }
  }
  return undefined
}

function rowsOfShadow(gates: GateLimits, { adopted, refused, silent }: WaveView): readonly Row[] {
  const { compared, changed } = shadowOf(adopted)
  const isTelling = compared >= gates.answersMin
  return [
    ['refusals', refused.length, gates.refusals],
    ['silent', silent, gates.silent],
    ...(isTelling ? [['changedAnswers', changed, gates.changedAnswers ?? Infinity] as const] : []),
  ]
}

type Row = readonly [gate: GateName, value: number, limit: number]

function rowsOf(
  gates: GateLimits,
  { adopted, refused, silent }: WaveView,
  before: Measure,
  adoptions: Adoptions,
): readonly Row[] {
  const now = measureOf(adopted.map((node) => adoptions.since(node)))
  const slowestUs = Math.max(0, ...adopted.map(({ counters }) => counters.p99Us ?? 0))
  const isTelling = now.answers >= gates.answersMin
  const shares: readonly Row[] = [
    ['servfail', now.servfail - before.servfail, gates.servfail],
    ['noCandidate', now.noCandidate - before.noCandidate, gates.noCandidate],
  ]
  const p99: Row = ['p99', slowestUs, gates.p99Us ?? Infinity]
  return [
    ['refusals', refused.length, gates.refusals],
    ['silent', silent, gates.silent],
    ['membersDown', now.membersDown - before.membersDown, gates.membersDown],
    ...(isTelling ? [...shares, p99] : []),
  ]
}

const rounded = (value: number): number => Math.round(value * 100) / 100

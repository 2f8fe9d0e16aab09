// Tests which refusals and silences of a node count in a delivery.
import { expect, test } from 'vitest'
import { Adoptions } from '#fleet/delivery/gates.ts'
import { deliveryLimits } from '#fleet/delivery/plan.ts'
import { act, firstState, look, propose } from '#fleet/delivery/machine.ts'
import { placeFor } from '#fleet/delivery/membership.ts'
import type { DeliveryNode } from '#fleet/delivery/membership.ts'
import type { DeliveryPlan } from '#fleet/delivery/plan.ts'
import { reportOf } from '#test/support/node-reports.ts'

const plan: DeliveryPlan = {
  waves: [{ labels: null, percent: 100, holdMs: 10_000, shadowMs: 0 }],
  gates: {
    ...{ servfail: 1, noCandidate: 5, membersDown: 20, p99Us: null },
    ...{ changedAnswers: null, refusals: 0, silent: 0, answersMin: 100 },
  },
  onFailure: 'return',
  decisions: [],
}
const long = { observedMs: 1_000_000, heardMs: 1_000_000 }
const made = (n: number) => ({ commit: `c${n}`, digest: `${n}`.repeat(64), serial: n })

test.each([0, -3_600_000, 3_600_000])(
  'a delivery that a refusal stopped goes on once its cause is mended, clock off by %i ms',
  (offMs) => {
    const { counters, instance, labels } = reportOf('n1')
    const node: DeliveryNode = {
      ...{ name: 'n1', labels, instance, counters, seq: 1, ageMs: 0, shadow: null },
      ...{ digest: made(1).digest, refusals: [], clockOffsetMs: offMs },
    }
    let nowMs = 10_000_000
    const refusing = (): DeliveryNode => {
      const refusal = { digest: made(2).digest, code: 'bad-bundle', reason: 'bad' }
      return { ...node, refusals: [{ ...refusal, atMs: nowMs + offMs }] }
    }
    const verdictOf = (from: typeof state, one: DeliveryNode) =>
      look(from, [one], new Adoptions(), nowMs, long).state
    let state = propose(firstState(made(1), 7, nowMs), made(2), plan, [node], nowMs)
    const refused = refusing()
    state = verdictOf(state, refused)
    expect(state).toMatchObject({ phase: 'returned', verdict: { gate: 'refusals' } })
    nowMs += 60_000
    const resumed = act(state, 'resume', [refused], nowMs)
    if (!resumed.ok) throw new Error(resumed.error)
    // The node goes on to tell of what it refused then.
    expect(verdictOf(resumed.value, refused).phase).toBe('rolling')
    expect(verdictOf(resumed.value, refusing()).verdict).toMatchObject({ gate: 'refusals' })
  },
)

test.each([
  [0, 'rolling'],
  [deliveryLimits.silentMs, 'rolling'],
  [deliveryLimits.silentMs + 1, 'returned'],
])('a node that has not been heard since nodes are heard, for %i ms: %s', (heardMs, phase) => {
  const { counters, instance, labels } = reportOf('n1')
  const node: DeliveryNode = {
    ...{ name: 'n1', labels, instance, counters, seq: 1, ageMs: 0, shadow: null },
    ...{ digest: made(1).digest, refusals: [], clockOffsetMs: 0 },
  }
  const state = propose(firstState(made(1), 7, 0), made(2), plan, [node], 0)
  const ageMs = deliveryLimits.silentMs + 1
  const looked = look(state, [{ ...node, ageMs }], new Adoptions(), ageMs, { ...long, heardMs })
  expect(looked.state.phase).toBe(phase)
})

test('nodes that cannot be heard are waited for, and a hold goes on meanwhile', () => {
  const { counters, instance, labels } = reportOf('n1')
  const holdMs = 3 * deliveryLimits.adoptMs
  const held = { ...plan, waves: [{ ...plan.waves[0]!, holdMs }] }
  const target = { seq: 2, digest: made(2).digest }
  const node: DeliveryNode = {
    ...{ name: 'n1', labels, instance, counters, shadow: null, refusals: [], clockOffsetMs: 0 },
    ...{ ...target, ageMs: 0 },
  }
  const adoptions = new Adoptions()
  let state = propose(firstState(made(1), 7, 0), made(2), held, [node], 0)
  const lookAt = (nowMs: number, ageMs: number, heardMs: number): string => {
    const hearing = { observedMs: nowMs, heardMs }
    const looked = look(state, [{ ...node, ageMs }], adoptions, nowMs, hearing)
    ;({ state } = looked)
    return looked.waitsFor
  }
  const { silentMs, adoptMs } = deliveryLimits
  lookAt(1_000, 0, 1_000)
  expect(lookAt(2 * adoptMs, silentMs + 1, 0)).toBe('reports of 1 node')
  expect(lookAt(2 * adoptMs, silentMs + 1, silentMs)).toBe('reports of 1 node')
  expect(lookAt(2 * adoptMs, 0, 1_000)).toBe('11 min')
  const before = state
  lookAt(2 * adoptMs, silentMs + 1, silentMs + 1)
  expect(state.verdict).toMatchObject({ gate: 'silent', value: 1 })
  state = before
  lookAt(holdMs + 1_000, 0, 1_000)
  expect(state.phase).toBe('done')
})

test.each([
  [50, 1],
  [100, 2],
])('a first wave of %i %% begins anew when the first nodes are heard', (percent, having) => {
  const { counters, instance, labels } = reportOf('n1')
  const nodes = ['n1', 'n2'].map((name): DeliveryNode => ({
    ...{ name, labels, instance, counters, shadow: null, refusals: [], clockOffsetMs: 0 },
    ...{ seq: 1, digest: made(1).digest, ageMs: 0 },
  }))
  const [all] = plan.waves
  const waves = percent < 100 ? [{ ...all!, percent }, all!] : [all!]
  const state = propose(firstState(made(1), 7, 0), made(2), { ...plan, waves }, [], 0)
  expect(state.waves[0]?.nodes).toBe(0)
  const hearing = { observedMs: 60_000, heardMs: 60_000 }
  const looked = look(state, nodes, new Adoptions(), 60_000, hearing).state
  expect(looked).toMatchObject({ phase: 'rolling', sinceMs: 60_000 })
  expect(looked.waves.map((wave) => wave.nodes)).toEqual([having])
  const given = nodes.filter((node) => placeFor(looked, node).digest === made(2).digest)
  expect(given).toHaveLength(having)
})

// How a change goes through the waves of a delivery, on a clock that the test moves.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shownActions, shownPhases } from '#ports/deliveries.ts'
import { Adoptions } from '#fleet/delivery/gates.ts'
import { act, deliveryActions, firstState, look, propose } from '#fleet/delivery/machine.ts'
import type { DeliveryAction } from '#fleet/delivery/machine.ts'
import { placeFor, shadowFor } from '#fleet/delivery/membership.ts'
import type { DeliveryNode } from '#fleet/delivery/membership.ts'
import { deliveryLimits } from '#fleet/delivery/plan.ts'
import type { DeliveryPlan } from '#fleet/delivery/plan.ts'
import { deliveryPhases } from '#fleet/delivery/state.ts'
import type { DeliveryState } from '#fleet/delivery/state.ts'
import { printState, readState } from '#fleet/delivery/keeper.ts'
import { reportOf } from '#test/support/node-reports.ts'

const gates: DeliveryPlan['gates'] = {
  ...{ servfail: 1, noCandidate: 5, membersDown: 20, p99Us: null },
  ...{ changedAnswers: null, refusals: 0, silent: 0, answersMin: 100 },
}
const canaries = { labels: { canary: 'true' }, percent: null, holdMs: 10_000, shadowMs: 0 }
const share = (percent: number, holdMs = 0) => ({ labels: null, percent, holdMs, shadowMs: 0 })
const plan = (parts: Partial<DeliveryPlan> = {}): DeliveryPlan => ({
  ...{ waves: [canaries, share(50, 5_000), share(100)], gates, onFailure: 'return' },
  decisions: [],
  ...parts,
})
const digestOf = (n: number): string => n.toString(16).padStart(64, '0')
const refusalOf = (n: number, atMs: number) => ({
  ...{ digest: digestOf(n), code: 'bad-bundle', reason: 'bad', atMs },
})
const made = (n: number, content = '') => ({
  ...{ commit: `c${n}`, digest: digestOf(n), serial: n, content },
})

/** Nodes that take what they are given at once, unless they are told not to. */
class Fleet {
  nowMs = 1_000_000
  state: DeliveryState
  readonly nodes: DeliveryNode[] = []
  readonly adoptions = new Adoptions()
  waitsFor = ''
  observedMs = 1_000_000

  constructor(count: number, canary = 1) {
    this.state = firstState(made(1), 7, this.nowMs)
    const { counters, instance } = reportOf('x')
    for (let i = 0; i < count; i++) {
      const labels: DeliveryNode['labels'] = i < canary ? { canary: 'true' } : {}
      const served = {
        digest: null,
        seq: 0,
        ageMs: 0,
        clockOffsetMs: 0,
        refusals: [],
        shadow: null,
      }
      this.nodes.push({ name: `n${i}`, labels, instance, counters, ...served })
    }
    this.take()
  }

  change(i: number, parts: Partial<DeliveryNode>): void {
    this.nodes[i] = { ...this.nodes[i]!, ...parts }
  }

  count(i: number, counters: Partial<DeliveryNode['counters']>): void {
    this.change(i, { counters: { ...this.nodes[i]!.counters, ...counters } })
  }

  take(takes = (_node: DeliveryNode): boolean => true): void {
    for (const [i, node] of this.nodes.entries()) {
      const { digest, seq } = placeFor(this.state, node)
      if (!takes(node) || node.ageMs > 0) continue
      expect(seq, 'what a node is given never falls').toBeGreaterThanOrEqual(node.seq)
      this.change(i, { digest, seq })
    }
  }

  propose(n: number, deliveryPlan: DeliveryPlan | null = plan(), content = ''): void {
    this.state = propose(this.state, made(n, content), deliveryPlan, this.nodes, this.nowMs)
  }

  /** Nodes compute with what they are told to. */
  shadow(compared = 0, changed = 0): void {
    for (const [i, node] of this.nodes.entries()) {
      const digest = shadowFor(this.state, node)?.digest
      this.change(i, { shadow: digest === undefined ? null : { digest, compared, changed } })
    }
  }

  look(): void {
    const { observedMs } = this
    const hearing = { observedMs, heardMs: observedMs }
    const looked = look(this.state, this.nodes, this.adoptions, this.nowMs, hearing)
    this.state = looked.state
    this.waitsFor = looked.waitsFor
  }

  pass(ms: number): void {
    this.nowMs += ms
    for (const [i, node] of this.nodes.entries()) {
      if (node.ageMs > 0) this.change(i, { ageMs: node.ageMs + ms })
    }
    this.take()
    this.look()
  }

  act(action: DeliveryAction): string {
    const acted = act(this.state, action, this.nodes, this.nowMs)
    if (!acted.ok) return acted.error
    this.state = acted.value
    return 'ok'
  }

  having(n: number): number {
    return this.nodes.filter(({ digest }) => digest === digestOf(n)).length
  }

  get stands(): string {
    return `${this.state.phase} ${this.state.waves.length}`
  }
}

test('the words of the API are those of the machine', () => {
  expect([shownPhases, shownActions]).toEqual([deliveryPhases, deliveryActions])
})

describe('a good change', () => {
  test('goes to the canary, after its hold to half, then to all', () => {
    const fleet = new Fleet(10)
    fleet.propose(2)
    const seen: string[] = []
    for (let i = 0; i < 25; i++) {
      fleet.pass(1_000)
      const step = `${fleet.stands}: ${fleet.having(2)}`
      if (seen.at(-1) !== step) seen.push(step)
    }
    expect(seen).toEqual([
      'rolling 1: 1',
      'rolling 2: 1',
      'rolling 2: 5',
      'rolling 3: 5',
      'done 3: 10',
    ])
    expect(fleet.state.good).toMatchObject({ digest: digestOf(2), serial: 2 })
  })

  test('goes to all at once without a plan', () => {
    const fleet = new Fleet(4)
    fleet.propose(2, null)
    fleet.take()
    expect([fleet.stands, fleet.having(2)]).toEqual(['done 0', 4])
  })

  test('is not replaced by an older one, nor begun anew by itself', () => {
    const fleet = new Fleet(4)
    fleet.propose(3)
    const { state } = fleet
    fleet.propose(2)
    fleet.propose(3)
    expect(fleet.state).toBe(state)
  })

  test('is the same on another control node that reads what was stored', () => {
    const fleet = new Fleet(10)
    fleet.propose(2)
    fleet.pass(1_000)
    const read = readState(printState(fleet.state))
    expect(read).toEqual({ ok: true, value: fleet.state })
    expect(readState('{"format":2}')).toMatchObject({ ok: false })
    expect(readState('[')).toMatchObject({ ok: false })
  })

  test('waits after a take-over until it was observed for as long as it is held', () => {
    const fleet = new Fleet(10)
    fleet.propose(2)
    fleet.pass(1_000)
    fleet.observedMs = 500
    fleet.pass(60_000)
    expect(fleet.stands).toBe('rolling 1')
    fleet.observedMs = 10_000
    fleet.pass(1)
    expect(fleet.stands).toBe('rolling 2')
  })
})

describe('a newer change while one is on its way', () => {
  test('begins anew from the last good one, and those ahead go back first', () => {
    const fleet = new Fleet(10)
    fleet.propose(2)
    for (let i = 0; i < 12; i++) fleet.pass(1_000)
    expect(fleet.having(2)).toBe(5)
    fleet.propose(3)
    fleet.take()
    expect([fleet.having(1), fleet.having(2), fleet.having(3)]).toEqual([9, 0, 1])
  })
})

describe('a gate', () => {
  const rows: readonly [what: string, parts: Partial<DeliveryNode['counters']>, gate: string][] = [
    ['SERVFAIL', { answers: 1_009, servfail: 200 }, 'servfail'],
    ['answers without a candidate', { answers: 1_009, noCandidate: 500 }, 'noCandidate'],
    ['members down', { membersHealthy: 0, membersDown: 4 }, 'membersDown'],
  ]
  test.each(rows)('with %s takes the change back from all', (_what, counters, gate) => {
    const fleet = new Fleet(10)
    fleet.propose(2)
    fleet.pass(1_000)
    const { seq } = fleet.state.target!
    fleet.count(0, counters)
    fleet.pass(1_000)
    expect(fleet.state).toMatchObject({ phase: 'returned', verdict: { gate, wave: 0 } })
    expect(fleet.state.good).toMatchObject({ digest: digestOf(1), seq: seq + 1, serial: 2 })
    fleet.take()
    expect([fleet.having(1), fleet.having(2)]).toEqual([10, 0])
  })

  test('says nothing of few answers', () => {
    const fleet = new Fleet(10)
    fleet.propose(2)
    fleet.pass(1_000)
    fleet.count(0, { answers: 30, servfail: 20 })
    fleet.pass(1_000)
    expect(fleet.stands).toBe('rolling 1')
  })

  test('holds the change where that is declared, and a person goes on', () => {
    const fleet = new Fleet(10)
    fleet.propose(2, plan({ onFailure: 'hold' }))
    fleet.pass(1_000)
    fleet.count(0, { membersDown: 9 })
    fleet.pass(1_000)
    expect([fleet.stands, fleet.having(2)]).toEqual(['held 1', 1])
    fleet.pass(3_600_000)
    expect(fleet.stands).toBe('held 1')
    expect(fleet.act('promote')).toBe('ok')
    fleet.take()
    expect([fleet.stands, fleet.having(2)]).toEqual(['done 1', 10])
  })

  test('counts nodes that refuse the bundle, and those that left it, as refusals', () => {
    for (const parts of ['refuses', 'leaves']) {
      const fleet = new Fleet(10)
      fleet.propose(2)
      if (parts === 'leaves') fleet.pass(1)
      const refusal = refusalOf(2, fleet.nowMs)
      const refusals = parts === 'leaves' ? [] : [refusal]
      fleet.change(0, { digest: digestOf(1), refusals })
      fleet.look()
      expect(fleet.state.verdict, parts).toMatchObject({ gate: 'refusals', value: 1, limit: 0 })
    }
  })

  test('counts nodes that reported when the wave began as silent', () => {
    const fleet = new Fleet(10)
    fleet.propose(2)
    fleet.change(0, { ageMs: 1 })
    fleet.pass(deliveryLimits.silentMs)
    expect(fleet.state.verdict).toMatchObject({ gate: 'silent', value: 1 })
  })

  test('does not mind a node that was lost long before', () => {
    const fleet = new Fleet(10, 2)
    fleet.change(0, { ageMs: 3_600_000 })
    fleet.propose(2)
    for (let i = 0; i < 12; i++) fleet.pass(1_000)
    expect(fleet.stands).toBe('rolling 2')
  })
})

describe('a wave with a shadow', () => {
  const shadowing = (changedAnswers: number | null) =>
    plan({
      waves: [{ ...canaries, shadowMs: 5_000 }, share(100)],
      gates: { ...gates, changedAnswers },
    })

  test('has its nodes compute with the bundle first, then answer from it', () => {
    const fleet = new Fleet(10)
    fleet.propose(2, shadowing(null))
    fleet.pass(1_000)
    expect([fleet.having(2), fleet.waitsFor]).toEqual([0, '1 node to compute with the bundle'])
    fleet.shadow(200, 50)
    fleet.pass(1_000)
    fleet.pass(4_999)
    expect([fleet.having(2), shadowFor(fleet.state, fleet.nodes[0])?.digest]).toEqual([
      0,
      digestOf(2),
    ])
    expect(shadowFor(fleet.state, fleet.nodes[1])).toBeUndefined()
    fleet.pass(1)
    expect(fleet.state.waves[0]?.shadow).toEqual({ compared: 200, changed: 25 })
    fleet.shadow()
    fleet.pass(1)
    expect([fleet.having(2), fleet.nodes[0]!.shadow]).toEqual([1, null])
    fleet.pass(10_000)
    fleet.pass(1)
    expect([fleet.stands, fleet.having(2)]).toEqual(['done 2', 10])
  })

  test.each([
    [200, 20, 10, 'rolling'],
    [200, 21, 10, 'returned'],
    [99, 99, 10, 'rolling'],
    [200, 200, null, 'rolling'],
  ] as const)('%i compared, %d changed, at most %s %%: %s', (compared, changed, limit, phase) => {
    const fleet = new Fleet(10)
    fleet.propose(2, shadowing(limit))
    fleet.shadow(compared, changed)
    fleet.pass(1_000)
    expect(fleet.state.phase).toBe(phase)
    const gate = { gate: 'changedAnswers', wave: 0, value: 10.5, limit: 10 }
    if (phase === 'returned') expect(fleet.state.verdict).toMatchObject(gate)
    expect(fleet.having(2), 'nobody has answered from it').toBe(0)
  })

  test('goes back when a node refuses the bundle, or never computes with it', () => {
    for (const gate of ['refusals', 'notAdopted']) {
      const fleet = new Fleet(10)
      fleet.propose(2, shadowing(null))
      const refusal = refusalOf(2, fleet.nowMs)
      if (gate === 'refusals') fleet.change(0, { refusals: [refusal] })
      else fleet.nowMs += deliveryLimits.adoptMs
      fleet.look()
      expect(fleet.state).toMatchObject({ phase: 'returned', verdict: { gate } })
    }
  })
})

describe('a commit', () => {
  const decidedBy = (decision?: 'pause' | 'promote' | 'abort') =>
    plan({ decisions: decision === undefined ? [] : [{ commit: 'c2', decision }] })

  test('that changes no answer neither stops what is on its way nor takes its place', () => {
    const fleet = new Fleet(10)
    fleet.propose(2, plan(), 'b')
    fleet.pass(1_000)
    fleet.propose(3, plan(), 'b')
    fleet.pass(1_000)
    expect([fleet.stands, fleet.having(2)]).toEqual(['rolling 1', 1])
    for (let i = 0; i < 25; i++) fleet.pass(1_000)
    expect([fleet.stands, fleet.having(2)]).toEqual(['done 3', 10])
    fleet.propose(3, plan(), 'b')
    fleet.take()
    expect([fleet.stands, fleet.having(3)]).toEqual(['done 0', 10])
  })

  test('pauses the change of another one, resumes it, and promotes it', () => {
    const fleet = new Fleet(10)
    fleet.propose(2, plan(), 'b')
    fleet.propose(3, decidedBy('pause'), 'b')
    fleet.pass(60_000)
    expect(fleet.stands).toBe('paused 1')
    fleet.propose(4, decidedBy(), 'b')
    expect(fleet.stands).toBe('rolling 1')
    fleet.propose(5, decidedBy('promote'), 'b')
    fleet.take()
    expect([fleet.state.phase, fleet.having(2)]).toEqual(['done', 10])
  })

  test('changes how long a wave is held, and not who is in it', () => {
    const fleet = new Fleet(10)
    fleet.propose(2, plan({ waves: [{ ...canaries, holdMs: 3_600_000 }, share(100)] }), 'b')
    fleet.pass(60_000)
    fleet.propose(3, plan({ waves: [share(100)] }), 'b')
    fleet.pass(60_000)
    expect([fleet.stands, fleet.having(2)]).toEqual(['rolling 1', 1])
    fleet.propose(4, plan({ waves: [canaries, share(100)] }), 'b')
    fleet.pass(1)
    expect(fleet.stands).toBe('rolling 2')
  })

  test('aborts it, and those that come later leave it so', () => {
    const fleet = new Fleet(10)
    fleet.propose(2, plan(), 'b')
    fleet.pass(1_000)
    fleet.propose(3, decidedBy('abort'), 'b')
    fleet.propose(4, decidedBy('abort'), 'b')
    fleet.take()
    expect([fleet.state.phase, fleet.having(1)]).toEqual(['aborted', 10])
  })

  test('reverts it at all nodes at once, and decides nothing about another change', () => {
    const fleet = new Fleet(10)
    fleet.propose(2, plan(), 'a')
    fleet.act('promote')
    fleet.propose(3, decidedBy('pause'), 'b')
    fleet.pass(1_000)
    expect([fleet.stands, fleet.having(3)]).toEqual(['rolling 1', 1])
    fleet.propose(4, plan(), 'a')
    fleet.take()
    expect([fleet.state.phase, fleet.having(4)]).toEqual(['done', 10])
  })
})

describe('a wave that cannot end by itself', () => {
  test('since a node does not take the bundle: the change goes back', () => {
    const fleet = new Fleet(10)
    fleet.propose(2)
    fleet.nowMs += deliveryLimits.adoptMs
    fleet.look()
    expect(fleet.state).toMatchObject({ phase: 'returned', verdict: { gate: 'notAdopted' } })
  })

  test('since no node has its labels: the change is held, and says so before', () => {
    const fleet = new Fleet(10, 0)
    fleet.propose(2)
    fleet.pass(1_000)
    expect(fleet.waitsFor).toBe('a node with the labels of the wave')
    fleet.pass(deliveryLimits.adoptMs)
    expect(fleet.state).toMatchObject({ phase: 'held', verdict: { gate: 'noNodes' } })
  })
})

describe('an operator', () => {
  test('pauses, resumes, aborts, and begins anew', () => {
    const fleet = new Fleet(10)
    expect(fleet.act('pause')).toBe('nothing is on its way')
    fleet.propose(2)
    expect([fleet.act('resume'), fleet.act('pause'), fleet.act('pause')]).toEqual([
      'it is not paused',
      'ok',
      'it is paused',
    ])
    fleet.pass(60_000)
    expect(fleet.stands).toBe('paused 1')
    expect(fleet.act('resume')).toBe('ok')
    fleet.pass(10_000)
    expect(fleet.stands).toBe('rolling 2')
    expect([fleet.act('abort'), fleet.act('abort')]).toEqual(['ok', 'it was taken back'])
    fleet.take()
    expect([fleet.stands, fleet.having(1)]).toEqual(['aborted 2', 10])
    expect(fleet.act('resume')).toBe('ok')
    fleet.pass(1)
    expect([fleet.stands, fleet.having(2)]).toEqual(['rolling 1', 1])
  })
})

test('after any events no share is exceeded, no wave shrinks, and every delivery ends', () => {
  const event = fc.constantFrom('pass', 'pass', 'pass', 'propose', 'bad', 'silent', 'join', 'pause')
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 0, max: 3 }),
      fc.array(fc.tuple(event, fc.nat(39), fc.integer({ min: 1, max: 20_000 })), { maxLength: 40 }),
      (count, canary, events) => {
        const fleet = new Fleet(count, canary)
        let commit = 1
        for (const [what, which, ms] of events) {
          const i = which % fleet.nodes.length
          const before = fleet.nodes.map((node) => placeFor(fleet.state, node))
          const { phase, target, topSeq } = fleet.state
          if (what === 'propose') fleet.propose(++commit)
          else if (what === 'bad') fleet.count(i, { membersDown: 50 })
          else if (what === 'silent') fleet.change(i, { ageMs: 1 })
          else if (what === 'join') {
            // It has pulled nothing yet.
            const fresh = { name: `late${fleet.nodes.length}`, digest: null, seq: 0, ageMs: 0 }
            fleet.nodes.push({ ...fleet.nodes[i]!, ...fresh })
          } else if (what === 'pause') fleet.act(phase === 'paused' ? 'resume' : 'pause')
          fleet.pass(ms)
          expect(fleet.state.topSeq).toBeGreaterThanOrEqual(topSeq)
          const isSame = fleet.state.target === target && fleet.state.phase === phase
          if (isSame) expectForward(fleet, before)
          if (fleet.state.phase === 'rolling') expectShare(fleet, what === 'join')
        }
        if (fleet.state.phase === 'paused') fleet.act('resume')
        for (let i = 0; i < 12; i++) fleet.pass(deliveryLimits.adoptMs)
        expect(['done', 'held', 'returned']).toContain(fleet.state.phase)
      },
    ),
    { seed: 14 },
  )
})

/** As long as it is the same change, no node is given the older one again. */
function expectForward(fleet: Fleet, before: readonly { readonly seq: number }[]): void {
  for (const [i, { seq }] of before.entries()) {
    expect(placeFor(fleet.state, fleet.nodes[i]).seq).toBeGreaterThanOrEqual(seq)
  }
}

/** Counts nodes that are heard, when the wave has just begun and no node has joined since. */
function expectShare({ state, nodes, nowMs }: Fleet, hasJoined: boolean): void {
  const percent = state.plan!.waves[state.waves.length - 1]!.percent
  if (percent === null || hasJoined || state.sinceMs !== nowMs) return
  const live = nodes.filter(({ ageMs }) => ageMs <= deliveryLimits.silentMs)
  const ahead = live.filter((node) => placeFor(state, node).digest === state.target!.digest)
  const canaries = live.filter(({ labels }) => labels['canary'] === 'true').length
  const most = Math.max(Math.ceil((live.length * percent) / 100), canaries)
  expect(ahead.length).toBeLessThanOrEqual(most)
}

// Control nodes that share one delivery: who proposes, who decides, and who goes on after another.
import { expect, test } from 'vitest'
import { DeliveryKeeper } from '#fleet/delivery/keeper.ts'
import type { DeliveryKeeperParts, SharedRow } from '#fleet/delivery/keeper.ts'
import type { DeliveryNode } from '#fleet/delivery/membership.ts'
import type { DeliveryPlan } from '#fleet/delivery/plan.ts'
import { PlaceRecords } from '#fleet/delivery/records.ts'
import { signChannelRecord } from '#bundle/signature/channel.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { reportOf } from '#test/support/node-reports.ts'

const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }
const digestOf = (n: number): string => n.toString(16).padStart(64, '0')
const plan: DeliveryPlan = {
  waves: [
    { labels: { canary: 'true' }, percent: null, holdMs: 10_000, shadowMs: 0 },
    { labels: null, percent: 100, holdMs: 0, shadowMs: 0 },
  ],
  gates: {
    ...{ servfail: 1, noCandidate: 5, membersDown: 20, p99Us: null },
    ...{ changedAnswers: null, refusals: 0, silent: 0, answersMin: 100 },
  },
  onFailure: 'return',
  decisions: [],
}

function scene() {
  const time = new FakeTime(1_000_000)
  const key = newSigningKey()
  let row: SharedRow | null = null
  let isAway = false
  const canary: DeliveryNode = {
    ...{ name: 'n1', labels: { canary: 'true' }, instance: 'ab', digest: null, seq: 0, ageMs: 0 },
    ...{ refusals: [], counters: reportOf('n1').counters, shadow: null, clockOffsetMs: 0 },
  }
  const other: DeliveryNode = { ...canary, name: 'n2', labels: {} }
  const nodes = [canary, other]
  const control = (name: string, kept?: string) => {
    let commit = 1
    let agentsMax: number | undefined
    let told = 0
    let text = kept
    const parts: DeliveryKeeperParts = {
      name,
      read: async () => (isAway ? err('The database is away.') : ok(row)),
      replace: async (seen, next) => {
        if (isAway) return err('The database is away.')
        if ((row?.revision ?? 0) !== seen) return ok(false)
        row = { ...next, revision: seen + 1 }
        return ok(true)
      },
      mayHaveRow: () => true,
      strangers: () => 0,
      heardMs: () => Infinity,
      kept: () => text,
      keep: (next) => (text = next),
      made: () => ({
        made: { commit: `c${commit}`, digest: digestOf(commit), serial: commit },
        seq: commit,
      }),
      plan: () => plan,
      nodes: () => nodes,
      records: new PlaceRecords({
        bytesOf: () => 4_096,
        ...{ channel: 'main', ttlMs: 86_400_000, clock: time.clock },
        agentsMax: () => agentsMax,
        sign: (record) => signChannelRecord(record, key),
      }),
      onChange: () => told++,
      clock: time.clock,
      log: silentLog,
    }
    const keeper = new DeliveryKeeper(parts)
    /** All take what they are given; then a look. */
    const step = async (ms: number): Promise<void> => {
      time.pass(ms)
      for (const [i, node] of nodes.entries()) {
        const record = keeper.recordFor(node)?.record
        if (record !== undefined) nodes[i] = { ...node, digest: record.digest, seq: record.seq }
      }
      await keeper.tick()
    }
    return {
      keeper,
      step,
      compile: (n: number) => (commit = n),
      permit: (count: number) => (agentsMax = count),
      permitted: () => nodes.map((node) => keeper.recordFor(node)?.record.agentsMax),
      kept: () => text,
      told: () => told,
      given: () => nodes.map((node) => keeper.recordFor(node)?.record.digest.at(-1)).join(' '),
      phase: () => keeper.view()?.state.phase,
    }
  }
  return { control, time, decider: () => row?.decider, away: (is: boolean) => (isAway = is) }
}

test('an unknown bundle is given to no node', async () => {
  const { control } = scene()
  const a = control('a')
  expect(a.keeper.recordFor(undefined)).toBeUndefined()
  await a.keeper.tick()
  expect([a.given(), a.told()]).toEqual(['1 1', 1])
})

test('each node is told anew how many agents may be heard', async () => {
  const a = scene().control('a')
  await a.step(0)
  expect(a.permitted()).toEqual([undefined, undefined])
  a.permit(10)
  expect(a.permitted()).toEqual([10, 10])
  a.compile(2)
  await a.step(1_000)
  a.permit(0)
  expect([a.given(), a.permitted()]).toEqual(['2 1', [0, 0]])
})

test('another control node gives the same, and goes on when the first one is silent', async () => {
  const { control, decider } = scene()
  const [a, b] = [control('a'), control('b')]
  await a.step(0)
  a.compile(2)
  await a.step(1_000)
  await b.step(0)
  expect([a.given(), b.given(), decider()]).toEqual(['2 1', '2 1', 'a'])
  b.compile(1)
  await b.step(1_000)
  expect(b.given(), 'an older commit is not proposed').toBe('2 1')
  b.compile(2)
  await b.step(20_000)
  await b.step(1_000)
  expect([b.phase(), decider()]).toEqual(['rolling', 'b'])
  await b.step(10_000)
  await b.step(1_000)
  await a.step(1_000)
  expect([a.given(), b.given(), a.phase()]).toEqual(['2 2', '2 2', 'done'])
})

test('while the database is away everybody keeps what they have', async () => {
  const { control, away } = scene()
  const a = control('a')
  await a.step(0)
  a.compile(2)
  await a.step(1_000)
  away(true)
  await a.step(60_000)
  expect([a.given(), a.phase()]).toEqual(['2 1', 'rolling'])
  expect(await a.keeper.act('promote')).toEqual({ ok: false, error: 'The database is away.' })
  const again = control('a', a.kept())
  expect(again.given(), 'after a restart, too').toBe('2 1')
  away(false)
  expect((await again.keeper.act('promote')).ok).toBe(true)
  expect(again.given()).toBe('2 2')
})

test('nodes of a wave are asked to report often, others are not', async () => {
  const { control } = scene()
  const a = control('a')
  await a.step(0)
  a.compile(2)
  await a.step(1_000)
  const waits = [{ canary: 'true' }, {}].map((labels) => a.keeper.waitMsFor({ name: 'x', labels }))
  expect(waits).toEqual([1_000, Infinity])
})

import { expect, test } from 'vitest'
import { createAlertFacts } from '#node/status/alert-facts.ts'
import type { AlertFactsParts } from '#node/status/alert-facts.ts'
import { alertedForMs } from '#node/status/regressed-rollouts.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const startAt = '2026-01-31T12:00:00Z'
const settledAt = '2026-01-31T12:00:01Z'
const settledAtMs = Date.parse(settledAt)
const reason = 'the pool has 0 healthy members, fewer than 2'
const record = { pool: 'web', memberId: 'm1', startAt, settled: 'rolled_back', settledAt, reason }
const running = { uid: 'r1', name: 'up', tenant: 'acme', pool: 'web', state: 'running', reason: '' }

interface Rows {
  readonly serving?: readonly object[]
  /** null: the configuration was not read yet. */
  readonly files?: readonly object[] | null
  readonly afterMs?: number
}

function told({ serving = [], files = [], afterMs = 5_000 }: Rows): readonly string[] {
  const entries = (files ?? []).map((spec, at) => {
    return { uid: `r${at + 1}`, name: 'up', tenant: 'acme', object: { spec } }
  })
  const parts = {
    node: { overlays: () => ({ rollouts: serving }) },
    gitops: {
      config: { isReady: () => files !== null, snapshot: () => ({ list: () => entries }) },
    },
    health: null,
    clock: new FakeTime(settledAtMs + afterMs).clock,
  }
  const facts = createAlertFacts(parts as unknown as AlertFactsParts)
  return facts.regressions().map(({ uid, pool, reason: why }) => `${uid} ${pool}: ${why}`)
}

const one = [`r1 web: ${reason}`]
test.each<[what: string, rows: Rows, expected: readonly string[]]>([
  ['that no file says yet', { serving: [{ ...running, state: 'rolled_back', reason }] }, one],
  [
    'without a configuration',
    { serving: [{ ...running, state: 'rolled_back', reason }], files: null },
    one,
  ],
  ['that is settled', { files: [record] }, one],
  [
    'that is both, once',
    { serving: [{ ...running, state: 'rolled_back', reason }], files: [record] },
    one,
  ],
  ['for a day', { files: [record], afterMs: alertedForMs - 1 }, one],
  ['not for longer', { files: [record], afterMs: alertedForMs }, []],
  ['not one that runs', { serving: [running] }, []],
  ['not one that a person has aborted', { files: [{ ...record, reason: 'aborted' }] }, []],
  ['not one that a person has settled', { files: [{ ...record, reason: undefined }] }, []],
  ['not one that was promoted', { files: [{ ...record, settled: 'promoted' }] }, []],
  [
    'not when the member has a newer one',
    { files: [record, { ...record, startAt: settledAt, settled: undefined }] },
    [],
  ],
  [
    'also when another member has a newer one',
    { files: [record, { ...record, memberId: 'm2', startAt: settledAt, settled: undefined }] },
    one,
  ],
])('a rollout that a regression took back is told of: %s', (_what, rows, expected) => {
  expect(told(rows)).toEqual(expected)
})

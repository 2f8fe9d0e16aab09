// What a node notes of its writes: their times, and their traces where there is a collector.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { CommitWriter, WriteRequest } from '#config/operation.ts'
import { unknownStatus } from '#gitops/status/status.ts'
import type { GitopsStatus } from '#gitops/status/status.ts'
import { ok } from '#lib/result.ts'
import { NodeTelemetry } from '#node/telemetry/node-telemetry.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const commit = 'ab'.repeat(20)
const request = (requestId: string, more: Partial<WriteRequest> = {}): WriteRequest => ({
  ...{ requestId, actor: { name: 'a', address: 'b' }, operations: [] },
  ...more,
})

function scene(url: string, isChanged = true) {
  const { clock, after } = new FakeTime(Date.UTC(2026, 10, 30))
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const settings = { url, headers: '', timeoutMs: 1_000 }
  const telemetry = new NodeTelemetry({ settings, node: 'c1', nodes: () => [], clock, after, log })
  onTestFinished(() => telemetry.close())
  const asked: WriteRequest[] = []
  const outcome = { revision: commit, isChanged, objects: [], warnings: [], affected: [] }
  const writer: CommitWriter = {
    write: async (one) => {
      asked.push(one)
      return ok({ ...outcome, ...(one.wantsStages && { stages: [] }) })
    },
  }
  const end = (requestId: string, elapsedMs: number): void =>
    telemetry.ended({
      ...{ requestId, method: 'PUT', route: '/api/v1/pools/{id}', status: 200 },
      ...{ elapsedMs, traceparent: undefined },
    })
  const classes = () => telemetry.times().classes.filter(({ count }) => count > 0)
  return { telemetry, noting: telemetry.noting(writer), asked, end, classes }
}

test('without a collector writes are timed, and nothing is asked for', async () => {
  const { telemetry, noting, asked, end, classes } = scene('')
  await noting.write(request('r1'))
  end('r1', 30)
  end('r1', 40)
  end('r2', 50)
  expect(classes()).toEqual([{ uptoSeconds: 0.05, count: 1, exemplar: null }])
  expect(telemetry.times().sumSeconds).toBe(0.03)
  expect(telemetry.counts()).toBeNull()
  expect(asked[0]?.wantsStages).toBeUndefined()
})

test('with a collector a class has the trace of its last write', async () => {
  const { telemetry, noting, asked, end, classes } = scene('http://127.0.0.1:9')
  await noting.write(request('r1'))
  end('r1', 60_000)
  const exemplar = { traceId: 'ab'.repeat(16), seconds: 60, atMs: Date.UTC(2026, 10, 30) }
  expect(classes()).toEqual([{ uptoSeconds: Infinity, count: 1, exemplar }])
  expect(asked[0]?.wantsStages).toBe(true)
  expect(telemetry.counts()?.waiting).toBe(1)
})

test.each([
  ['changes nothing', false, {}],
  ['is a dry run', true, { isDryRun: true }],
] as const)('a request that %s counts nowhere', async (_what, isChanged, more) => {
  const { noting, end, classes } = scene('http://127.0.0.1:9', isChanged)
  await noting.write(request('r1', more))
  end('r1', 30)
  expect(classes()).toEqual([])
})

describe('a status of the branch', () => {
  const head = { commit, author: '', committedAtMs: 0 }
  const stepsAt = (startMs: number, names: readonly string[]): GitopsStatus['conditions'] =>
    names.map((step) => ({ step, state: 'passed', startMs, endMs: startMs + 1 }))
  const judged = ['fetch', 'descend', 'compile']
  const held = { sync: 'held', code: 'CompileFailed' } as const
  const statusOf = (
    atMs: number,
    names: readonly string[],
    more: Partial<GitopsStatus> = {},
  ): GitopsStatus => ({
    ...unknownStatus,
    ...{ sync: 'synced', head, conditions: stepsAt(atMs, names), ...more },
  })
  const other = { ...held, head: { ...head, commit: 'cd'.repeat(20) } }

  test.each<[string, readonly GitopsStatus[], number]>([
    ['of a new head is told of', [statusOf(1, judged)], 3],
    ['that is repeated is told of once', [statusOf(1, judged), statusOf(1, judged)], 3],
    ['before any look', [unknownStatus], 0],
    ['that finds nothing new', [statusOf(1, ['fetch'])], 0],
    ['whose source went away', [statusOf(1, judged, { sync: 'unreachable', code: 'Timeout' })], 0],
    ['of a write of this node', [statusOf(1, [])], 0],
    ['that holds the head ends at once', [statusOf(1, judged, held)], 4],
    ['that holds it again', [statusOf(1, judged, held), statusOf(2, judged, held)], 4],
    ['that holds another', [statusOf(1, judged, held), statusOf(2, judged, other)], 8],
  ])('%s', (_what, statuses, spans) => {
    const { telemetry } = scene('http://127.0.0.1:9')
    for (const one of statuses) telemetry.looked(one)
    expect(telemetry.counts()?.waiting).toBe(spans)
  })
})

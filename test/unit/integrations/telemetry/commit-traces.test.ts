// The trace of a commit: its spans, when it ends, and what it waits for.
import { describe, expect, test } from 'vitest'
import { CommitTraces } from '#integrations/telemetry/commit-traces.ts'
import type { NodeState, OwnActivation } from '#integrations/telemetry/commit-traces.ts'
import { telemetryLimits } from '#integrations/telemetry/limits.ts'
import { exportRequest } from '#integrations/telemetry/otlp-json.ts'
import { spanIdOf, traceContextIn } from '#integrations/telemetry/span.ts'
import type { Span } from '#integrations/telemetry/span.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { otlpFaults } from '#test/support/otlp-checks.ts'

const commit = '0123456789abcdef0123456789abcdef01234567'
const nowMs = Date.UTC(2026, 10, 30)
const request = { requestId: 'r1', method: 'POST', route: '/api/v1/pools', status: 201 }
const active: OwnActivation = {
  ...{ commit, publisher: 'p1', seq: 7, digest: 'd7' },
  ...{ startMs: nowMs + 30, endMs: nowMs + 40 },
}
const stages = [
  { name: 'prepare', startMs: nowMs + 5, endMs: nowMs + 10 },
  { name: 'commit', startMs: nowMs + 10, endMs: nowMs + 30 },
]
const nodeAt = (name: string, seq: number, more: Partial<NodeState> = {}): NodeState => ({
  ...{ name, role: 'dns', publisher: 'p1', seq, digest: `d${seq}` },
  ...more,
})

function scene(nodes: readonly NodeState[] = []) {
  const time = new FakeTime(nowMs)
  const spans: Span[] = []
  const { clock, after } = time
  const add = (more: readonly Span[]): void => void spans.push(...more)
  const traces = new CommitTraces({ add, nodes: () => nodes, node: 'c1', clock, after })
  const write = (requestId = 'r1', stagesOf = stages): void => {
    traces.activated(active)
    traces.wrote({ commit, requestId, stages: stagesOf })
    time.pass(50)
  }
  const end = (more: Partial<Parameters<CommitTraces['ended']>[0]> = {}) =>
    traces.ended({ ...request, startMs: nowMs, endMs: nowMs + 45, ...more })
  const root = () => spans.find(({ parentSpanId }) => parentSpanId === '')
  return { time, spans, traces, write, end, root }
}

test('a write is a trace by the first 16 octets of its commit', () => {
  const { time, spans, write, end, root } = scene()
  write()
  expect(end()).toBe('0123456789abcdef0123456789abcdef')
  time.pass(telemetryLimits.graceMs)
  expect(spans.map(({ name }) => name)).toEqual([
    'prepare',
    'commit',
    'activate',
    'POST /api/v1/pools',
    'write',
  ])
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  const parents = new Set(spans.map(({ parentSpanId }) => parentSpanId))
  expect(parents).toEqual(new Set(['', spanIdOf(commit, 'write')]))
  expect(root()).toMatchObject({
    startMs: nowMs,
    endMs: nowMs + 45,
    spanId: spanIdOf(commit, 'write'),
  })
  expect(root()?.attributes).toEqual({ 'gslbd.commit': commit, 'gslbd.nodes': 1 })
  expect(otlpFaults(exportRequest(spans, 'c1'))).toEqual([])
})

test('requests of one commit are spans of one trace, with its stages once', () => {
  const { time, spans, traces, write, end } = scene()
  write()
  traces.wrote({ commit, requestId: 'r2', stages })
  end()
  time.pass(2 * telemetryLimits.graceMs)
  end({ requestId: 'r2' })
  time.pass(telemetryLimits.graceMs)
  expect(spans.filter(({ name }) => name === 'prepare')).toHaveLength(1)
  expect(spans.filter(({ name }) => name.startsWith('POST'))).toHaveLength(2)
  expect(spans.filter(({ parentSpanId }) => parentSpanId === '')).toHaveLength(1)
})

test('a request that wrote nothing has no trace', () => {
  const { spans, write, end } = scene()
  write()
  expect(end({ requestId: 'r9' })).toBeUndefined()
  expect(spans.some(({ name }) => name.startsWith('POST'))).toBe(false)
})

describe('other nodes', () => {
  test('each has a span until it is heard of, and the trace ends with the last', () => {
    const { time, spans, traces, write, end, root } = scene([nodeAt('n1', 6), nodeAt('n2', 6)])
    write()
    end()
    time.pass(400)
    traces.heard(nodeAt('n1', 6))
    traces.heard(nodeAt('n1', 7))
    time.pass(5_000)
    expect(root()).toBeUndefined()
    traces.heard(nodeAt('n2', 9))
    time.pass(telemetryLimits.graceMs)
    const [, n1, n2] = spans.filter(({ name }) => name === 'activate')
    expect(n1).toMatchObject({ startMs: nowMs + 40, endMs: nowMs + 450 })
    expect(n1?.attributes).toEqual({
      'gslbd.node.name': 'n1',
      'gslbd.node.role': 'dns',
      'gslbd.seq': 7,
    })
    expect(n2).toMatchObject({ startMs: nowMs + 40, endMs: nowMs + 5_450 })
    expect(root()).toMatchObject({ endMs: nowMs + 5_450 })
    expect(root()?.attributes).toMatchObject({ 'gslbd.nodes': 3 })
  })

  test('one that was quicker than the list of nodes counts', () => {
    const { time, write, end, root } = scene([nodeAt('n1', 7)])
    write()
    end()
    time.pass(telemetryLimits.graceMs)
    expect(root()?.attributes).toEqual({ 'gslbd.commit': commit, 'gslbd.nodes': 2 })
  })

  test('a control node of another key follows by the bundle that it has', () => {
    const other = { role: 'control', publisher: 'p2' }
    const { time, traces, write, end, root } = scene([nodeAt('c2', 3, { ...other, digest: 'd6' })])
    write()
    end()
    traces.heard(nodeAt('c2', 90, { ...other, digest: 'd6' }))
    time.pass(telemetryLimits.graceMs)
    expect(root()).toBeUndefined()
    traces.heard(nodeAt('c2', 4, { ...other, digest: 'd7' }))
    time.pass(telemetryLimits.graceMs)
    expect(root()).toBeDefined()
  })

  test('one that never follows is counted at the end', () => {
    const { time, write, end, root } = scene([nodeAt('n1', 6)])
    write()
    end()
    time.pass(telemetryLimits.openMs)
    expect(root()?.attributes).toMatchObject({ 'gslbd.nodes': 2, 'gslbd.nodes.waiting': 1 })
  })
})

test('a text that is cut within a letter is text', () => {
  const { spans, traces } = scene()
  const fault = `${'x'.repeat(254)}🌍 and more`
  traces.looked({ commit, steps: [], fault })
  expect(otlpFaults(exportRequest(spans, 'c1'))).toEqual([])
})

test('a bundle that is not active here is the fault of the trace', () => {
  const { traces, end, time, root } = scene()
  traces.wrote({ commit, requestId: 'r1', stages })
  end()
  time.pass(telemetryLimits.graceMs)
  expect(root()).toMatchObject({ fault: 'the bundle is not active on this node' })
})

describe('a commit that is found on the branch', () => {
  const steps = [
    { name: 'fetch', startMs: nowMs, endMs: nowMs + 5 },
    { name: 'compile', startMs: nowMs + 5, endMs: nowMs + 30 },
  ]
  const own = nodeAt('n1', 6)
  const look = { commit, steps, fault: '' }

  test.each([
    ['after', (act: () => void, found: () => void) => (found(), act())],
    ['before', (act: () => void, found: () => void) => (act(), found())],
  ])('is a trace when it is active %s it is told of', (_when, inOrder) => {
    const { time, spans, traces, root } = scene([own, nodeAt('c2', 6, { publisher: 'p2' })])
    const act = (): void => traces.activated(active)
    const found = (): void => traces.looked(look)
    inOrder(act, found)
    time.pass(400)
    expect(root()).toBeUndefined()
    traces.heard(nodeAt('n1', 7))
    time.pass(telemetryLimits.graceMs)
    expect(spans.map(({ name }) => name).sort()).toEqual(
      ['fetch', 'compile', 'activate', 'activate', 'follow'].sort(),
    )
    const parents = spans.map(({ parentSpanId }) => parentSpanId)
    expect(new Set(parents)).toEqual(new Set(['', root()?.spanId]))
    expect(root()).toMatchObject({ traceId: commit.slice(0, 32), startMs: nowMs })
    // What pulls from another control node is told of by that one.
    const attributes = { 'gslbd.commit': commit, 'gslbd.node.name': 'c1', 'gslbd.nodes': 2 }
    expect(root()?.attributes).toEqual(attributes)
    expect(root()).not.toHaveProperty('fault')
    expect(otlpFaults(exportRequest(spans, 'c1'))).toEqual([])
  })

  test('ends at once when it is held, with its reason at the step, and may be judged again', () => {
    const { spans, traces } = scene()
    traces.looked({ ...look, fault: 'CompileFailed' })
    const again = steps.map((step) => ({ ...step, startMs: nowMs + 60, endMs: nowMs + 70 }))
    traces.looked({ commit, steps: again, fault: 'CompileFailed' })
    const told = spans.map(({ name, fault }) => [name, fault])
    const once = [
      ['fetch', undefined],
      ['compile', 'CompileFailed'],
      ['follow', 'CompileFailed'],
    ]
    expect(told).toEqual([...once, ...once])
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(6)
  })

  test('that is never active ends with that as its fault', () => {
    const { time, traces, root } = scene([own])
    traces.looked(look)
    time.pass(telemetryLimits.openMs - 1)
    expect(root()).toBeUndefined()
    time.pass(1)
    expect(root()).toMatchObject({ fault: 'the bundle is not active on this node' })
  })

  test('after the API has written it is no second trace', () => {
    const { spans, write, traces } = scene()
    write()
    const { length } = spans
    traces.looked(look)
    expect(spans).toHaveLength(length)
  })
})

test('traces that stay open are bounded, and a stop ends them', () => {
  const { spans, traces } = scene()
  const count = telemetryLimits.openMax + 10
  for (let i = 0; i < count; i++) {
    const one = i.toString(16).padStart(40, '0')
    traces.activated({ ...active, commit: one })
    traces.wrote({ commit: one, requestId: `r${i}`, stages: [] })
  }
  const roots = () => spans.filter(({ parentSpanId }) => parentSpanId === '').length
  expect(roots()).toBe(10)
  traces.close()
  expect(roots()).toBe(count)
})

describe('traceparent', () => {
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  test.each([
    ['version 0', `00-${traceId}-${spanId}-01`, { traceId, spanId }],
    ['a later version with more', `cc-${traceId}-${spanId}-01-more`, { traceId, spanId }],
    ['version 0 with more', `00-${traceId}-${spanId}-01-more`, undefined],
    ['version ff', `ff-${traceId}-${spanId}-01`, undefined],
    ['large letters', `00-${traceId.toUpperCase()}-${spanId}-01`, undefined],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`, undefined],
    ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`, undefined],
    ['another form', 'abc', undefined],
    ['none', undefined, undefined],
  ])('%s', (_what, header, read) => {
    expect(traceContextIn(header)).toEqual(read)
  })

  test('the span of the client is a link of the request', () => {
    const { spans, write, end } = scene()
    write()
    end({ client: { traceId, spanId } })
    const asked = spans.find(({ kind }) => kind === 2)
    expect(asked?.link).toEqual({ traceId, spanId })
    expect(otlpFaults(exportRequest(spans, 'c1'))).toEqual([])
  })
})

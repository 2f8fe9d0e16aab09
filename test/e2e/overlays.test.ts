// A node with real sockets and the real clock: a window and a rollout that take seconds.
import { expect, test } from 'vitest'
import type { RolloutModel } from '#bundle/format/model.ts'
import { systemClock } from '#lib/clock.ts'
import { createHealthMonitor } from '#health/view/monitor.ts'
import { createMemoryHealthVerdicts } from '#test/support/memory-health-verdicts.ts'
import { startTcpBackend } from '#test/support/backend.ts'
import { healthCheck, member, newSigningKey, pool } from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import { publish } from '#test/support/node-under-test.ts'
import { maintenance, modelWith, rollout } from '#test/support/overlay-node.ts'
import { startedNode } from '#test/support/started-node.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const key = newSigningKey()
const [first, second] = ['192.0.2.1', '192.0.2.2']

/** The addresses that a few answers in a row name. */
async function answered(port: number): Promise<string> {
  const seen = new Set<string>()
  for (let i = 0; i < 40; i++) {
    const reply = await ask({ host: '127.0.0.1', port }, 'www.test. A')
    for (const { rdataText } of reply.answer) seen.add(rdataText)
  }
  return [...seen].sort().join(' ')
}

const until = (port: number, what: string, expected: string) =>
  waitUntil(what, async () => (await answered(port)) === expected, { intervalMs: 50 })

test('a window begins and ends by itself, on two nodes at once', async () => {
  const nodes = [await startedNode({ trusted: key }), await startedNode({ trusted: key })]
  const hourMs = 3_600_000
  const next = async (seq: number, startAtMs: number, endAtMs: number): Promise<void> => {
    const windows = [maintenance({ startAtMs, endAtMs })]
    const published = publish(key, modelWith({ windows }), { seq })
    for (const { node } of nodes) await node.activate(published)
  }
  const { node, port } = nodes[0]!
  await next(1, Date.now() + hourMs, Date.now() + 2 * hourMs)
  expect(node.overlays().windows[0]).toMatchObject({ name: 'night', state: 'scheduled' })
  expect(await answered(port)).toBe(`${first} ${second}`)
  const beginsAtMs = Date.now() + 1_000
  await next(2, beginsAtMs, beginsAtMs + hourMs)
  await Promise.all(nodes.map((one) => until(one.port, 'the window to begin', second)))
  expect(Date.now()).toBeGreaterThanOrEqual(beginsAtMs)
  expect(node.overlays().windows[0]!.state).toBe('active')
  const endsAtMs = Date.now() + 1_000
  await next(3, beginsAtMs, endsAtMs)
  await Promise.all(nodes.map((one) => until(one.port, 'its end', `${first} ${second}`)))
  expect(Date.now()).toBeGreaterThanOrEqual(endsAtMs)
  expect(node.overlays()).toMatchObject({ nextEventAtMs: null, regressions: 0, events: [] })
})

test('a rollout takes a member in, a new bundle pauses it, another one aborts it', async () => {
  const { node, port } = await startedNode({ trusted: key })
  const ramp = (holdSeconds: number, startAtMs: number) => {
    const last = { weightPct: 100, holdSeconds: 0 }
    const steps = [{ weightPct: 0, holdSeconds }, last]
    return rollout({ startAtMs, steps, baseWeight: 4_000 })
  }
  const activate = (seq: number, one: RolloutModel) =>
    node.activate(publish(key, modelWith({ rollouts: [one] }), { seq }))
  await activate(1, ramp(3_600, Date.now()))
  expect(await answered(port)).toBe(second)
  const startAtMs = Date.now()
  const quick = ramp(1, startAtMs)
  const next = (seq: number, intents: RolloutModel['intents']) =>
    activate(seq, { ...quick, intents })
  await next(2, [])
  await waitUntil('the second step', async () => (await answered(port)).includes(first))
  expect(node.overlays().rollouts[0]).toMatchObject({
    state: 'running',
    stepIndex: 1,
    weight: 4_000,
  })
  await next(3, [{ intent: 'pause', atMs: startAtMs + 500 }])
  expect(node.overlays().rollouts[0]).toMatchObject({ state: 'paused', stepIndex: 0, weight: 0 })
  expect(await answered(port)).toBe(second)
  await next(4, [{ intent: 'abort', atMs: Date.now() }])
  expect(node.overlays().rollouts[0]).toMatchObject({ state: 'rolled_back', weight: 4_000 })
  await waitUntil('the weight from before', async () => (await answered(port)).includes(first))
})

test('a node that starts from its disk in the middle of a window keeps it', async () => {
  const dataDir = tempDir('overlays')
  const nowMs = Date.now()
  const windows = [maintenance({ startAtMs: nowMs - 1_000, endAtMs: nowMs + 3_600_000 })]
  const before = await startedNode({ trusted: key, dataDir })
  await before.node.activate(publish(key, modelWith({ windows }), { seq: 1 }))
  await before.stop()
  const { port } = await startedNode({ trusted: key, dataDir })
  expect(await answered(port)).toBe(second)
})

test('a backend that dies under a rollout takes the rollout back', async () => {
  const backend = await startTcpBackend()
  const note = (): void => undefined
  const log = { info: note, warn: note, error: note }
  const verdicts = createMemoryHealthVerdicts()
  const health = createHealthMonitor({ verdicts, log, clock: systemClock })
  const { node, log: lines } = await startedNode({ trusted: key, health })
  const check = { ...healthCheck, type: 'tcp' as const, port: backend.port, intervalMs: 300 }
  const members = [member('127.0.0.1', { weight: 40 }), member('127.0.0.2', { enabled: false })]
  const regressionPolicy = { minHealthScore: 0, minHealthyMembers: 1, maxRttDeltaMs: 0 }
  const steps = [{ weightPct: 10, holdSeconds: 0 }]
  const model = {
    ...modelWith({ rollouts: [rollout({ startAtMs: Date.now() - 1, steps, regressionPolicy })] }),
    pools: [pool(1, members, { healthCheck: check })],
  }
  await node.activate(publish(key, model, { seq: 1 }))
  const shown = () => node.overlays().rollouts[0]!
  await waitUntil('a round trip', () => shown().baselineRttMs !== null)
  expect(shown()).toMatchObject({ state: 'running', weight: 4 })
  await backend.close()
  await waitUntil('the regression', () => shown().state === 'rolled_back')
  expect(shown()).toMatchObject({
    weight: 40,
    reason: 'the pool has 0 healthy members, fewer than 1',
  })
  expect(node.overlays()).toMatchObject({ regressions: 1, events: [{ rollout: { name: 'ramp' } }] })
  const warned = lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
  expect(warned.filter((message) => message.startsWith('rollout rolled back'))).toHaveLength(1)
})

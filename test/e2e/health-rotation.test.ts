// Tests the effect of health on answers, on a node with real sockets: warm-up, minHealthy, signals.
import { afterEach, expect, test } from 'vitest'
import type { BundleModel, MemberModel, PoolModel } from '#bundle/format/model.ts'
import { systemClock } from '#lib/clock.ts'
import { createHealthMonitor } from '#health/view/monitor.ts'
import { createHealthView } from '#health/view/view.ts'
import { createMemoryHealthSignals } from '#state/memory/health-signals.ts'
import { createMemoryHealthVerdicts } from '#test/support/memory-health-verdicts.ts'
import { startTcpBackend } from '#test/support/backend.ts'
import {
  bareModel,
  healthCheck,
  member,
  newSigningKey,
  pool,
  service,
  uid,
  zone,
} from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import { buildNode, publish } from '#test/support/node-under-test.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const deadline = { timeout: 120_000, interval: 10 }
const [old, fresh] = ['127.0.0.1', '127.0.0.2']
const key = newSigningKey()

function modelOf(
  port: number,
  members: Record<string, Partial<MemberModel>>,
  parts = {},
): BundleModel {
  const models = Object.entries(members).map(([address, given], i) =>
    member(address, { uid: uid(0x100 + i), ...given }),
  )
  const check = { ...healthCheck, type: 'tcp' as const, port, intervalMs: 200, timeoutMs: 200 }
  const whole: Partial<PoolModel> = { members: models, healthCheck: check, ...parts }
  const services = [service(1, 'www.test.', { answerCount: 1 })]
  return { ...bareModel, zones: [zone('test.')], pools: [pool(1, [], whole)], services }
}

async function startNode() {
  const silent = (): void => undefined
  const log = { info: silent, warn: silent, error: silent }
  const clock = systemClock
  const signals = createMemoryHealthSignals(clock)
  const local = createHealthMonitor({ verdicts: createMemoryHealthVerdicts(), log, clock })
  const health = createHealthView({
    local,
    signals,
    peers: null,
    policy: 'local-or-global-fallback',
    quorumMinPercent: 51,
    clock,
    after: (delayMs, fn) => {
      const timer = setTimeout(fn, delayMs)
      return () => {
        clearTimeout(timer)
      }
    },
    log,
  })
  const { node } = buildNode({ trusted: key, health })
  const started = await node.start()
  if (!started.ok) throw new Error(started.error)
  cleanups.push(() => node.stop())
  let seq = 0
  const activate = async (model: BundleModel): Promise<void> => {
    const activated = await node.activate(publish(key, model, { seq: ++seq }))
    expect(activated.ok).toBe(true)
  }
  /** The addresses of a few answers, each once. */
  const answers = async (): Promise<string[]> => {
    const seen = new Set<string>()
    for (let i = 0; i < 4; i++) {
      const reply = await ask({ host: '127.0.0.1', port: started.value.port }, 'www.test. A')
      for (const { rdataText } of reply.answer) seen.add(rdataText)
    }
    return [...seen].sort()
  }
  return { activate, answers, signals, local }
}

/** A backend behind both addresses, which counts the probes of each. */
async function startBackend() {
  const probes = new Map<string, number>()
  const backend = await startTcpBackend(
    (socket) => {
      const address = socket.localAddress ?? ''
      probes.set(address, (probes.get(address) ?? 0) + 1)
      socket.on('error', () => undefined).resume()
    },
    0,
    '0.0.0.0',
  )
  cleanups.push(backend.close)
  return { port: backend.port, probes }
}

test('a member that is added is answered after its probes, and not a probe earlier', async () => {
  const { port, probes } = await startBackend()
  const { activate, answers } = await startNode()
  const threshold = 5
  await activate(modelOf(port, { [old]: { warmupThreshold: threshold } }))
  expect(await answers()).toEqual([old])
  const both = { [old]: { warmupThreshold: threshold }, [fresh]: { warmupThreshold: threshold } }
  await activate(modelOf(port, both))
  for (;;) {
    const seen = await answers()
    if ((probes.get(fresh) ?? 0) >= threshold) break
    // So few probes have begun by now, after the answers.
    expect(seen).toEqual([old])
  }
  await expect.poll(answers, deadline).toEqual([old, fresh])
})

test('a pool below minHealthy answers without records until enough members are up', async () => {
  const { port } = await startBackend()
  const { activate, answers, signals } = await startNode()
  await activate(modelOf(port, { [old]: {}, [fresh]: {} }, { minHealthy: 2 }))
  expect(await answers()).toEqual([old, fresh])
  const post = (healthy: boolean, ttlMs: number) => {
    const postedAtMs = systemClock.nowMs()
    const expiresAtMs = postedAtMs + ttlMs
    const source = 'pager'
    return signals.post({
      memberUid: uid(0x101),
      source,
      healthy,
      score: null,
      postedAtMs,
      expiresAtMs,
    })
  }
  await post(false, 60_000)
  expect(await answers()).toEqual([])
  await post(true, 60_000)
  expect(await answers()).toEqual([old, fresh])
  await post(false, 2_000)
  expect(await answers()).toEqual([])
  await expect.poll(answers, deadline).toEqual([old, fresh])
})

test('a round trip time is measured', async () => {
  const { port } = await startBackend()
  const { activate, local } = await startNode()
  await activate(modelOf(port, { [old]: {} }, {}))
  const health = () => local.healthOf(uid(0x100), old)
  await expect.poll(() => health()?.rttMs ?? 0, deadline).toBeGreaterThan(0)
  expect(health()).toMatchObject({ healthy: true, score: 1, knowledge: 'known' })
})

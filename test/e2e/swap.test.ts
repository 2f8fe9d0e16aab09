// A swap under load: no query is lost, none is refused, none meets two generations.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { systemClock } from '#lib/clock.ts'
import { createHealthMonitor } from '#health/view/monitor.ts'
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
import { answerOf, askGeneration, generation, publish } from '#test/support/node-under-test.ts'
import type { NodeOptions } from '#test/support/node-under-test.ts'
import { errorsOf, startedNode } from '#test/support/started-node.ts'
import type { SwapLoad, SwapLoadResult } from '#test/support/swap-load.ts'
import { laneCount, laneRows } from '#test/support/lane.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const key = newSigningKey()
const swaps = laneCount(100, 30)

const start = (options: Partial<NodeOptions> = {}) => startedNode({ trusted: key, ...options })

test.each(laneRows([0, 1, 2], (threads) => threads === 2))(
  `${swaps} swaps under load with %i threads`,
  async (threads) => {
    const { node, log, port } = await start({ threads })
    await node.activate(publish(key, generation(1), { seq: 1 }))
    const stop = new SharedArrayBuffer(4)
    const workerData: SwapLoad = { port, sockets: 6, window: 4, stop }
    const worker = new Worker(new URL('../support/swap-load.ts', import.meta.url), { workerData })
    const finished = once(worker, 'message') as Promise<[SwapLoadResult]>
    onTestFinished(async () => void (await worker.terminate()))
    await waitUntil('the load to begin', () =>
      node.counters().some(({ udpQueries }) => udpQueries > 50),
    )
    for (let seq = 2; seq <= swaps + 1; seq++) {
      expect((await node.activate(publish(key, generation(seq), { seq }))).ok).toBe(true)
      // What is asked after the activation is answered from it, whichever thread gets the query.
      expect(await askGeneration(port)).toBe(answerOf(seq))
    }
    Atomics.store(new Int32Array(stop), 0, 1)
    const [result] = await finished
    expect(result.faults).toEqual([])
    expect(result.answered).toBe(result.asked)
    expect(result.asked).toBeGreaterThan(swaps * 10)
    expect(result.generations).toBeGreaterThan(swaps / 2)
    const refused = node.counters().map(({ byRcode }) => (byRcode[5] ?? 0) + (byRcode[2] ?? 0))
    expect(refused).toEqual(refused.map(() => 0))
    expect(log.filter(({ level }) => level === 'error')).toEqual([])
    expect(node.status()).toMatchObject({ swaps: swaps + 1, active: { seq: swaps + 1 } })
  },
)

/** One pool behind a round robin and a failover service. */
function pooled(
  members: Parameters<typeof pool>[1],
  check: BundleModel['pools'][number]['healthCheck'] = null,
): BundleModel {
  return {
    ...bareModel,
    zones: [zone('test.')],
    pools: [pool(1, members, { healthCheck: check })],
    services: [service(1, 'rr.test.'), service(2, 'fo.test.', { algorithm: 'failover' })],
  }
}

const addressAt = async (port: number, name: string): Promise<string | undefined> =>
  (await ask({ host: '127.0.0.1', port }, `${name} A`)).answer[0]?.rdataText

/** Geo rules of this client's network and of others; each swap gives it the other member. */
function ruled(number: number): BundleModel {
  const members = ['192.0.2.1', '192.0.2.2']
  const rules = Array.from({ length: 100 + (number % 3) }, (_, i) => ({
    start: (i + 60) * 2 ** 24,
    end: (i + 61) * 2 ** 24 - 1,
    endpoints: [members[(i + number) % 2]!],
  }))
  const geoRules = { v4: rules, v6: [] }
  return { ...pooled([]), pools: [pool(1, members, { geoRules })] }
}

test('rules of client networks that change at each swap hold from there on', async () => {
  const { node, port } = await start({ threads: 2 })
  const seen: (string | undefined)[] = []
  for (let seq = 1; seq <= 20; seq++) {
    // Each of them twice: rules that stay, and rules that change.
    const model = { ...ruled(seq >> 1), commit: String(seq) }
    await node.activate(publish(key, model, { seq }))
    const asked = Array.from({ length: 8 }, () => addressAt(port, 'fo.test.'))
    seen.push(...new Set(await Promise.all(asked)))
  }
  // 127.0.0.0/8 is the 67th network.
  const wanted = Array.from(
    { length: 20 },
    (_, i) => ['192.0.2.2', '192.0.2.1'][((i + 1) >> 1) % 2],
  )
  expect(seen).toEqual(wanted)
})

test('new rules come before the threads of a start have taken over the stored ones', async () => {
  const dataDir = tempDir('swap')
  const at = (seq: number) => {
    const model = ruled(seq)
    const { geoRules } = model.pools[0]!
    const others = [2, 3, 4].map((number) => pool(number, ['192.0.2.1', '192.0.2.2'], { geoRules }))
    return publish(key, { ...model, pools: [...model.pools, ...others] }, { seq })
  }
  const first = await start({ threads: 2, dataDir })
  await first.node.activate(at(1))
  await first.stop()
  const { node, port, log } = await start({ threads: 2, dataDir })
  for (let seq = 2; seq <= 4; seq++) {
    expect(await node.activate(at(seq))).toEqual({ ok: true, value: 'activated' })
    expect(await addressAt(port, 'fo.test.')).toBe(['192.0.2.2', '192.0.2.1'][seq % 2])
  }
  expect(errorsOf(log)).toEqual([])
})

test('the rotation goes on where it was', async () => {
  const { node, port } = await start({ threads: 2 })
  const members = (weight: number) =>
    ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => member(address, { weight }))
  const seen: (string | undefined)[] = []
  for (let seq = 1; seq <= 9; seq++) {
    const model = pooled(members(seq))
    // Every third one has a service more, so that the cursors move to other memory.
    const extra = seq % 3 === 0 ? [service(0, 'new.test.')] : []
    await node.activate(
      publish(key, { ...model, services: [...extra, ...model.services] }, { seq }),
    )
    seen.push(await addressAt(port, 'rr.test.'))
  }
  const round = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
  expect(seen).toEqual([...round, ...round, ...round])
})

describe('health', () => {
  /** The first member answers on 127.0.0.1, the second has nobody listening. */
  async function withBackend() {
    const backend = await startTcpBackend()
    onTestFinished(() => backend.close())
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
    const monitor = createHealthMonitor({
      verdicts: createMemoryHealthVerdicts(),
      log,
      clock: systemClock,
    })
    const check = {
      ...healthCheck,
      type: 'tcp' as const,
      port: backend.port,
      intervalMs: 300,
      timeoutMs: 300,
    }
    // The first priority is where nobody listens: failover shows the verdict.
    const ill = member('127.0.0.77', { priority: 1, uid: uid(77) })
    const well = member('127.0.0.1', { priority: 2, uid: uid(78) })
    const { node, port } = await start({ health: monitor })
    await node.activate(publish(key, pooled([ill, well], check), { seq: 1 }))
    await waitUntil('the verdict', async () => (await addressAt(port, 'fo.test.')) === '127.0.0.1')
    return { node, port, ill, well, check }
  }
  /** An hour: what answers now can only come from an old verdict. */
  const slow = { intervalMs: 3_600_000, timeoutMs: 100 }

  test('is kept for a member that stays, whatever else changes', async () => {
    const { node, port, ill, well, check } = await withBackend()
    const edited = [{ ...ill, weight: 9, port: 1, region: 'DE' }, well]
    await node.activate(publish(key, pooled(edited, { ...check, ...slow }), { seq: 2 }))
    expect(await addressAt(port, 'fo.test.')).toBe('127.0.0.1')
    expect(node.memberHealth()).toMatchObject({ healthy: 1, unhealthy: 1, warming: 0 })
  })

  test('is forgotten for a member that got another address', async () => {
    const { node, port, ill, well, check } = await withBackend()
    const moved = [{ ...ill, ipAddress: '127.0.0.99' }, well]
    await node.activate(publish(key, pooled(moved, { ...check, ...slow }), { seq: 2 }))
    expect(await addressAt(port, 'fo.test.')).toBe('127.0.0.99')
  })

  test('means nothing once the pool has no check', async () => {
    const { node, port, ill, well } = await withBackend()
    await node.activate(publish(key, pooled([ill, well]), { seq: 2 }))
    expect(await addressAt(port, 'fo.test.')).toBe('127.0.0.77')
    expect(node.memberHealth()).toMatchObject({ healthy: 2, unhealthy: 0, warming: 0 })
  })
})

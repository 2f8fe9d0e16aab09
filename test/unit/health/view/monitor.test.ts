import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { createHealthMonitor } from '#health/view/monitor.ts'
import type { HealthMonitor, HealthMonitorParts, VerdictChange } from '#health/view/monitor.ts'
import { spawnHealthWorker } from '#health/thread/worker-keeper.ts'
import { createMemoryHealthVerdicts } from '../../../support/memory-health-verdicts.ts'
import { startHttpBackend, startTcpBackend } from '../../../support/backend.ts'
import type { Backend } from '../../../support/backend.ts'
import { probeTarget } from '../check.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function use<B extends Backend>(starting: Promise<B>): Promise<B> {
  const backend = await starting
  cleanups.push(() => backend.close())
  return backend
}

interface World {
  readonly monitor: HealthMonitor
  readonly changes: VerdictChange[]
  readonly lines: string[]
}

function startMonitor(given: Partial<HealthMonitorParts> = {}): World {
  const lines: string[] = []
  const note = (_fields: object, message: string): void => void lines.push(message)
  const log: Log = { info: note, warn: note, error: note }
  const verdicts = createMemoryHealthVerdicts()
  const monitor = createHealthMonitor({ verdicts, log, clock: systemClock, ...given })
  const changes: VerdictChange[] = []
  monitor.onChange((batch) => changes.push(...batch))
  monitor.start()
  cleanups.push(() => monitor.stop())
  return { monitor, changes, lines }
}

const deadline = { timeout: 120_000, interval: 10 }
const quick = { intervalMs: 100, timeoutMs: 10_000 }

describe('the health monitor', () => {
  test('follows a backend down and up again, and stores each change', async () => {
    const backend = await use(startHttpBackend())
    const verdicts = createMemoryHealthVerdicts()
    const { monitor, changes } = startMonitor({ verdicts })
    monitor.setTargets([probeTarget('m1', { ...quick, type: 'http', port: backend.port })])
    expect(monitor.verdictOf('m1', '127.0.0.1')).toBe(true)
    expect(monitor.verdictOf('m1', '127.0.0.2')).toBeUndefined()
    await expect.poll(() => backend.connectionCount(), deadline).toBeGreaterThan(2)
    expect(changes).toEqual([])

    backend.answer((_request, response) => response.writeHead(503).end())
    await expect.poll(() => monitor.verdictOf('m1', '127.0.0.1'), deadline).toBe(false)
    expect(changes).toMatchObject([{ healthy: false, reason: 'HTTP 503, expected 200' }])
    expect(await verdicts.load()).toMatchObject([{ memberUid: 'm1', healthy: false }])

    backend.answer((_request, response) => response.end())
    await expect.poll(() => monitor.verdictOf('m1', '127.0.0.1'), deadline).toBe(true)
    await expect.poll(async () => (await verdicts.load())[0]?.healthy, deadline).toBe(true)
    expect(changes.length).toBe(2)
    expect(monitor.stats().probes.http.failure).toBeGreaterThan(0)
    expect(monitor.stats().probes.http.success).toBeGreaterThan(1)
  })

  test('keeps verdicts over a swap, and over an edit of the check', async () => {
    const backend = await use(startHttpBackend())
    backend.answer((_request, response) => response.writeHead(500).end())
    const { monitor, changes } = startMonitor()
    const target = probeTarget('m1', { ...quick, type: 'http', port: backend.port })
    monitor.setTargets([target])
    await expect.poll(() => monitor.verdictOf('m1', '127.0.0.1'), deadline).toBe(false)
    monitor.setTargets([target, probeTarget('m2', { ...quick, port: backend.port })])
    expect(monitor.verdictOf('m1', '127.0.0.1')).toBe(false)
    monitor.setTargets([probeTarget('m1', { ...quick, intervalMs: 60_000, port: backend.port })])
    expect(monitor.verdictOf('m1', '127.0.0.1')).toBe(false)
    expect(changes.length).toBe(1)
  })

  test('stops probing a member that is gone, and forgets what was stored of it', async () => {
    const backend = await use(startTcpBackend((socket) => socket.resume()))
    const verdicts = createMemoryHealthVerdicts()
    await verdicts.save([
      { memberUid: 'm1', ipAddress: '127.0.0.1', healthy: false, warming: false, atMs: 1 },
    ])
    const { monitor } = startMonitor({ verdicts })
    const other = await use(startTcpBackend((socket) => socket.resume()))
    const stays = probeTarget('m2', { ...quick, port: other.port })
    monitor.setTargets([probeTarget('m1', { ...quick, port: backend.port }), stays])
    await expect.poll(() => backend.connectionCount(), deadline).toBeGreaterThan(3)
    monitor.setTargets([stays])
    expect(monitor.verdictOf('m1', '127.0.0.1')).toBeUndefined()
    await expect.poll(() => monitor.stats().targets, deadline).toBe(1)
    const count = backend.connectionCount()
    const until = other.connectionCount() + 5
    await expect.poll(() => other.connectionCount(), deadline).toBeGreaterThan(until)
    expect(backend.connectionCount()).toBe(count)
    expect(await verdicts.load()).toEqual([])
  })

  test('begins with the stored verdicts, and tells those that are not healthy', async () => {
    const { port } = await use(startTcpBackend())
    const verdicts = createMemoryHealthVerdicts()
    await verdicts.save([
      { memberUid: 'm1', ipAddress: '127.0.0.1', healthy: false, warming: false, atMs: 7 },
    ])
    const { monitor, changes } = startMonitor({ verdicts })
    monitor.setTargets([
      probeTarget('m1', { ...quick, port }),
      probeTarget('m2', { ...quick, port }),
    ])
    await expect
      .poll(() => changes.map((change) => change.healthy), deadline)
      .toEqual([false, true])
    expect(changes[0]).toMatchObject({ atMs: 7, reason: 'unhealthy before the restart' })
    expect(monitor.verdictOf('m2', '127.0.0.1')).toBe(true)
  })

  test('goes on when the store can neither be read nor written', async () => {
    const away = (): Promise<never> => Promise.reject(new Error('no connection'))
    const verdicts = { load: away, save: away, forget: away }
    const backend = await use(startTcpBackend())
    const { monitor, lines } = startMonitor({ verdicts })
    monitor.setTargets([probeTarget('m1', { ...quick, port: backend.port })])
    await expect.poll(() => backend.connectionCount(), deadline).toBeGreaterThan(0)
    await backend.close()
    cleanups.splice(0, 1)
    await expect.poll(() => monitor.verdictOf('m1', '127.0.0.1'), deadline).toBe(false)
    await expect
      .poll(() => lines, deadline)
      .toEqual([
        'stored health verdicts could not be read; every member counts as healthy until probed',
        'member is unhealthy',
        'health verdicts could not be stored; probing goes on, the write is retried',
      ])
  })

  test('warns once of a check that verifies no certificate, and again when it is back', () => {
    const { monitor, lines } = startMonitor()
    const check = { type: 'http', tls: true, insecureSkipVerify: true, port: 9 } as const
    const [m1, m2] = [probeTarget('m1', check), probeTarget('m2', check)]
    const plain = probeTarget('m3', { ...check, tls: false })
    monitor.setTargets([m1, m2, plain])
    monitor.setTargets([m2, m1])
    expect(lines.filter((line) => line.includes('insecureSkipVerify')).length).toBe(1)
    monitor.setTargets([])
    monitor.setTargets([m1])
    expect(lines.filter((line) => line.includes('insecureSkipVerify')).length).toBe(2)
  })

  test('sums up a storm of changes in the log', async () => {
    const { port } = await use(startTcpBackend())
    const many = Array.from({ length: 200 }, (_, i) => `m${i}`)
    const verdicts = createMemoryHealthVerdicts()
    const stored = many.map((memberUid) => ({
      memberUid,
      ipAddress: '127.0.0.1',
      healthy: false,
      warming: false,
      atMs: 1,
    }))
    await verdicts.save(stored)
    const { monitor, lines, changes } = startMonitor({ verdicts })
    monitor.setTargets(many.map((uid) => probeTarget(uid, { port, intervalMs: 60_000 })))
    await expect.poll(() => changes.length, deadline).toBeGreaterThanOrEqual(200)
    expect(lines.filter((line) => line === 'member is unhealthy').length).toBe(20)
    expect(lines).toContain('more members changed their health')
  })
})

test('a result found before a member was removed does not count for its next life', async () => {
  // A worker that answers late: with the third set in hand it tells what it found under each.
  const late = `
    const { parentPort } = require('node:worker_threads')
    const stats = { targets: 0, inFlight: 0, late: 0, probes: {
      tcp: { success: 0, failure: 0, timeout: 0, 'local-error': 0 },
      http: { success: 0, failure: 0, timeout: 0, 'local-error': 0 } } }
    const tell = (generation, memberUid) => parentPort.postMessage({
      kind: 'results', generation, confirmed: [], measures: [], stats, changes: [{
        memberUid, ipAddress: '127.0.0.1', healthy: false, rttMs: 0, reason: 'late', atMs: 1 }] })
    parentPort.on('message', (message) => {
      if (message.kind === 'stop') parentPort.close()
      if (message.generation !== 3) return
      tell(1, 'm1'); tell(2, 'm1'); tell(1, 'gone'); tell(2, 'stays')
    })`
  const { monitor, changes } = startMonitor({ spawn: () => new Worker(late, { eval: true }) })
  const [m1, gone, stays] = ['m1', 'gone', 'stays'].map((uid) => probeTarget(uid))
  monitor.setTargets([m1!, gone!, stays!])
  monitor.setTargets([stays!])
  monitor.setTargets([m1!, stays!])
  await expect.poll(() => changes.length, deadline).toBeGreaterThan(0)
  expect(changes.map((change) => change.memberUid)).toEqual(['stays'])
  expect(monitor.verdictOf('m1', '127.0.0.1')).toBe(true)
  expect(monitor.verdictOf('gone', '127.0.0.1')).toBeUndefined()
})

describe('when the worker ends by itself', () => {
  test('the verdicts stand, a new one takes them over, and the counters go on', async () => {
    const backend = await use(startHttpBackend())
    backend.answer((_request, response) => response.writeHead(500).end())
    const workers: Worker[] = []
    const spawn = (): Worker => {
      const worker = spawnHealthWorker()
      workers.push(worker)
      return worker
    }
    const { monitor, changes, lines } = startMonitor({ spawn })
    monitor.setTargets([probeTarget('m1', { ...quick, type: 'http', port: backend.port })])
    await expect.poll(() => monitor.verdictOf('m1', '127.0.0.1'), deadline).toBe(false)
    await expect.poll(() => monitor.stats().probes.http.failure, deadline).toBeGreaterThan(0)
    const failures = monitor.stats().probes.http.failure
    await workers[0]!.terminate()
    expect(monitor.verdictOf('m1', '127.0.0.1')).toBe(false)
    expect(monitor.stats().probes.http.failure).toBe(failures)
    const count = backend.connectionCount()
    await expect.poll(() => backend.connectionCount(), deadline).toBeGreaterThan(count + 2)
    expect([workers.length, monitor.stats().workerRestarts]).toEqual([2, 1])
    // The new worker took the member as unhealthy: its failures were no change.
    expect(changes.length).toBe(1)
    expect(lines).toContain('the health worker ended; the last verdicts stand until it is back')

    backend.answer((_request, response) => response.end())
    await expect.poll(() => monitor.verdictOf('m1', '127.0.0.1'), deadline).toBe(true)
    await expect.poll(() => monitor.stats().probes.http.failure, deadline).toBeGreaterThan(failures)
  })

  test('restarts it more slowly each time', async () => {
    const endings: number[] = []
    const spawn = (): Worker => {
      const worker = spawnHealthWorker()
      worker.once('online', () => {
        endings.push(performance.now())
        void worker.terminate()
      })
      return worker
    }
    startMonitor({ spawn })
    await expect.poll(() => endings.length, deadline).toBe(4)
    const gaps = endings.slice(1).map((time, i) => time - endings[i]!)
    for (const [i, gapMs] of gaps.entries()) expect(gapMs).toBeGreaterThanOrEqual(99 * 2 ** i)
  })

  test('stop does not wait for it, nor start another', async () => {
    let spawned = 0
    const ended = Promise.withResolvers<void>()
    const spawn = (): Worker => {
      spawned++
      const worker = spawnHealthWorker()
      worker.once('exit', () => {
        ended.resolve()
      })
      void worker.terminate()
      return worker
    }
    const { monitor } = startMonitor({ spawn })
    await ended.promise
    await monitor.stop()
    expect(spawned).toBe(1)
  })
})

// The demo backends under the health monitor: what a reader of the quick start does, by machine.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { startDemoBackends } from '#node/quickstart/demo-backends.ts'
import type { DemoBackends } from '#node/quickstart/demo-backends.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { createHealthMonitor } from '#health/view/monitor.ts'
import type { MonitoredTarget, VerdictChange } from '#health/view/monitor.ts'
import { healthCheck } from '#test/support/bundle-models.ts'
import { freePort } from '#test/support/free-port.ts'
import { createMemoryHealthVerdicts } from '#test/support/memory-health-verdicts.ts'
import { startTcpBackend } from '#test/support/backend.ts'
import { onlyLong } from '#test/support/lane.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const deadline = { timeout: 120_000, interval: 10 }
const addresses = ['127.0.0.11', '127.0.0.12', '127.0.0.13']
const intervalMs = 500
/** Longer than a backend that is well is kept waiting for a core. */
const timeoutMs = 4_000

async function startDemo(): Promise<DemoBackends> {
  const started = await startDemoBackends(addresses, await freePort())
  if (!started.ok) throw new Error(started.error)
  cleanups.push(started.value.stop)
  return started.value
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function targetsOf(demo: DemoBackends): MonitoredTarget[] {
  return demo.backends.map(({ address, port }) => ({
    memberUid: address,
    ipAddress: address,
    checkKey: 'demo',
    pool: 'demo',
    warmupThreshold: 0,
    check: {
      ...healthCheck,
      port,
      intervalMs,
      timeoutMs,
      httpPath: '/healthz',
      httpContains: 'ok',
    },
  }))
}

test('a backend that fails, hangs or dies is seen, and seen to return', async () => {
  const demo = await startDemo()
  const note = (): void => undefined
  const log: Log = { info: note, warn: note, error: note }
  const verdicts = createMemoryHealthVerdicts()
  const monitor = createHealthMonitor({ verdicts, log, clock: systemClock })
  cleanups.push(() => monitor.stop())
  const changes: VerdictChange[] = []
  monitor.onChange((batch) => changes.push(...batch))
  monitor.start()
  monitor.setTargets(targetsOf(demo))
  await expect.poll(() => monitor.stats().probes.http.success, deadline).toBeGreaterThanOrEqual(6)
  expect(changes).toEqual([])

  const [first] = demo.backends
  const { address, port, pid } = first!
  const tell = async (path: string): Promise<unknown> =>
    (await fetch(`http://${address}:${port}${path}`, { method: 'POST' })).text()
  const steps: [() => unknown, boolean, string][] = [
    [() => tell('/down'), false, 'HTTP 503, expected 200'],
    [() => tell('/up'), true, ''],
    [() => process.kill(pid, 'SIGSTOP'), false, `no result within ${timeoutMs} ms`],
    [() => process.kill(pid, 'SIGCONT'), true, ''],
    [() => process.kill(pid, 'SIGKILL'), false, 'connection refused'],
  ]
  for (const [i, [act, healthy, reason]] of steps.entries()) {
    await act()
    await expect.poll(() => changes.length, deadline).toBe(i + 1)
    expect(changes[i]).toMatchObject({ memberUid: address, healthy, reason })
  }
})

test('the demo backends answer with their own address and end when asked', async () => {
  const demo = await startDemo()
  for (const { address, port, pid, hint } of demo.backends) {
    expect(await (await fetch(`http://${address}:${port}/`)).text()).toBe(`${address}\n`)
    expect((await fetch(`http://${address}:${port}/healthz`)).status).toBe(200)
    expect((await fetch(`http://${address}:${port}/other`)).status).toBe(404)
    expect(hint).toBe(`curl -X POST http://${address}:${port}/down (or /up; or kill ${pid})`)
  }
  process.kill(demo.backends[0]!.pid, 'SIGSTOP')
  await demo.stop()
  expect(demo.backends.map(({ pid }) => isAlive(pid))).toEqual([false, false, false])
})

test('a port in use is told with the address, and nothing is left running', async () => {
  const taken = await startTcpBackend(undefined, 0, '127.0.0.12')
  cleanups.push(taken.close)
  const started = await startDemoBackends(addresses, taken.port)
  expect(started).toEqual({
    ok: false,
    error:
      `the demo backend 127.0.0.12:${taken.port} did not start: ` +
      'the port is in use, perhaps by another quick start; end the program that holds it',
  })
  await expect(fetch(`http://127.0.0.11:${taken.port}/`)).rejects.toThrow('fetch failed')
})

onlyLong(() => {
  test('the demo backends end with a parent that is killed', async () => {
    const parentScript = `
    import { startDemoBackends } from '#node/quickstart/demo-backends.ts'
    const started = await startDemoBackends(['127.0.0.11', '127.0.0.12'], ${await freePort()})
    console.log(JSON.stringify(started.ok ? started.value.backends.map((b) => b.pid) : started))`
    const args = ['--input-type=module', '--eval', parentScript]
    const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(parent, 'exit')
    const [words] = (await Promise.race([once(parent.stdout, 'data'), exited])) as [Buffer]
    const pids = JSON.parse(words.toString()) as number[]
    expect(pids.map(isAlive)).toEqual([true, true])
    parent.kill('SIGKILL')
    await exited
    await expect.poll(() => pids.map(isAlive), deadline).toEqual([false, false])
  })
})

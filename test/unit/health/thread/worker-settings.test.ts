// The probes as a node runs them: in the health thread, with what its settings allow.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { createHealthMonitor } from '#health/view/monitor.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import { defaultProbeSettings } from '#health/probes/probe-settings.ts'
import type { ProbeSettings } from '#health/probes/probe-settings.ts'
import { spawnHealthWorker } from '#health/thread/worker-keeper.ts'
import { createMemoryHealthVerdicts } from '../../../support/memory-health-verdicts.ts'
import { startHttpBackend } from '../../../support/backend.ts'
import { tempDir } from '../../../support/temp-dir.ts'
import { probeTarget } from '../check.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function startMonitor(settings: Partial<ProbeSettings>): {
  readonly monitor: HealthMonitor
  readonly lines: string[]
} {
  const lines: string[] = []
  const note = (_fields: object, message: string): void => void lines.push(message)
  const monitor = createHealthMonitor({
    verdicts: createMemoryHealthVerdicts(),
    log: { info: note, warn: note, error: note },
    clock: systemClock,
    spawn: () => spawnHealthWorker({ ...defaultProbeSettings, ...settings }),
  })
  monitor.start()
  cleanups.push(() => monitor.stop())
  return { monitor, lines }
}

const deadline = { timeout: 120_000, interval: 10 }
const quick = { intervalMs: 100, timeoutMs: 10_000 }

test('where both are allowed, a script and a webhook decide, as an echo does', async () => {
  const backend = await startHttpBackend()
  cleanups.push(() => backend.close())
  backend.answer((_request, response) => response.writeHead(503).end())
  const { monitor } = startMonitor({
    allowScriptChecks: true,
    webhookAllowedHosts: ['127.0.0.0/8'],
    environment: { VERDICT: '1' },
  })
  const webhookURL = `http://127.0.0.1:${backend.port}/`
  monitor.setTargets([
    probeTarget('script', { ...quick, type: 'script', scriptContent: 'exit $VERDICT' }),
    probeTarget('webhook', { ...quick, type: 'webhook', webhookURL }),
    probeTarget('icmp', { ...quick, type: 'icmp' }),
  ])
  const verdictOf = (uid: string) => monitor.verdictOf(uid, '127.0.0.1')
  await expect.poll(() => verdictOf('script'), deadline).toBe(false)
  await expect.poll(() => verdictOf('webhook'), deadline).toBe(false)
  await expect.poll(() => monitor.stats().probes.icmp.success, deadline).toBeGreaterThan(0)
  expect(verdictOf('icmp')).toBe(true)
  backend.answer((_request, response) => response.end())
  await expect.poll(() => verdictOf('webhook'), deadline).toBe(true)
})

test('where neither is allowed, no script runs and no internal webhook is asked', async () => {
  const backend = await startHttpBackend()
  cleanups.push(() => backend.close())
  const { monitor, lines } = startMonitor({})
  const ran = join(tempDir(), 'ran')
  const webhookURL = `http://127.0.0.1:${backend.port}/`
  const scriptContent = `touch ${ran}; exit 1`
  monitor.setTargets([
    probeTarget('script', { ...quick, type: 'script', scriptContent }),
    probeTarget('webhook', { ...quick, type: 'webhook', webhookURL }),
  ])
  const verdictOf = (uid: string) => monitor.verdictOf(uid, '127.0.0.1')
  await expect.poll(() => verdictOf('webhook'), deadline).toBe(false)
  await expect.poll(() => monitor.stats().probes.script.success, deadline).toBeGreaterThan(1)
  expect([verdictOf('script'), existsSync(ran), backend.connectionCount()]).toEqual([
    true,
    false,
    0,
  ])
  expect(lines.filter((line) => line.includes('health.allowScriptChecks is false')).length).toBe(1)
})

// Checks the metrics of a node, and the alert rules under deploy/, with Prometheus' own tool.
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { metricRows } from '#metrics/table.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const rules = join(import.meta.dirname, '../../deploy/prometheus')
const { start } = useDaemons()
let site: Site
let daemon: DaemonProcess

beforeAll(async () => {
  site = await Site.make('prometheus')
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
  const isServed = async () =>
    (await daemon.answers('www.example.com. A'))[0]?.includes('192.0.2.1')
  await waitUntil('the first bundle', isServed)
})
afterAll(() => site.remove())

test('promtool finds nothing in the metrics of a node', async () => {
  await daemon.get('/api/v1/health')
  const metrics = await daemon.get('/metrics')
  const run = spawnSync('promtool', ['check', 'metrics'], { input: metrics, encoding: 'utf8' })
  expect(run.stdout + run.stderr).toBe('')
  expect(run.status).toBe(0)
})

test('the metrics have the histogram of answers, and the members of the pool', async () => {
  const metrics = await daemon.get('/metrics')
  expect(metrics).toContain('# TYPE gslbd_dns_answer_seconds histogram')
  expect(metrics).toMatch(/^gslbd_dns_answer_seconds_count [1-9]/m)
  expect(metrics).toContain('gslbd_pool_members{tenant="default",pool="web",health="healthy"} 1')
  expect(metrics).toMatch(/^gslbd_build_info\{version="[^"]+",node="[^"]+"\} 1$/m)
  for (const { name } of metricRows) {
    expect([name, metrics.includes(`# TYPE ${name} `)]).toEqual([name, true])
  }
})

test('the alert rules are well formed, and fire when their cases say', () => {
  const run = (...args: string[]) =>
    execFileSync('promtool', args, { cwd: rules, encoding: 'utf8' })
  expect(run('check', 'rules', 'alerts.yaml')).toContain('SUCCESS')
  expect(run('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS')
})

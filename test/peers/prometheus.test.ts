// Checks the metrics of a node, and alert rules and boards under deploy/, with Prometheus itself.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { metricRows } from '#metrics/table.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { freePort } from '#test/support/free-port.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const deploy = join(import.meta.dirname, '../../deploy')
const rules = join(deploy, 'prometheus')
const { start } = useDaemons()
let site: Site
let daemon: DaemonProcess

beforeAll(async () => {
  // Nobody listens there: exemplars do not need a collector that works.
  site = await Site.make('prometheus', { telemetry: { otlp: { url: 'http://127.0.0.1:9' } } })
  site.trustNode()
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

test('each query of the boards is PromQL', () => {
  const folder = join(deploy, 'grafana')
  const queries = readdirSync(folder).flatMap((file) => {
    const { panels } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      panels: { targets: { expr: string }[] }[]
    }
    return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  })
  expect(queries.length).toBeGreaterThan(20)
  const checked = queries.map((expr, i) => ({ record: `query:${i}`, expr }))
  const file = join(site.path, 'boards.yaml')
  const check = (list: readonly object[]) => {
    // JSON is valid YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'boards', rules: list }] }))
    return spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })
  }
  const run = check(checked)
  expect(run.stderr + run.stdout).toContain(`SUCCESS: ${queries.length} rules found`)
  expect(check([...checked, { record: 'query:wrong', expr: 'rate(a[5m]' }]).status).not.toBe(0)
})

test('Prometheus scrapes OpenMetrics, and keeps the trace of a write as exemplar', async () => {
  const body = { name: 'traced' }
  const made = await callApi(daemon, 'POST', '/pools', { body })
  expect(made.status).toBe(201)
  const traceId = String(made.headers['x-gslb-revision']).slice(0, 32)
  const port = await freePort()
  const config = join(site.path, 'prometheus.yaml')
  const target = `127.0.0.1:${daemon.apiPort}`
  const job = { job_name: 'gslbd', static_configs: [{ targets: [target] }] }
  const global = { scrape_interval: '1s', scrape_timeout: '1s' }
  writeFileSync(config, JSON.stringify({ global, scrape_configs: [job] }))
  const prometheus = spawn(
    'prometheus',
    [
      ...[`--config.file=${config}`, `--storage.tsdb.path=${join(site.path, 'tsdb')}`],
      ...[`--web.listen-address=127.0.0.1:${port}`, '--enable-feature=exemplar-storage'],
    ],
    { stdio: 'ignore' },
  )
  onTestFinished(async () => {
    prometheus.kill('SIGKILL')
    await once(prometheus, 'exit')
  })
  const ask = async <T>(path: string): Promise<T | undefined> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => undefined)
    return response?.ok === true ? ((await response.json()) as { data: T }).data : undefined
  }
  const query = encodeURIComponent('gslbd_api_write_seconds_bucket')
  const window = `start=${Date.now() / 1_000 - 600}&end=${Date.now() / 1_000 + 600}`
  interface Found {
    readonly exemplars: readonly { readonly labels: { readonly trace_id: string } }[]
  }
  const ids = await waitUntil('the exemplar', async () => {
    const found = await ask<readonly Found[]>(`query_exemplars?query=${query}&${window}`)
    const all = found?.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id))
    return all !== undefined && all.length > 0 ? all : undefined
  })
  expect(ids).toContain(traceId)
  interface Targets {
    readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[]
  }
  const targets = await ask<Targets>('targets')
  expect(targets?.activeTargets).toMatchObject([{ health: 'up', lastError: '' }])
  // A counter has the same name in both formats.
  const counted = await ask<{ result: unknown[] }>('query?query=gslbd_trace_spans_total')
  expect(counted?.result.length).toBe(3)
})

// Measures the cost of probing: CPU and memory of monitor and worker, for N targets every 10 s.
// Run: node bench/health.bench.ts            all rows, about 100 seconds
//      node bench/health.bench.ts http 3000  one row
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { systemClock } from '#lib/clock.ts'
import { createHealthMonitor } from '#health/view/monitor.ts'
import type { HealthStats } from '#health/view/monitor.ts'
import { createMemoryHealthVerdicts } from '#test/support/memory-health-verdicts.ts'
import { testCertificate } from '#test/support/backend.ts'
import { intervalMs, kinds, targetsOf } from './data/probe-targets.ts'
import type { Kind } from './data/probe-targets.ts'

const rampMs = 2_500
const measuredMs = 10_000

const rows: readonly (readonly [Kind, number])[] = [
  ['tcp', 30_000],
  ['http', 3_000],
  ['http', 10_000],
  ['http', 30_000],
  ['https', 3_000],
  ['http-hang', 30_000],
  ['icmp', 10_000],
]

interface Row {
  readonly kind: Kind
  readonly targets: number
  readonly probes: number
  readonly failed: number
  readonly late: number
  readonly inFlight: number
  readonly userCores: number
  readonly systemCores: number
  readonly rssMb: number
  readonly mainDelayP99Ms: number
}

const reply = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n')

/**
 * Backends in a process of their own, whose cost is not counted. Three ports: one answers, one
 * hangs, one answers over TLS.
 */
async function serveBackends(): Promise<void> {
  const quiet = (socket: Socket): Socket => socket.on('error', () => undefined)
  const answering = createTcpServer((socket) => {
    quiet(socket).once('data', () => socket.end(reply))
  })
  const hanging = createTcpServer((socket) => void quiet(socket).resume())
  const ports: number[] = []
  const { key, cert } = testCertificate('named')
  const encrypted = createTlsServer({ key, cert }, (socket) => {
    quiet(socket).once('data', () => socket.end(reply))
  })
  for (const server of [answering, hanging, encrypted]) {
    server.listen(0, '0.0.0.0', 4_096)
    await once(server, 'listening')
    ports.push((server.address() as AddressInfo).port)
  }
  process.stdout.write(JSON.stringify(ports))
  process.stdin.resume().once('close', () => process.exit())
}

function totals(stats: HealthStats): { probes: number; failed: number } {
  let [probes, failed] = [0, 0]
  for (const counts of Object.values(stats.probes)) {
    for (const [outcome, count] of Object.entries(counts)) {
      probes += count
      if (outcome !== 'success') failed += count
    }
  }
  return { probes, failed }
}

async function measure(kind: Kind, count: number, ports: number[]): Promise<Row> {
  const silent = (): void => undefined
  const log = { info: silent, warn: silent, error: silent }
  const verdicts = createMemoryHealthVerdicts()
  const monitor = createHealthMonitor({ verdicts, log, clock: systemClock })
  monitor.start()
  monitor.setTargets(targetsOf(kind, count, ports))
  await sleep(rampMs)
  const before = { ...totals(monitor.stats()), late: monitor.stats().late }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const cpu = process.cpuUsage()
  const startedMs = performance.now()
  let rssMb = 0
  while (performance.now() - startedMs < measuredMs) {
    await sleep(100)
    rssMb = Math.max(rssMb, process.memoryUsage.rss() / 1_048_576)
  }
  const tookUs = (performance.now() - startedMs) * 1_000
  const { user, system } = process.cpuUsage(cpu)
  const stats = monitor.stats()
  const after = totals(stats)
  await monitor.stop()
  return {
    kind,
    targets: count,
    probes: after.probes - before.probes,
    failed: after.failed - before.failed,
    late: stats.late - before.late,
    inFlight: stats.inFlight,
    userCores: user / tookUs,
    systemCores: system / tookUs,
    rssMb,
    mainDelayP99Ms: delay.percentile(99) / 1e6,
  }
}

async function runRows(asked: readonly (readonly [Kind, number])[]): Promise<void> {
  const script = fileURLToPath(import.meta.url)
  const backends = spawn(process.execPath, [script, 'backends'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [ports] = (await once(backends.stdout, 'data')) as [Buffer]
  process.stdout.write(
    `${measuredMs / 1_000} s per row; each target every 90 to 100 % of ${intervalMs} ms\n\n` +
      '| probe | targets | probes | failed | late | in flight | cores (user + system) ' +
      '| µs CPU per probe | RSS MB | main loop p99 ms |\n' +
      '|---|---|---|---|---|---|---|---|---|---|\n',
  )
  for (const [kind, count] of asked) {
    const args = [script, 'measure', kind, String(count), ports.toString()]
    const row = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Row
    const cores = row.userCores + row.systemCores
    const perProbeUs = (cores * measuredMs * 1_000) / row.probes
    const cells = [
      row.kind,
      row.targets,
      row.probes,
      row.failed,
      row.late,
      row.inFlight,
      `${cores.toFixed(2)} (${row.userCores.toFixed(2)} + ${row.systemCores.toFixed(2)})`,
      perProbeUs.toFixed(0),
      row.rssMb.toFixed(0),
      row.mainDelayP99Ms.toFixed(1),
    ]
    process.stdout.write(`| ${cells.join(' | ')} |\n`)
  }
  backends.kill()
}

function kindOf(name: string | undefined): Kind {
  const kind = kinds.find((known) => known === name)
  if (kind === undefined) throw new Error(`the kinds of rows are ${kinds.join(', ')}`)
  return kind
}

const [mode, ...args] = process.argv.slice(2)
if (mode === undefined) {
  await runRows(rows)
} else if (mode === 'backends') {
  await serveBackends()
} else if (mode === 'measure') {
  const [name, count, ports = '[]'] = args
  const row = await measure(kindOf(name), Number(count), JSON.parse(ports) as number[])
  process.stdout.write(JSON.stringify(row))
} else {
  await runRows([[kindOf(mode), Number(args[0] ?? 3_000)]])
}

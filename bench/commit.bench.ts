// Measures the time from a signed commit to the changed answer: the real daemon, the real git,
// small and big repositories.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '#test/support/wait-until.ts'
import { fixed, mib } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import { ConfigRepository, probeName } from './servers/config-repository.ts'
import { processTree, residentBytes } from './support/process-cpu.ts'
import { nodeFlags, startProgram } from './servers/program.ts'
import type { Program } from './servers/program.ts'
import { answersWith, QueryClient } from './load/query-client.ts'
import { median, range } from './support/statistics.ts'

const main = fileURLToPath(import.meta.resolve('#cli/main.ts'))
const sizes = [
  { name: 'small', services: 20 },
  { name: 'ten-thousand', services: 10_000 },
] as const

/** Milliseconds from each of these moments to the answer. */
interface Change {
  readonly fromCommit: number
  readonly fromPush: number
  readonly fromReturn: number
}

export async function runCommit(context: BenchContext): Promise<Report> {
  const rows: string[][] = []
  const figures: Record<string, Figure> = {}
  for (const { name, services } of sizes) {
    const { first, changes, memoryBytes } = await measure(context, name, services)
    const of = (pick: (change: Change) => number): number[] => changes.map(pick)
    rows.push([
      String(services + Math.ceil(services / 10) + 3),
      fixed(first, 0),
      String(changes.length),
      fixed(median(of(({ fromReturn }) => fromReturn)), 0),
      range(
        of(({ fromReturn }) => fromReturn),
        0,
      ),
      fixed(median(of(({ fromPush }) => fromPush)), 0),
      fixed(median(of(({ fromCommit }) => fromCommit)), 0),
      range(
        of(({ fromCommit }) => fromCommit),
        0,
      ),
      mib(memoryBytes),
    ])
    const n = changes.length
    const afterPush = of(({ fromReturn }) => fromReturn)
    figures[`commit.${name}.after-push`] = { value: median(afterPush), unit: 'ms', n }
    const whole = of(({ fromCommit }) => fromCommit)
    figures[`commit.${name}.whole`] = { value: median(whole), unit: 'ms', n }
  }
  const columns = ['files', 'first commit ms', 'n', 'after push ms', 'after push min-max']
  return {
    tables: [
      {
        title: 'From a signed commit to the changed answer, local origin',
        columns: [
          ...columns,
          'from push ms',
          'from commit ms',
          'from commit min-max',
          'memory MiB',
        ],
        rows,
        notes: [
          'after push: since `git push` has returned (below 0: the answer was there before); from push, from commit: since these began',
          'git itself takes part of the time: signing, writing, the push',
          'first commit: the whole tree, since its push has returned; memory: the daemon, afterwards',
          'the answer is asked for over UDP every millisecond; signatures are required; health checks are off',
        ],
      },
    ],
    figures,
  }
}

async function measure(
  { isQuick, directory, say }: BenchContext,
  name: string,
  services: number,
): Promise<{ first: number; changes: Change[]; memoryBytes: number }> {
  const home = join(directory, name)
  const dataDir = join(home, 'data')
  mkdirSync(dataDir, { recursive: true })
  const repository = new ConfigRepository(home)
  writeFileSync(join(dataDir, 'allowed_signers'), await repository.makeKey())
  const settings = join(home, 'gslbd.yaml')
  writeFileSync(settings, 'dns: { listenAddr: 127.0.0.1, port: 0, threads: 1 }\n')
  const args = [...nodeFlags, main, 'serve', '--settings', settings, '--data-dir', dataDir]
  const daemon = startProgram(process.execPath, args)
  let client: QueryClient | undefined
  try {
    client = new QueryClient(await portOf(daemon))
    await client.open()
    const origin = join(dataDir, 'config.git')
    // The daemon makes it in a thread, possibly after it reports that it runs.
    await waitUntil('the origin', () => existsSync(join(origin, 'HEAD')))
    await repository.open(origin)
    say(`${services} services: first commit`)
    repository.writeMany(services, '192.0.2.1')
    const answered = client.waitFor(probeName, answersWith('192.0.2.1'), { patienceMs: 120_000 })
    const [firstMs, { pushedMs }] = await Promise.all([answered, repository.commitAndPush(['.'])])
    const first = firstMs - pushedMs
    const changes: Change[] = []
    for (let i = 0; i < (isQuick ? 3 : 15); i++) {
      say(`${services} services: change ${i + 1}`)
      // Lets work of the last change finish.
      await sleep(1_000)
      changes.push(await change(repository, client, `192.0.2.${10 + i}`))
    }
    const memory = processTree(daemon.pid).map((pid) => residentBytes(pid).now)
    return { first, changes, memoryBytes: memory.reduce((sum, bytes) => sum + bytes, 0) }
  } catch (error) {
    const said = `${daemon.output()}${daemon.errors()}`
    throw new Error(`${String(error)}\nthe daemon said:\n${said}`, { cause: error })
  } finally {
    client?.close()
    await daemon.stop()
  }
}

async function change(
  repository: ConfigRepository,
  client: QueryClient,
  address: string,
): Promise<Change> {
  repository.writeProbe(address)
  const answered = client.waitFor(probeName, answersWith(address))
  const [answeredMs, pushed] = await Promise.all([answered, repository.commitAndPush()])
  return {
    fromCommit: answeredMs - pushed.commitStartedMs,
    fromPush: answeredMs - pushed.pushStartedMs,
    fromReturn: answeredMs - pushed.pushedMs,
  }
}

/** The port in the daemon's log. */
async function portOf(daemon: Program): Promise<number> {
  const running = /^\{.*"gslbd is running".*\}$/m
  const timeout = { timeoutMs: 30_000 }
  const line = await waitUntil('the daemon', () => running.exec(daemon.output())?.[0], timeout)
  return (JSON.parse(line) as { port: number }).port
}

// Runs gslbd as its operator does: a process, accessed by signals, DNS, HTTP and its log.
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll } from 'vitest'
import type { GitopsStatus } from '#ports/operator-view.ts'
import { ask } from './dns/client.ts'
import type { AskParts } from './dns/client.ts'
import { said } from './dns/said.ts'
import { programPath } from './program.ts'
import { waitUntil } from './wait-until.ts'

export const mainPath = programPath()
const host = '127.0.0.1'
/** As in `bin/gslbd`: without it each start would compile everything again. */
const compileCache = join(import.meta.dirname, '../../node_modules/.cache/gslbd')
/** A second on a machine at rest. */
const startPatience = { timeoutMs: 180_000 } as const

/** One line of the log in JSON. */
export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly [field: string]: unknown
}

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Daemons {
  /** Starts the program and returns at once. */
  readonly spawn: (...args: string[]) => DaemonProcess
  /** The same, with a module that node loads first, in each of its threads. */
  readonly spawnWith: (preload: string, ...args: string[]) => DaemonProcess
  /** The same of another program: one that was installed. */
  readonly spawnProgram: (path: string, ...args: string[]) => DaemonProcess
  /** The same behind other words: `nsenter` and what it takes. */
  readonly spawnBehind: (words: readonly string[], ...args: string[]) => DaemonProcess
  /** Starts the program and waits until it runs. @throws with its output when it ends before */
  readonly start: (...args: string[]) => Promise<DaemonProcess>
  /** For `afterEach` of tests that share no process: a failed test leaves none to the next. */
  readonly killAll: () => Promise<void>
}

/**
 * Call it at the top of a test file. Processes left by a test are killed after the last test.
 *
 * @param env variables of every daemon, beside the few that all have
 * @param program the file that Node starts
 */
export function useDaemons(
  env: Readonly<Record<string, string>> = {},
  program = mainPath,
): Daemons {
  const spawned: DaemonProcess[] = []
  const killAll = async (): Promise<void> => {
    for (const daemon of spawned) daemon.signal('SIGKILL')
    await Promise.all(spawned.map((daemon) => daemon.ended))
  }
  afterAll(killAll)
  const spawnBehind = (words: readonly string[], ...nodeArgs: string[]): DaemonProcess => {
    const daemon = new DaemonProcess(nodeArgs, env, words)
    spawned.push(daemon)
    return daemon
  }
  const spawnNode = (...nodeArgs: string[]) => spawnBehind([], ...nodeArgs)
  const spawnOne = (...args: string[]) => spawnNode(program, ...args)
  const spawnWith = (preload: string, ...args: string[]) =>
    spawnNode('--import', preload, program, ...args)
  const start = async (...args: string[]): Promise<DaemonProcess> => {
    const daemon = spawnOne(...args)
    await daemon.running()
    return daemon
  }
  return {
    ...{ spawn: spawnOne, spawnWith, spawnProgram: spawnNode, start, killAll },
    spawnBehind: (words, ...args) => spawnBehind(words, program, ...args),
  }
}

export class DaemonProcess {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly ended: Promise<Ended>
  #isOver = false
  stdout = ''
  stderr = ''
  /** Set once it runs. */
  dnsPort = 0
  /** Set once it runs; 0: the API is off. */
  apiPort = 0

  constructor(
    nodeArgs: readonly string[],
    env: Readonly<Record<string, string>>,
    words: readonly string[] = [],
  ) {
    const [command = '', ...args] = [...words, process.execPath, ...nodeArgs]
    this.#child = spawn(command, args, {
      // The settings of the test machine must not count.
      env: { PATH: process.env['PATH'], LC_ALL: 'C', NODE_COMPILE_CACHE: compileCache, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child.stdout.setEncoding('utf8').on('data', (chunk: string) => (this.stdout += chunk))
    this.#child.stderr.setEncoding('utf8').on('data', (chunk: string) => (this.stderr += chunk))
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.#isOver = true
        resolve({ code, signal })
      })
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Both streams; for messages of failed tests, and to check that a text was not printed. */
  get output(): string {
    return this.stdout + this.stderr
  }

  async running(): Promise<void> {
    const line = await waitUntil(
      'gslbd to run',
      () => {
        if (this.#isOver) return 'over'
        return this.stdout.split('\n').find((each) => each.includes('gslbd is running'))
      },
      startPatience,
    )
    if (line === 'over') throw new Error(`gslbd ended at once:\n${this.output}`)
    const numberOf = (key: string): number =>
      Number(new RegExp(`[" ]${key}"?[=:](\\d+)`).exec(line)?.[1] ?? 0)
    this.dnsPort = numberOf('port')
    this.apiPort = numberOf('apiPort')
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.#isOver) this.#child.kill(signal)
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.signal(signal)
    return this.ended
  }

  /** The log so far; lines that are not JSON, such as the welcome, are left out. */
  log(): LogLine[] {
    const lines = this.stdout.split('\n').filter((line) => line.startsWith('{'))
    return lines.map((line) => JSON.parse(line) as LogLine)
  }

  logged(part: string): LogLine | undefined {
    return this.log().find(({ msg }) => msg.includes(part))
  }

  /**
   * Answer lines such as `www.example.com. 5 IN A 192.0.2.1`, or the response code where there is
   * none. Asks up to three times, as resolvers do.
   */
  async answers(question: string, parts: AskParts = {}): Promise<readonly string[]> {
    const server = { host, port: this.dnsPort }
    const again = () => ask(server, question, parts)
    const { rcode, answer } = said(await again().catch(again).catch(again))
    return answer.length === 0 ? [rcode] : answer
  }

  async get(path: string): Promise<string> {
    const request = get({ host, port: this.apiPort, path, agent: false })
    const [response] = (await once(request, 'response')) as [Readable]
    return text(response)
  }

  /** A first start makes its database after it answers already. */
  async hasDatabase(): Promise<void> {
    const isMissing = async () => (await this.get('/api/v1/ready')).includes('database-away')
    await waitUntil('the database', async () => !(await isMissing()), startPatience)
  }

  async health(): Promise<string> {
    return (JSON.parse(await this.get('/api/v1/health')) as { status: string }).status
  }

  async gitops(): Promise<GitopsStatus> {
    return JSON.parse(await this.get('/api/v1/gitops/status')) as GitopsStatus
  }

  /** Samples by name and labels, as written: `gslbd_dns_queries_total{transport="udp"}`. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const lines = (await this.get('/metrics')).split('\n')
    const samples = lines.filter((line) => line !== '' && !line.startsWith('#'))
    return new Map(
      samples.map((line) => {
        const end = line.lastIndexOf(' ')
        return [line.slice(0, end), Number(line.slice(end + 1))]
      }),
    )
  }
}

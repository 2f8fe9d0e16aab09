// Starts programs for a benchmark: pinned to a core, with their output kept, ended with the
// benchmark.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess, Serializable } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { processTree } from '../support/process-cpu.ts'

interface ProgramOptions {
  /** The only core that it may use; absent: all. */
  readonly core?: number | undefined
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Opens a channel for `ask`, for programs of ours. */
  readonly hasChannel?: boolean
  /** File for standard output, since reading a pipe would disturb the measurement. */
  readonly outputFile?: string | undefined
}

export interface Program {
  readonly pid: number
  readonly child: ChildProcess
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | string>
  /** What it has printed so far. */
  readonly output: () => string
  readonly errors: () => string
  readonly stop: () => Promise<void>
}

const flagsWith = (semiSpaceMb: number): readonly string[] => [
  `--v8-pool-size=${Math.min(Math.max(Math.floor(cpus().length / 2), 1), 4)}`,
  `--max-semi-space-size=${semiSpaceMb}`,
]
/** The flags of `bin/gslbd` for Node, for serving processes and for commands. */
export const nodeFlags = flagsWith(2)
export const commandFlags = flagsWith(16)

const stopPatienceMs = 10_000
const running = new Set<ChildProcess>()
// However this process ends, its children end with it.
process.on('exit', () => {
  for (const { pid } of running) if (pid !== undefined) killTree(pid)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

function killTree(pid: number): void {
  try {
    for (const one of processTree(pid).reverse()) process.kill(one, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

export function startProgram(
  name: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Program {
  const { core, cwd, env, hasChannel = false, outputFile } = options
  // taskset execs the program, so the process id is the program's.
  const [file, argv] =
    core === undefined ? [name, args] : ['taskset', ['-c', String(core), name, ...args]]
  const outputFd = outputFile === undefined ? undefined : openSync(outputFile, 'w')
  const child = spawn(file, argv, {
    stdio: ['ignore', outputFd ?? 'pipe', 'pipe', ...(hasChannel ? (['ipc'] as const) : [])],
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
  })
  if (outputFd !== undefined) closeSync(outputFd)
  running.add(child)
  const errors = collect(child.stderr)
  const output =
    outputFile === undefined ? collect(child.stdout) : () => readFileSync(outputFile, 'utf8')
  const ended = new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  void ended.then(() => running.delete(child))
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    const patience = setTimeout(() => child.kill('SIGKILL'), stopPatienceMs)
    await ended
    clearTimeout(patience)
  }
  return { pid: child.pid ?? 0, child, ended, output, errors, stop }
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = []
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString()
}

/** Sends `message` over the channel. @returns the next message that comes back */
export async function ask<T>(program: Program, message?: Serializable): Promise<T> {
  const reply = once(program.child, 'message')
  if (message !== undefined) program.child.send(message)
  const failed = program.ended.then((how) => {
    throw new Error(`it ended (${how}): ${program.errors()}`)
  })
  const [value] = (await Promise.race([reply, failed])) as unknown[]
  return value as T
}

/** Runs a program to its end. @throws its output when it failed */
export async function runToEnd(
  name: string,
  args: readonly string[],
  options?: ProgramOptions,
): Promise<void> {
  const program = startProgram(name, args, options)
  const code = await program.ended
  if (code !== 0) throw new Error(`${name} ended (${code}): ${program.errors()}`)
}

/** Runs a program of ours to its end. @returns the JSON of its last line of output */
export async function runForJson<T>(args: readonly string[], options?: ProgramOptions): Promise<T> {
  const program = startProgram(process.execPath, [...nodeFlags, ...args], options)
  const code = await program.ended
  if (code !== 0) throw new Error(`${args.join(' ')} ended (${code}): ${program.errors()}`)
  return JSON.parse(program.output().trimEnd().split('\n').at(-1) ?? '') as T
}

export function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
}

/** First matching line of either output; `not installed` without the program. */
export function versionOf(program: string, args: readonly string[], line: RegExp): string {
  if (!isInstalled(program)) return 'not installed'
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return line.exec(`${stdout}\n${stderr}`)?.[0] ?? 'unknown'
}

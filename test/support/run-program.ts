// Runs a program and waits for its end, like `execFileSync`, but from a small helper process:
// starting a program copies the page table of the caller, and the process that most tests share has
// 700 MB. That is 20 ms of CPU time against 1.
import { execFileSync, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { linesOf, writeLine } from './program-runner.ts'
import type { RunAnswer } from './program-runner.ts'
import { makeTempDir, removeTempDir } from './temp-dir.ts'

interface RunOptions {
  readonly cwd?: string
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly input?: string | Uint8Array
}

/** Thrown when the program ends with a code other than 0. */
class ProgramFailed extends Error {
  readonly status: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string

  constructor(command: string, { status, signal, stdout, stderr, error }: RunAnswer) {
    const told = Buffer.from(stderr, 'base64').toString()
    super(`Command failed: ${command}\n${error}${told}`)
    this.name = 'ProgramFailed'
    this.status = status
    this.signal = signal
    this.stdout = Buffer.from(stdout, 'base64').toString()
    this.stderr = told
  }
}

interface Runner {
  readonly requests: number
  readonly answers: Generator<string>
}

let runner: Runner | undefined

/**
 * Blocks.
 *
 * @returns its standard output
 * @throws ProgramFailed
 */
export function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env = process.env, input = '' }: RunOptions = {},
): Buffer {
  runner ??= startRunner()
  const base64 = Buffer.from(input).toString('base64')
  writeLine(runner.requests, { program, args, cwd, env, input: base64 })
  const line = runner.answers.next()
  if (line.done === true) throw new Error('the process that runs programs for tests has ended')
  const answer = JSON.parse(line.value) as RunAnswer
  if (answer.status === 0) return Buffer.from(answer.stdout, 'base64')
  throw new ProgramFailed([program, ...args].join(' '), answer)
}

/** It ends with this process, when the pipe closes. */
function startRunner(): Runner {
  const directory = makeTempDir('runner')
  const paths = [join(directory, 'requests'), join(directory, 'answers')] as const
  execFileSync('mkfifo', paths)
  const program = join(import.meta.dirname, 'program-runner.ts')
  const child = spawn(process.execPath, [program, ...paths], { stdio: ['ignore', 'ignore', 2] })
  child.unref()
  const requests = openSync(paths[0], 'w')
  const answers = linesOf(openSync(paths[1], 'r'))
  removeTempDir(directory)
  return { requests, answers }
}

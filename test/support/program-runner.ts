// The process that runs programs for a test's process: see run-program.ts. It reads one request a
// line from a pipe and writes one answer a line to another, until the pipe is closed.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'

/** One line of JSON. */
interface RunRequest {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** In Base64. */
  readonly input: string
}

/** One line of JSON; the streams are in Base64. */
export interface RunAnswer {
  readonly status: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  /** Why the program could not be started. */
  readonly error: string
}

const outputBytesMax = 256 * 1024 * 1024

/** Blocks. @returns the lines as they come */
export function* linesOf(fd: number): Generator<string> {
  const chunk = Buffer.alloc(65_536)
  let parts: Buffer[] = []
  for (;;) {
    const count = readSync(fd, chunk)
    if (count === 0) return
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0 && end < count; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end)]).toString()
      parts = []
      start = end + 1
    }
    if (start < count) parts.push(Buffer.from(chunk.subarray(start, count)))
  }
}

/** Blocks until everything is written. */
export function writeLine(fd: number, value: RunRequest | RunAnswer): void {
  const line = Buffer.from(`${JSON.stringify(value)}\n`)
  for (let sent = 0; sent < line.length;) sent += writeSync(fd, line, sent)
}

function answerTo({ program, args, cwd, env, input }: RunRequest): RunAnswer {
  const ran = spawnSync(program, args, {
    cwd,
    env,
    input: Buffer.from(input, 'base64'),
    maxBuffer: outputBytesMax,
  })
  return {
    status: ran.status,
    signal: ran.signal,
    // Both are missing if the program could not be started.
    stdout: (ran.stdout as Buffer | null)?.toString('base64') ?? '',
    stderr: (ran.stderr as Buffer | null)?.toString('base64') ?? '',
    error: ran.error?.message ?? '',
  }
}

if (import.meta.main) {
  const [requests = '', answers = ''] = process.argv.slice(2)
  const input = openSync(requests, 'r')
  const output = openSync(answers, 'w')
  for (const line of linesOf(input)) writeLine(output, answerTo(JSON.parse(line) as RunRequest))
  closeSync(output)
}

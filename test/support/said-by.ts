// Runs a program to its end without blocking this process, which the program may call.
import { spawn } from 'node:child_process'

export interface SaidOptions {
  /** Default: no standard input. */
  readonly input?: string
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
}

interface Said {
  /** Its output on both streams. */
  readonly text: string
  /** Null where a signal ended it. */
  readonly code: number | null
}

/** @throws when the program cannot be started */
export async function saidBy(
  program: string,
  args: readonly string[],
  { input, env = {} }: SaidOptions = {},
): Promise<Said> {
  const stdin = input === undefined ? 'ignore' : 'pipe'
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  })
  let text = ''
  for (const output of [child.stdout, child.stderr]) {
    output?.on('data', (octets: Buffer) => (text += octets.toString()))
  }
  // A program may end before it has read its input: its text says why.
  child.stdin?.on('error', () => {}).end(input)
  const code = await new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  )
  return { text, code }
}

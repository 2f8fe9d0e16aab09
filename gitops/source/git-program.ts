// Runs the git program without this machine's settings, with limits on time and output.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { RemoteError } from './http-client.ts'
import type { HttpLimits } from './http-client.ts'
import { gitLimits } from '#gitops/limits.ts'

export interface GitProgram {
  /** Name of the remote for messages, without credentials. */
  readonly name: string
  /** Where programs are looked for. */
  readonly searchPath: string
  /** What git runs for SSH, as a line for the shell. */
  readonly sshCommand: string
  readonly limits: HttpLimits
  readonly stop: AbortSignal
}

export interface GitOutcome {
  readonly code: number | null
  readonly out: string
  readonly said: string
}

/** No hooks, no other protocol, nothing in the background. */
const alone = [
  'protocol.allow=never',
  'protocol.ssh.allow=always',
  'core.hooksPath=/dev/null',
  'gc.auto=0',
  'maintenance.auto=false',
  'fetch.unpackLimit=1',
  'pack.threads=1',
].flatMap((setting) => ['-c', setting])

/** `ulimit -f` counts in blocks: a pack without end stops there. */
const blockBytes = 512
const limited = 'ulimit -f "$1" && shift && exec git "$@"'

/** @throws RemoteError when it takes too long, says too much or is not there */
export async function runGit(program: GitProgram, args: readonly string[]): Promise<GitOutcome> {
  const { name, searchPath, sshCommand, limits, stop } = program
  const blocks = String(Math.ceil(limits.bytesMax / blockBytes))
  const child = spawn('/bin/sh', ['-c', limited, 'git', blocks, ...alone, ...args], {
    // Its own group: what git has started is ended with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: searchPath,
      LC_ALL: 'C',
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_SSH_VARIANT: 'ssh',
      GIT_SSH_COMMAND: sshCommand,
    },
  })
  let failure: RemoteError | undefined
  const end = (error: RemoteError): void => {
    failure ??= error
    kill(child)
  }
  const reason = `${name} did not answer in time. Check the network and the Git server.`
  const tooSlow = (): void => end(new RemoteError({ code: 'Timeout', reason }))
  const idle = setTimeout(tooSlow, limits.idleMs)
  const total = setTimeout(tooSlow, limits.totalMs)
  const stopped = new RemoteError({
    code: 'ConnectionFailed',
    reason: `${name}: gslbd is stopping.`,
  })
  const onStop = (): void => end(stopped)
  if (stop.aborted) onStop()
  stop.addEventListener('abort', onStop)
  try {
    const out = collect(child.stdout, idle, () => end(tooMuch(name)))
    const said = collect(child.stderr, idle, () => end(tooMuch(name)))
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    if (failure !== undefined) throw failure
    return { code, out: out(), said: said() }
  } finally {
    clearTimeout(idle)
    clearTimeout(total)
    stop.removeEventListener('abort', onStop)
  }
}

function kill(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function collect(
  stream: NodeJS.ReadableStream,
  idle: NodeJS.Timeout,
  onTooMuch: () => void,
): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    idle.refresh()
    bytes += chunk.length
    if (bytes > gitLimits.programOutputBytesMax) onTooMuch()
    else chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).toString('utf8')
}

function tooMuch(name: string): RemoteError {
  return new RemoteError({ code: 'TooLarge', reason: `${name} says more than a node reads.` })
}

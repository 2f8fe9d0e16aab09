// Runs the git program without this machine's settings, with limits on time and output.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { SourceError } from './config-source.ts'
import { gitLimits } from '#gitops/limits.ts'

/** Thrown through calls of git; `remote-source.ts` turns it into a value. */
export class RemoteError extends Error implements SourceError {
  readonly code: SourceError['code']
  readonly reason: string

  constructor({ code, reason }: SourceError) {
    super(reason)
    this.code = code
    this.reason = reason
  }
}

export interface RemoteLimits {
  readonly idleMs: number
  readonly totalMs: number
  readonly bytesMax: number
}

export const defaultRemoteLimits: RemoteLimits = {
  idleMs: gitLimits.networkIdleMs,
  totalMs: gitLimits.networkTotalMs,
  bytesMax: gitLimits.responseBytesMax,
}

export interface GitProgram {
  /** Name of the remote for messages, without credentials. */
  readonly name: string
  /** The PATH on which programs are looked for. */
  readonly searchPath: string
  /** The protocols that git may use, also where an address redirects. */
  readonly protocols: readonly string[]
  /** Further environment of git: how to reach the remote, and the credentials for it. */
  readonly env: Readonly<Record<string, string>>
  readonly limits: RemoteLimits
  readonly stop: AbortSignal
}

export interface GitOutcome {
  readonly code: number | null
  readonly out: string
  readonly said: string
}

/** Options that switch off hooks and background work. */
const alone = [
  'core.hooksPath=/dev/null',
  'gc.auto=0',
  'maintenance.auto=false',
  'fetch.unpackLimit=1',
  'pack.threads=1',
]

/** Unit of `ulimit -f`: a pack without end stops at that limit. */
const blockBytes = 512
/** Limit of memory in KiB: git holds a list of refs in memory before it prints them. */
const listMemory = 'ulimit -v 1048576 && '
const limited = 'ulimit -f "$1" && shift && exec git "$@"'

/**
 * An environment without settings of the machine or the person. Whatever the settings of a
 * repository say, git uses no other protocols than these, and fetches no missing objects by itself.
 */
export function gitEnvironment(
  searchPath: string,
  protocols: readonly string[],
): Record<string, string> {
  return {
    PATH: searchPath,
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: protocols.join(':'),
  }
}

/** @throws RemoteError when it takes too long, says too much or is not there */
export async function runGit(program: GitProgram, args: readonly string[]): Promise<GitOutcome> {
  const { name, searchPath, protocols, env, limits, stop } = program
  const blocks = String(Math.ceil(limits.bytesMax / blockBytes))
  const line = args.includes('ls-remote') ? listMemory + limited : limited
  const settings = alone.flatMap((setting) => ['-c', setting])
  const child = spawn('/bin/sh', ['-c', line, 'git', blocks, ...settings, ...args], {
    // A process group of its own, so that children of git end with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...gitEnvironment(searchPath, protocols), ...env },
  })
  let failure: RemoteError | undefined
  const end = (error: RemoteError): void => {
    failure ??= error
    kill(child)
  }
  const tooSlow = (): void => end(lateAnswer(name))
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

export function lateAnswer(name: string): RemoteError {
  const reason = `${name} did not answer in time. Check the network and the Git server.`
  return new RemoteError({ code: 'Timeout', reason })
}

function kill(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The process has ended.
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

// A Redis or Valkey server for one test file: a free port, no files, killed by its process id.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { makeTempDir, removeTempDir } from './temp-dir.ts'
import { waitUntil } from './wait-until.ts'

export interface RedisServer {
  readonly url: string
  readonly port: number
  /** Directory of its files. */
  readonly directory: string
  /** SIGKILL; returns when the process is gone. */
  readonly kill: () => Promise<void>
  /** Restarts on the same port, with its data. */
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** SIGSTOP: accepts connections but answers nothing, until `resume`. */
  readonly pause: () => void
  readonly resume: () => void
}

const host = '127.0.0.1'

/** Both speak the same protocol and take the same options. */
export type RedisProduct = 'redis' | 'valkey'

/** Debian 12 has Valkey in backports; machines without it set the variable. */
export const isValkeyTested = process.env['GSLB_WITHOUT_VALKEY'] === undefined
export const redisProducts: readonly RedisProduct[] = isValkeyTested
  ? ['redis', 'valkey']
  : ['redis']

/** Options of redis.conf. */
export type RedisOptionList = Readonly<Record<string, string | number>>

/**
 * @param appendfsync `always`: SIGKILL loses nothing that was acknowledged
 * @param more further
 * options, from the directory of the server
 */
export async function startRedis(
  appendfsync: 'everysec' | 'always' = 'everysec',
  more: (directory: string) => RedisOptionList = () => ({}),
  product: RedisProduct = 'redis',
): Promise<RedisServer> {
  const directory = makeTempDir(product)
  const port = await freePort()
  let child: ChildProcess | undefined
  // A Cluster's bus uses `port` + 10000 by default, which may be taken.
  const busPort = await freePort()
  const start = async (): Promise<void> => {
    const settings: RedisOptionList = {
      ...{ port, 'cluster-port': busPort, bind: host, dir: directory },
      ...{ save: '', appendonly: 'yes', appendfsync },
      ...more(directory),
    }
    const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, `${value}`])
    const started = spawn(`${product}-server`, args, { stdio: 'ignore' })
    let failure: Error | undefined
    started.on('error', (error) => (failure = error))
    started.on('exit', (code) => (failure = new Error(`${product}-server ended with ${code}`)))
    child = started
    await waitUntil(`${product}-server to start`, async () => {
      if (failure !== undefined) throw failure
      return await accepts(port)
    })
  }
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    url: `redis://${host}:${port}/0`,
    ...{ port, directory },
    start,
    kill,
    pause: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
    stop: async () => {
      await kill()
      removeTempDir(directory)
    },
  }
}

/** Output of `redis-cli`. @throws when it reports a failure */
export async function redisCli(port: number, ...words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('redis-cli', ['-p', `${port}`, ...words])
  return stdout.trim()
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, host)
  try {
    socket.write('PING\r\n')
    const [reply] = (await once(socket, 'data', { signal: AbortSignal.timeout(500) })) as [Buffer]
    return /^(\+PONG|-NOAUTH|-DENIED)/.test(reply.toString())
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

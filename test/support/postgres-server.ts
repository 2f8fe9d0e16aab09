// A PostgreSQL server of one test file: its own directory, a free port, killed by its process id.
import { execFile, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { makeTempDir, removeTempDir } from './temp-dir.ts'
import { waitUntil } from './wait-until.ts'

export interface PostgresServer {
  readonly url: string
  readonly port: number
  /** Output of a statement, as `psql` prints it without headers. */
  readonly sql: (statement: string) => Promise<string>
  /** SIGKILL; returns when the process is gone. */
  readonly kill: () => Promise<void>
  /** On the same port, with the same data. */
  readonly start: () => Promise<void>
  /** Ends it and removes its data. */
  readonly stop: () => Promise<void>
}

const host = '127.0.0.1'
/** PostgreSQL refuses to run as root. */
export const account = process.getuid?.() === 0 ? accountOf('postgres') : {}

interface PostgresKind {
  /** The server to replicate; a standby takes no writes. */
  readonly standbyOf?: PostgresServer
  /** PEM. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer }
}

export async function startPostgres({
  standbyOf,
  tls,
}: PostgresKind = {}): Promise<PostgresServer> {
  const directory = makeTempDir('postgres')
  const data = join(directory, 'data')
  if (account.uid !== undefined) chownSync(directory, account.uid, account.gid!)
  if (standbyOf === undefined) {
    run(program('initdb'), ['-D', data, '-U', 'gslbd', '--auth=trust', '-E', 'UTF8', '--no-sync'])
  } else {
    const from = ['-h', host, '-p', `${standbyOf.port}`, '-U', 'gslbd']
    run(program('pg_basebackup'), [...from, '-D', data, '-R', '--no-sync', '-c', 'fast'])
  }
  const more = tls === undefined ? [] : tlsArguments(directory, tls)
  const port = await freePort()
  let child: ChildProcess | undefined
  const start = async (): Promise<void> => {
    await waitUntil('PostgreSQL to start', async () => {
      // After SIGKILL it cannot start before the last of its old processes is gone.
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
        child = spawn(program('postgres'), [...argumentsOf(data, directory, port), ...more], {
          ...account,
          cwd: directory,
          stdio: 'ignore',
        })
      }
      return await accepts(port)
    })
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  await start()
  return {
    url: `postgresql://gslbd:secret-word@${host}:${port}/postgres`,
    port,
    sql: async (statement) => {
      const place = ['-h', host, '-p', `${port}`, '-U', 'gslbd', 'postgres']
      const { stdout } = await promisify(execFile)(program('psql'), [...place, '-Atc', statement])
      return stdout.trim()
    },
    start,
    kill: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGQUIT')
      removeTempDir(directory)
    },
  }
}

/** Its key must belong to the account that it runs as. */
function tlsArguments(
  directory: string,
  { cert, key }: NonNullable<PostgresKind['tls']>,
): string[] {
  const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key, { mode: 0o600 })
  for (const file of [certFile, keyFile]) {
    if (account.uid !== undefined) chownSync(file, account.uid, account.gid!)
  }
  const settings = { ssl: 'on', ssl_cert_file: certFile, ssl_key_file: keyFile }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

function argumentsOf(data: string, directory: string, port: number): string[] {
  const settings = { listen_addresses: host, unix_socket_directories: directory, fsync: 'off' }
  const pairs = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  return ['-D', data, '-p', `${port}`, ...pairs]
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, host)
  try {
    // An SSL request; a ready server answers with one letter.
    socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]))
    await once(socket, 'data', { signal: AbortSignal.timeout(1_000) })
    const isReady = program('pg_isready')
    return spawnSync(isReady, ['-h', host, '-p', `${port}`]).status === 0
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function program(name: string): string {
  const inPath = (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, name))
  const found = [...inPath, ...globSync(`/usr/lib/postgresql/*/bin/${name}`)].find(existsSync)
  if (found === undefined) throw new Error(`install PostgreSQL: ${name} is not on this machine`)
  return found
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { ...account, cwd: '/', encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command}: ${stderr}`)
}

function accountOf(name: string): { uid?: number; gid?: number } {
  const id = (flag: string): number => Number(spawnSync('id', [flag, name]).stdout.toString())
  return { uid: id('-u'), gid: id('-g') }
}

// Starts the stores of the fleet: Redis with a replica and Sentinels, PostgreSQL with a standby,
// the Git remote, and a source of bundles that no node should accept.
import { execFile } from 'node:child_process'
import { appendFileSync, existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitUntil } from '#test/support/wait-until.ts'
import { Hosted } from './hosted.ts'
import { controlAddress, databases, git, ports, redises, sentinels } from './hosts.ts'
import type { Host } from './hosts.ts'
import type { Network } from './network.ts'

const run = promisify(execFile)
const patient = { timeoutMs: 60_000 } as const
export const redisMaster = 'gslbd'
const account = 'postgres'
const asAccount = ['setpriv', `--reuid=${account}`, `--regid=${account}`, '--clear-groups']

export class Stores {
  readonly redis: readonly Hosted[]
  readonly sentinels: readonly Hosted[]
  readonly postgres: readonly Hosted[]
  readonly git: Hosted
  readonly hostile: Hosted
  readonly #network: Network
  readonly #directory: string

  /** @param origin folder of the bare repositories that the Git remote serves */
  constructor(network: Network, directory: string, origin: string) {
    this.#network = network
    this.#directory = directory
    this.redis = redises.map((host) => this.#redis(host))
    this.sentinels = sentinels.map((host) => this.#sentinel(host))
    this.postgres = databases.map((host) => this.#postgres(host))
    const at = controlAddress(git)
    this.git = this.#script(git, 'git', 'git-server.ts', origin, at, String(ports.git))
    this.hostile = this.#script(git, 'hostile', 'hostile-source.ts', at, String(ports.hostile))
  }

  async start(): Promise<void> {
    for (const one of [...this.redis, this.git]) one.start()
    await this.#startPostgres()
    await waitUntil(
      'Redis',
      async () => (await this.redisCli(redises[0]!, 'PING')) === 'PONG',
      patient,
    )
    for (const one of this.sentinels) one.start()
  }

  get all(): readonly Hosted[] {
    return [...this.redis, ...this.sentinels, ...this.postgres, this.git]
  }

  async redisCli(host: Host, ...words: readonly string[]): Promise<string> {
    const said = this.#network.spaces.run(host.name, 'redis-cli', ...words)
    return (await said.catch(() => '')).trim()
  }

  /** Deletes everything in Redis. */
  async wipeRedis(): Promise<void> {
    for (const host of redises) await this.redisCli(host, 'FLUSHALL')
  }

  /** Promotes the standby, which takes writes from now on. */
  async promote(): Promise<void> {
    await this.#asPostgres(
      databases[1]!,
      program('pg_ctl'),
      'promote',
      '-D',
      this.#dataOf(databases[1]!),
    )
  }

  #redis(host: Host): Hosted {
    const directory = this.#home(host, 'redis')
    const first = controlAddress(redises[0]!)
    const replica = host === redises[0] ? [] : ['--replicaof', `${first} ${ports.redis}`]
    const options = ['--bind', controlAddress(host), '127.0.0.1', '--protected-mode', 'no']
    const files = ['--dir', directory, '--save', '', '--appendonly', 'yes']
    const command = [
      'redis-server',
      '--port',
      String(ports.redis),
      ...options,
      ...files,
      ...replica,
    ]
    return this.#hosted(host, 'redis', command)
  }

  #sentinel(host: Host): Hosted {
    const conf = join(this.#home(host, 'sentinel'), 'sentinel.conf')
    const watched = `${redisMaster} ${controlAddress(redises[0]!)} ${ports.redis} 2`
    const lines = [
      `port ${ports.sentinel}`,
      `bind ${controlAddress(host)}`,
      'protected-mode no',
      `sentinel monitor ${watched}`,
      `sentinel down-after-milliseconds ${redisMaster} 1000`,
      `sentinel failover-timeout ${redisMaster} 5000`,
    ]
    writeFileSync(conf, `${lines.join('\n')}\n`)
    return this.#hosted(host, 'sentinel', ['redis-server', conf, '--sentinel'])
  }

  #postgres(host: Host): Hosted {
    const directory = this.#home(host, 'postgres')
    const settings = {
      listen_addresses: controlAddress(host),
      unix_socket_directories: directory,
      port: String(ports.postgres),
      fsync: 'off',
    }
    const pairs = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
    const command = [program('postgres'), '-D', this.#dataOf(host), ...pairs]
    const name = `${host.name} postgres`
    const logFile = join(this.#directory, host.name, 'postgres.log')
    const before = (): readonly string[] => this.#network.spaces.beforeAsSelf(host.name)
    return new Hosted({
      ...{ host, name, logFile },
      command: () => [...before(), ...asAccount, ...command],
    })
  }

  async #startPostgres(): Promise<void> {
    const [first, second] = databases as readonly [Host, Host]
    const data = this.#dataOf(first)
    for (const host of databases)
      await run('chown', [account, join(this.#directory, host.name, 'postgres')])
    await this.#asPostgres(
      first,
      program('initdb'),
      '-D',
      data,
      '-U',
      'gslbd',
      '--auth=trust',
      '-E',
      'UTF8',
    )
    appendFileSync(
      join(data, 'pg_hba.conf'),
      'host all all 10.9.0.0/16 trust\nhost replication all 10.9.0.0/16 trust\n',
    )
    this.postgres[0]!.start()
    await this.#accepts(first)
    const from = ['-h', controlAddress(first), '-U', 'gslbd']
    const to = ['-D', this.#dataOf(second), '-R', '-c', 'fast']
    await this.#asPostgres(second, program('pg_basebackup'), ...from, ...to)
    this.postgres[1]!.start()
    await this.#accepts(second)
  }

  async #accepts(host: Host): Promise<void> {
    const asked = [program('pg_isready'), '-h', controlAddress(host), '-U', 'gslbd']
    const isReady = (): Promise<boolean> =>
      this.#asPostgres(host, ...asked).then(
        () => true,
        () => false,
      )
    await waitUntil(`PostgreSQL of ${host.name}`, isReady, patient)
  }

  async #asPostgres(host: Host, ...command: readonly string[]): Promise<void> {
    const before = this.#network.spaces.beforeAsSelf(host.name)
    const [file = '', ...args] = [...before, ...asAccount, ...command]
    await run(file, args, { cwd: '/' })
  }

  #dataOf(host: Host): string {
    return join(this.#directory, host.name, 'postgres', 'data')
  }

  #script(host: Host, name: string, file: string, ...args: readonly string[]): Hosted {
    this.#home(host, name)
    return this.#hosted(host, name, [process.execPath, join(import.meta.dirname, file), ...args])
  }

  #hosted(host: Host, name: string, command: readonly string[]): Hosted {
    const before = (): readonly string[] => this.#network.spaces.before(host.name)
    return new Hosted({
      ...{ host, name: `${host.name} ${name}` },
      logFile: join(this.#directory, host.name, `${name}.log`),
      command: () => [...before(), ...command],
    })
  }

  #home(host: Host, name: string): string {
    const home = join(this.#directory, host.name, name)
    mkdirSync(home, { recursive: true })
    return home
  }
}

function program(name: string): string {
  const found = globSync(`/usr/lib/postgresql/*/bin/${name}`).find((path) => existsSync(path))
  if (found === undefined) throw new Error(`install PostgreSQL: there is no ${name}`)
  return found
}

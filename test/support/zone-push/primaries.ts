// Runs BIND, Knot DNS and PowerDNS as primary servers of a zone that a key may transfer and update.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import type { SecondaryKey } from '#test/support/dns/secondary.ts'
import { ask } from '#test/support/dns/client.ts'
import { waitUntil } from '#test/support/wait-until.ts'

interface PrimaryParts {
  /** With the final dot. */
  readonly zone: string
  /** On 127.0.0.1. */
  readonly port: number
  readonly key: SecondaryKey
  readonly directory: string
}

export interface Primary {
  readonly port: number
  readonly output: () => string
  readonly stop: () => Promise<void>
}

const host = '127.0.0.1'
/** Debian's package pdns-backend-sqlite3 brings it. */
const pdnsSchema = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'

const programs = {
  bind: {
    binary: 'named',
    args: ({ directory }: PrimaryParts) => ['-g', '-n', '1', '-c', join(directory, 'config')],
    config: ({ directory, zone, port, key }: PrimaryParts) => `
key "${key.name}" { algorithm hmac-sha256; secret "${key.secret}"; };
controls { };
options {
  directory "${directory}"; pid-file none; session-keyfile none; recursion no; notify no;
  listen-on port ${port} { ${host}; }; listen-on-v6 { none; };
};
zone "${zone}" {
  type primary; file "zone";
  allow-update { key "${key.name}"; }; allow-transfer { key "${key.name}"; };
};
`,
    prepare: () => undefined,
  },
  knot: {
    binary: 'knotd',
    args: ({ directory }: PrimaryParts) => ['-c', join(directory, 'config')],
    config: ({ directory, zone, port, key }: PrimaryParts) => `
server:
    rundir: ${directory}
    listen: ${host}@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: ${directory}
log:
  - target: stderr
    any: warning
key:
  - id: ${key.name}
    algorithm: hmac-sha256
    secret: ${key.secret}
acl:
  - id: pushed
    key: ${key.name}
    action: [transfer, update]
zone:
  - domain: ${zone}
    storage: ${directory}
    file: zone
    acl: pushed
`,
    prepare: () => undefined,
  },
  pdns: {
    binary: 'pdns_server',
    args: ({ directory }: PrimaryParts) => [`--config-dir=${directory}`],
    config: ({ directory, port }: PrimaryParts) => `
launch=gsqlite3
gsqlite3-database=${directory}/pdns.db
gsqlite3-dnssec=yes
local-address=${host}
local-port=${port}
socket-dir=${directory}
dnsupdate=yes
allow-dnsupdate-from=127.0.0.0/8
allow-axfr-ips=127.0.0.0/8
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
daemon=no
guardian=no
disable-axfr=no
`,
    prepare: ({ directory, zone, key }: PrimaryParts) => {
      const run = (program: string, ...args: string[]): string =>
        execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
      const database = new DatabaseSync(join(directory, 'pdns.db'))
      database.exec(readFileSync(pdnsSchema, 'utf8'))
      database.close()
      const util = (...args: string[]): string =>
        run('pdnsutil', `--config-dir=${directory}`, ...args)
      const name = zone.replace(/\.$/, '')
      util('load-zone', name, join(directory, 'zone'))
      util('import-tsig-key', key.name, 'hmac-sha256', key.secret)
      util('set-kind', name, 'primary')
      util('set-meta', name, 'TSIG-ALLOW-DNSUPDATE', key.name.replace(/\.$/, ''))
      util('set-meta', name, 'TSIG-ALLOW-AXFR', key.name.replace(/\.$/, ''))
    },
  },
} as const
type PrimaryName = keyof typeof programs

export const primaryNames = Object.keys(programs) as readonly PrimaryName[]

/** Resolves when it answers. */
export async function startPrimary(
  name: PrimaryName,
  zoneText: string,
  given: Omit<PrimaryParts, 'directory'>,
): Promise<Primary> {
  const { binary, args, config, prepare } = programs[name]
  const directory = makeTempDir(`primary-${name}`)
  const parts = { ...given, directory }
  writeFileSync(join(directory, 'zone'), zoneText)
  writeFileSync(join(directory, name === 'pdns' ? 'pdns.conf' : 'config'), config(parts))
  prepare(parts)
  const child = spawn(binary, args(parts), { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close')
  const { port, zone } = parts
  const answers = async (): Promise<boolean> => {
    try {
      return (await ask({ host, port }, `${zone} SOA`)).answer.length > 0
    } catch {
      return false
    }
  }
  await waitUntil(`${name} to answer: ${output}`, answers, { timeoutMs: 20_000 })
  return {
    port,
    output: () => output,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      removeTempDir(directory)
    },
  }
}

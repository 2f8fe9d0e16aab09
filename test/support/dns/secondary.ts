// Runs Knot DNS, NSD, BIND and yadifad as secondary servers, with a TSIG key for transfers and
// NOTIFY.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { systemAfter } from '#lib/timer.ts'
import { Notifier } from '#zones/notify/notifier.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import type { Endpoint } from './client.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

export interface SecondaryKey {
  /** With the final dot. */
  readonly name: string
  /** Base64; the algorithm is hmac-sha256. */
  readonly secret: string
}

interface SecondaryParts {
  readonly zone: string
  /** Knot DNS and BIND: a catalog zone, whose members are served besides `zone`. */
  readonly catalog?: string
  /** On 127.0.0.1. */
  readonly port: number
  readonly primaryPort: number
  readonly key: SecondaryKey
}

const host = '127.0.0.1'

const catalogSection = (catalog: string): string => `  - domain: ${catalog}
    template: secondary
    catalog-role: interpret
    catalog-template: secondary
`

const programs = {
  knot: {
    binary: 'knotd',
    args: (file: string) => ['-c', file],
    config: (directory: string, { zone, catalog, port, primaryPort, key }: SecondaryParts) => `
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
remote:
  - id: primary
    address: ${host}@${primaryPort}
    key: ${key.name}
acl:
  - id: notified
    address: ${host}
    key: ${key.name}
    action: notify
  - id: copied
    address: ${host}
    action: transfer
template:
  - id: secondary
    storage: ${directory}
    master: primary
    acl: [notified, copied]
zone:
  - domain: ${zone}
    template: secondary
${catalog === undefined ? '' : catalogSection(catalog)}`,
  },
  nsd: {
    binary: 'nsd',
    args: (file: string) => ['-d', '-c', file],
    config: (directory: string, { zone, port, primaryPort, key }: SecondaryParts) => `
server:
    ip-address: ${host}@${port}
    port: ${port}
    username: ""
    server-count: 1
    zonesdir: ${directory}
    pidfile: ${directory}/nsd.pid
    logfile: ${directory}/nsd.log
    xfrdfile: ${directory}/xfrd.state
    xfrdir: ${directory}
    zonelistfile: ${directory}/zone.list
    database: ""
    xfrd-reload-timeout: 0
    rrl-ratelimit: 0
remote-control:
    control-enable: no
key:
    name: ${key.name}
    algorithm: hmac-sha256
    secret: ${key.secret}
zone:
    name: ${zone}
    allow-notify: ${host} ${key.name}
    request-xfr: ${host}@${primaryPort} ${key.name}
    provide-xfr: ${host} NOKEY
`,
  },
  bind: {
    binary: 'named',
    args: (file: string) => ['-g', '-n', '1', '-c', file],
    config: (directory: string, { zone, catalog, port, primaryPort, key }: SecondaryParts) => {
      const primaries = `{ ${host} port ${primaryPort} key "${key.name}"; }`
      const secondary = (name: string): string =>
        `zone "${name}" { type secondary; file "${name}db"; primaries ${primaries}; };\n`
      const zones = catalog === undefined ? [zone] : [zone, catalog]
      const members = `catalog-zones { zone "${catalog}" default-primaries ${primaries}; };`
      return `
key "${key.name}" { algorithm hmac-sha256; secret "${key.secret}"; };
controls { };
options {
  directory "${directory}"; pid-file none; session-keyfile none; recursion no; notify no;
  listen-on port ${port} { ${host}; }; listen-on-v6 { none; };
  ${catalog === undefined ? '' : members}
};
${zones.map(secondary).join('')}`
    },
  },
  yadifa: {
    binary: 'yadifad',
    args: (file: string) => ['-c', file],
    config: (directory: string, { zone, port, primaryPort, key }: SecondaryParts) => `
<main>
  daemon off
  chroot off
  logpath "${directory}"
  pidfile "${directory}/pid"
  datapath "${directory}"
  keyspath "${directory}"
  xfrpath "${directory}"
  user ${userInfo().uid}
  group ${userInfo().gid}
  port ${port}
  listen ${host}
  allow-query any
  allow-notify any
</main>
<rrl>
  enabled false
</rrl>
<key>
  name ${key.name}
  algorithm hmac-sha256
  secret ${key.secret}
</key>
<channels>
  all stderr
</channels>
<loggers>
  server info,notice,warning,err,crit,alert,emerg all
</loggers>
<zone>
  domain ${zone}
  file zone
  type secondary
  primary ${host} port ${primaryPort} key ${key.name}
</zone>
`,
  },
} as const
export type SecondaryName = keyof typeof programs
/** Programs that accept each of many quick changes. */
export const secondaryNames = ['knot', 'nsd'] as const satisfies readonly SecondaryName[]

export interface Secondary extends Endpoint {
  readonly output: () => string
  readonly stop: () => Promise<void>
}

export function startSecondary(name: SecondaryName, parts: SecondaryParts): Secondary {
  const { binary, args, config } = programs[name]
  const directory = makeTempDir(`secondary-${name}`)
  const file = join(directory, 'config')
  writeFileSync(file, config(directory, parts))
  const child = spawn(binary, args(file), { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close')
  return {
    host,
    port: parts.port,
    output: () => output,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      removeTempDir(directory)
    },
  }
}

/** Notifies a secondary of zones. @param warned receives failures, as logged */
export function notifierOf(
  port: number,
  zones: readonly string[],
  key: TsigKey,
  warned: (fields: object) => void = () => undefined,
): Notifier {
  const nothing = (): void => undefined
  const log: Log = { info: nothing, warn: warned, error: warned }
  return new Notifier({
    ...{ targets: [{ address: host, port }], source: '', log, keyName: '', key: () => key },
    ...{ zones: () => zones.map(wireName), nowMs: systemClock.nowMs, after: systemAfter },
  })
}

// Runs BIND, Knot DNS, NSD and PowerDNS as primary servers of one zone, which send it and NOTIFY
// with a TSIG key.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { saidBy } from '#test/support/said-by.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import type { SecondaryKey } from './secondary.ts'

interface PrimaryParts {
  /** With the final dot. */
  readonly zone: string
  /** Lines of its file after the SOA and NS records. */
  readonly records: readonly string[]
  /** On 127.0.0.1. */
  readonly port: number
  /** Where NOTIFY goes. */
  readonly notified: number
  readonly key: SecondaryKey
}

const host = '127.0.0.1'

interface Program {
  readonly binary: string
  readonly args: (file: string) => readonly string[]
  readonly file: string
  readonly config: (directory: string, parts: PrimaryParts) => string
  /** `update`: by RFC 2136. `HUP`: at this signal it reads its file. `control`: by a command. */
  readonly changes: 'update' | 'HUP' | 'control'
}

const programs = {
  bind: {
    binary: 'named',
    args: (file: string) => ['-g', '-n', '1', '-c', file],
    file: 'named.conf',
    changes: 'update',
    config: (directory: string, { zone, port, notified, key }: PrimaryParts) => `
key "${key.name}" { algorithm hmac-sha256; secret "${key.secret}"; };
controls { };
options {
  directory "${directory}"; pid-file none; session-keyfile none; recursion no; notify-delay 0;
  listen-on port ${port} { ${host}; }; listen-on-v6 { none; };
};
zone "${zone}" {
  type primary; file "zone"; allow-transfer { key "${key.name}"; };
  allow-update { key "${key.name}"; }; notify explicit;
  also-notify { ${host} port ${notified} key "${key.name}"; };
};
`,
  },
  knot: {
    binary: 'knotd',
    args: (file: string) => ['-c', file],
    file: 'knot.conf',
    changes: 'update',
    config: (directory: string, { zone, port, notified, key }: PrimaryParts) => `
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
  - id: secondary
    address: ${host}@${notified}
    key: ${key.name}
acl:
  - id: known
    key: ${key.name}
    action: [transfer, update]
zone:
  - domain: ${zone}
    storage: ${directory}
    file: zone
    notify: secondary
    acl: known
`,
  },
  nsd: {
    binary: 'nsd',
    args: (file: string) => ['-d', '-c', file],
    file: 'nsd.conf',
    changes: 'HUP',
    config: (directory: string, { zone, port, notified, key }: PrimaryParts) => `
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
    rrl-ratelimit: 0
remote-control:
    control-enable: no
key:
    name: ${key.name}
    algorithm: hmac-sha256
    secret: ${key.secret}
zone:
    name: ${zone}
    zonefile: zone
    notify: ${host}@${notified} ${key.name}
    provide-xfr: ${host} ${key.name}
`,
  },
  powerdns: {
    binary: 'pdns_server',
    args: (file: string) => [`--config-dir=${join(file, '..')}`, '--daemon=no', '--guardian=no'],
    file: 'pdns.conf',
    changes: 'control',
    config: (directory: string, { port, notified }: PrimaryParts) => {
      writeFileSync(join(directory, 'bind.conf'), '')
      return `
launch=bind
bind-config=${directory}/bind.conf
socket-dir=${directory}
local-address=${host}
local-port=${port}
primary=yes
only-notify=
also-notify=${host}:${notified}
allow-axfr-ips=${host}
receiver-threads=1
distributor-threads=1
security-poll-suffix=
`
    },
  },
} as const satisfies Readonly<Record<string, Program>>
export type PrimaryName = keyof typeof programs

export class PrimaryServer {
  readonly #name: PrimaryName
  readonly #parts: PrimaryParts
  readonly #directory: string
  #child: ReturnType<typeof spawn> | undefined
  #serial = 1
  #records: readonly string[]
  output = ''

  constructor(name: PrimaryName, parts: PrimaryParts) {
    this.#name = name
    this.#parts = parts
    this.#records = parts.records
    this.#directory = makeTempDir(`primary-${name}`)
    this.#writeZone()
    const { file, config } = programs[name]
    writeFileSync(join(this.#directory, file), config(this.#directory, parts))
    if (name !== 'powerdns') return
    const zone = parts.zone.slice(0, -1)
    const line = `zone "${zone}" { type master; file "${join(this.#directory, 'zone')}"; };\n`
    writeFileSync(join(this.#directory, 'bind.conf'), line)
  }

  start(): void {
    const { binary, args, file } = programs[this.#name]
    const child = spawn(binary, args(join(this.#directory, file)), {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.on('data', (chunk: Buffer) => (this.output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (this.output += chunk.toString()))
    this.#child = child
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    const ended = once(child, 'close')
    child.kill('SIGTERM')
    await ended
  }

  remove(): void {
    removeTempDir(this.#directory)
  }

  /** Adds a record, and says so by NOTIFY. @param line as in a zone file, with a whole name */
  async add(line: string): Promise<void> {
    await this.#change([...this.#records, line], [`add ${line}`])
  }

  /** Removes all records of names. */
  async removeNames(names: readonly string[]): Promise<void> {
    const rest = this.#records.filter((line) => !names.includes(line.split(' ')[0]!))
    const lines = names.map((name) => `delete ${name}`)
    await this.#change(rest, lines)
  }

  async #change(records: readonly string[], updates: readonly string[]): Promise<void> {
    this.#records = records
    const { changes } = programs[this.#name]
    if (changes === 'update') return await this.#update(updates)
    this.#serial++
    this.#writeZone()
    if (changes === 'HUP') this.#child?.kill('SIGHUP')
    else {
      const zone = this.#parts.zone.slice(0, -1)
      const socket = `--socket-dir=${this.#directory}`
      await saidBy('pdns_control', [socket, 'bind-reload-now', zone])
      await saidBy('pdns_control', [socket, 'notify', zone])
    }
  }

  async #update(lines: readonly string[]): Promise<void> {
    const { key, port, zone } = this.#parts
    const input = [`server ${host} ${port}`, `zone ${zone}`, ...lines, 'send', ''].join('\n')
    const { text, code } = await saidBy(
      'nsupdate',
      ['-y', `hmac-sha256:${key.name}:${key.secret}`],
      { input },
    )
    if (code !== 0) throw new Error(`nsupdate: ${text}`)
  }

  #writeZone(): void {
    const { zone } = this.#parts
    const soa = `${zone} 300 IN SOA ns1.${zone} root.${zone} ${this.#serial} 3600 600 864000 60`
    const lines = [soa, `${zone} 300 IN NS ns1.${zone}`, `ns1.${zone} 300 IN A 192.0.2.53`]
    writeFileSync(join(this.#directory, 'zone'), [...lines, ...this.#records, ''].join('\n'))
  }
}

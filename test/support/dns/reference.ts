// Runs Knot DNS and NSD with the same static zones, to compare their answers with ours.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '#test/support/free-port.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { ask } from './client.ts'
import type { Endpoint } from './client.ts'
import { zoneFileOf } from './fixture.ts'
import type { Served } from './model.ts'

export interface RunningServer extends Endpoint {
  readonly stop: () => Promise<void>
}

interface ReferenceServer {
  readonly name: 'knot' | 'nsd'
  /** False when the program is not on this machine. */
  readonly isInstalled: () => boolean
  /** @param at 127.0.0.1 and a free port, where it is left out */
  readonly start: (config: Served, at?: Endpoint) => Promise<RunningServer>
}

interface Program {
  readonly binary: string
  readonly args: (configFile: string) => readonly string[]
  readonly configText: (directory: string, at: Endpoint, zones: readonly ZoneFile[]) => string
}

interface ZoneFile {
  readonly name: string
  readonly path: string
}

const loopback = '127.0.0.1'

const knot: Program = {
  binary: 'knotd',
  args: (configFile) => ['-c', configFile],
  configText: (directory, { host, port }, zones) => `
server:
    rundir: ${directory}
    listen: ${host}@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
    nsid: ""
    version: ""
    identity: ""
database:
    storage: ${directory}
log:
  - target: stderr
    any: error
zone:
${zones.map(knotZone).join('')}`,
}

const nsd: Program = {
  binary: 'nsd',
  args: (configFile) => ['-d', '-c', configFile],
  configText: (directory, { host, port }, zones) => `
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
    hide-version: yes
    hide-identity: yes
    rrl-ratelimit: 0
remote-control:
    control-enable: no
${zones.map((zone) => `zone:\n    name: ${zone.name}\n    zonefile: ${zone.path}\n`).join('')}`,
}

function knotZone({ name, path }: ZoneFile): string {
  return `  - domain: ${name}
    file: ${path}
    zonefile-sync: -1
    journal-content: none
`
}

export const referenceServers: readonly ReferenceServer[] = Object.freeze([
  {
    name: 'knot',
    isInstalled: () => isOnPath(knot),
    start: (config, at) => start(knot, config, at),
  },
  { name: 'nsd', isInstalled: () => isOnPath(nsd), start: (config, at) => start(nsd, config, at) },
])

function isOnPath({ binary }: Program): boolean {
  return spawnSync('sh', ['-c', `command -v ${binary}`]).status === 0
}

async function start(program: Program, config: Served, at?: Endpoint): Promise<RunningServer> {
  const directory = makeTempDir(program.binary)
  mkdirSync(join(directory, 'zones'))
  const written =
    'text' in config
      ? [config]
      : config.zones.map((zone) => ({ name: zone.name, text: zoneFileOf(config, zone) }))
  const zones = written.map(({ name, text }, i) => {
    const path = join(directory, 'zones', `${i}.zone`)
    writeFileSync(path, text)
    return { name, path }
  })
  const { host, port } = at ?? { host: loopback, port: await freePort() }
  const configFile = join(directory, `${program.binary}.conf`)
  writeFileSync(configFile, program.configText(directory, { host, port }, zones))
  const child = spawn(program.binary, program.args(configFile), {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const stop = async (): Promise<void> => {
    await stopChild(child)
    removeTempDir(directory)
  }
  try {
    await waitUntil(`${program.binary} to answer`, () => isServing({ host, port }, zones))
  } catch (error) {
    await stop()
    throw new Error(`${program.binary} did not start: ${output}`, { cause: error })
  }
  return { host, port, stop }
}

async function isServing(server: Endpoint, zones: readonly ZoneFile[]): Promise<boolean> {
  for (const { name } of zones) {
    if ((await ask(server, `${name} SOA`, { tcp: true })).rcode !== 0) return false
  }
  return true
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

// The compared servers, each with the same names: how each is configured, started and stopped.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleFiles } from '../data/encode-bundle.ts'
import { freePort } from './free-port.ts'
import { ask, isInstalled, nodeFlags, startProgram } from './program.ts'
import type { Program } from './program.ts'
import { hasAnswer, QueryClient } from '../load/query-client.ts'
import type { Ready, ServeOptions } from './serve-bundle.ts'

export const serverNames = Object.freeze(['gslbd', 'gdnsd', 'knot', 'nsd'] as const)
export type ServerName = (typeof serverNames)[number]

export interface RunningServer {
  readonly name: ServerName
  readonly port: number
  readonly pid: number
  readonly stop: () => Promise<void>
}

interface StartOptions {
  /** Folder for new empty directories. */
  readonly directory: string
  /**
   * `svc0` to `svc<names - 1>.gslb.example.com.`, four members each where the server knows members.
   */
  readonly names: number
  readonly core?: number | undefined
}

const script = fileURLToPath(new URL('./serve-bundle.ts', import.meta.url))
export const zone = 'gslb.example.com'
export const soaAndNs =
  '@ 120 SOA ns1 hostmaster 1 3600 600 86400 30\n@ 120 NS ns1\nns1 120 A 192.0.2.1\n'

export interface Gslbd extends RunningServer {
  readonly program: Program
  /** Memory after the first bundle, in octets. */
  readonly residentBytes: number
}

/** @param flags for node */
export async function startGslbd(
  paths: readonly string[],
  {
    core,
    threads = 1,
    flags = [],
    ...more
  }: {
    core?: number | undefined
    threads?: number
    flags?: string[]
  } & Omit<ServeOptions, 'paths' | 'threads'>,
): Promise<Gslbd> {
  const args = [...nodeFlags, ...flags, script, JSON.stringify({ paths, threads, ...more })]
  const program = startProgram(process.execPath, args, { core, hasChannel: true })
  const { port, residentBytes } = await ask<Ready>(program)
  return { name: 'gslbd', port, pid: program.pid, program, residentBytes, stop: program.stop }
}

export interface Peer {
  readonly binary: string
  readonly args: (directory: string) => readonly string[]
  /** File name below the directory to content. */
  readonly files: (directory: string, port: number, names: number) => Record<string, string>
}

const lines = (names: number, line: (i: number) => string): string =>
  Array.from({ length: names }, (_, i) => line(i)).join('\n')

/** One address for each name, so that replies have the same size as the others'. */
export const staticZone = (names: number): string =>
  `$ORIGIN ${zone}.\n$TTL 60\n${soaAndNs}${lines(names, (i) => `svc${i} 60 A ${member(i, 1)}`)}\n`

const member = (i: number, k: number): string => `10.${(i >> 8) & 255}.${i & 255}.${k}`

export const peers: Readonly<Record<Exclude<ServerName, 'gslbd'>, Peer>> = {
  gdnsd: {
    binary: 'gdnsd',
    args: (directory) => ['-c', join(directory, 'etc'), 'start'],
    files: (directory, port, names) => ({
      'etc/config':
        `options => { listen => [ 127.0.0.1 ], dns_port => ${port}, udp_threads => 1,\n` +
        `  tcp_threads => 1, zones_default_ttl => 60,\n` +
        `  run_dir => ${directory}/run, state_dir => ${directory}/state }\n` +
        'plugins => { weighted => { multi = false, service_types = up,\n' +
        lines(names, (i) => {
          const members = [1, 2, 3, 4].map((k) => `m${k} = [ ${member(i, k)}, 1 ]`)
          return `s${i} => { ${members.join(', ')} }`
        }) +
        '\n} }\n',
      [`etc/zones/${zone}`]:
        soaAndNs + lines(names, (i) => `svc${i} 60 DYNA weighted!s${i}`) + '\n',
    }),
  },
  knot: {
    binary: 'knotd',
    args: (directory) => ['-c', join(directory, 'etc/knot.conf')],
    files: (directory, port, names) => ({
      'etc/knot.conf': `server:
    rundir: ${directory}/run
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: ${directory}/state
log:
  - target: stderr
    any: error
zone:
  - domain: ${zone}.
    file: ${directory}/etc/zone
    zonefile-sync: -1
    journal-content: none
`,
      'etc/zone': staticZone(names),
    }),
  },
  nsd: {
    binary: 'nsd',
    args: (directory) => ['-d', '-c', join(directory, 'etc/nsd.conf')],
    files: (directory, port, names) => ({
      'etc/nsd.conf': `server:
    ip-address: 127.0.0.1@${port}
    port: ${port}
    username: ""
    server-count: 1
    zonesdir: ${directory}/etc
    pidfile: ${directory}/run/nsd.pid
    logfile: ${directory}/run/nsd.log
    xfrdfile: ${directory}/state/xfrd.state
    xfrdir: ${directory}/state
    zonelistfile: ${directory}/state/zone.list
    database: ""
    rrl-ratelimit: 0
remote-control:
    control-enable: no
zone:
    name: ${zone}.
    zonefile: ${directory}/etc/zone
`,
      'etc/zone': staticZone(names),
    }),
  },
}

export function isServerInstalled(name: ServerName): boolean {
  return name === 'gslbd' || isInstalled(peers[name].binary)
}

/** Resolves when the server answers. @throws with the server's output when it does not */
export async function startServer(name: ServerName, options: StartOptions): Promise<RunningServer> {
  const { directory, names, core } = options
  if (name === 'gslbd') {
    const { paths } = await bundleFiles(directory, `serve-${names}`, {
      services: names,
      pools: names,
    })
    return startGslbd(paths, { core })
  }
  const peer = peers[name]
  return startPeer(name, peer, options, (home, port) => peer.files(home, port, names))
}

/**
 * Starts a peer with its own files; `svc0` must be answered.
 *
 * @throws with the server's output when it does not answer
 */
export async function startPeer(
  name: ServerName,
  { binary, args }: Pick<Peer, 'binary' | 'args'>,
  { directory, core }: Pick<StartOptions, 'directory' | 'core'>,
  files: (home: string, port: number) => Record<string, string>,
): Promise<RunningServer> {
  const home = join(directory, name)
  const port = await freePort()
  for (const part of ['etc/zones', 'run', 'state']) mkdirSync(join(home, part), { recursive: true })
  for (const [file, text] of Object.entries(files(home, port))) {
    writeFileSync(join(home, file), text)
  }
  const program = startProgram(binary, args(home), { core })
  let hasEnded = false
  void program.ended.then(() => (hasEnded = true))
  const client = new QueryClient(port)
  await client.open()
  try {
    await client.waitFor(`svc0.${zone}`, hasAnswer, {
      everyMs: 20,
      // gdnsd compares each of 31,000 addresses with all others before it answers.
      patienceMs: 180_000,
      isGivenUp: () => hasEnded,
    })
  } catch (error) {
    await program.stop()
    throw new Error(`${name} did not start: ${program.errors()}`, { cause: error })
  } finally {
    client.close()
  }
  return { name, port, pid: program.pid, stop: program.stop }
}

/** Writes queries for dnsperf, one for each name. */
export function writeQueryFile(directory: string, names: number): string {
  const path = join(directory, `queries-${names}.txt`)
  writeFileSync(path, `${lines(names, (i) => `svc${i}.${zone} A`)}\n`)
  return path
}

// Manages the nodes of the fleet: three that compile and publish, five that only answer.
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Hosted } from './hosted.ts'
import { answering, controlAddress, controls, databases, git, ports, sentinels } from './hosts.ts'
import type { Host } from './hosts.ts'
import type { Network } from './network.ts'
import { redisMaster } from './stores.ts'

const program = join(import.meta.dirname, '../../bin/gslbd')
const secrets = { GSLB_API_KEY: 'ab'.repeat(32), GSLB_BUNDLE_TOKEN: 'cd'.repeat(16) }
/** Debian's place of the library that moves a program's clock. */
const clockLibrary = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
/** The node that first looks at the untrusted source. */
const misled = answering[3]!

const hostsAt = (hosts: readonly Host[], port: number): string =>
  hosts.map((host) => `${controlAddress(host)}:${port}`).join(',')

const redis = { url: `redis://${hostsAt(sentinels, ports.sentinel)}`, master: redisMaster }

export class Nodes {
  readonly controls: readonly Hosted[]
  readonly answering: readonly Hosted[]
  readonly #network: Network
  readonly #directory: string
  /** Seconds that a node's clock is ahead, from its next start on. */
  readonly #aheadSeconds = new Map<Host, number>()

  constructor(network: Network, directory: string) {
    this.#network = network
    this.#directory = directory
    this.controls = controls.map((host) => this.#node(host, controlSettings(host)))
    this.answering = answering.map((host) => this.#node(host, answeringSettings(host)))
  }

  /** @param signers lines of `allowed_signers` */
  prepare(signers: string): void {
    let keys = ''
    for (const host of controls) {
      const { privateKey } = generateKeyPairSync('ed25519')
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
      keys += createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString()
      mkdirSync(join(this.dataOf(host), 'keys'))
      writeFileSync(join(this.dataOf(host), 'keys', 'node.pem'), pem, { mode: 0o600 })
      writeFileSync(join(this.dataOf(host), 'allowed_signers'), signers)
    }
    writeFileSync(join(this.#directory, 'controls.pem'), keys)
  }

  get all(): readonly Hosted[] {
    return [...this.controls, ...this.answering]
  }

  of(host: Host): Hosted {
    return this.all.find((node) => node.host === host)!
  }

  dataOf(host: Host): string {
    return join(this.#directory, host.name, 'data')
  }

  /** Counts from its next start on. */
  setClock(host: Host, aheadSeconds: number): void {
    this.#aheadSeconds.set(host, aheadSeconds)
  }

  #node(host: Host, settings: object): Hosted {
    const home = join(this.#directory, host.name)
    mkdirSync(join(home, 'data'), { recursive: true })
    const file = join(home, 'gslbd.yaml')
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ ...settings, dataDir: './data', redis }))
    const serve = [program, 'serve', '--settings', file]
    return new Hosted({
      ...{ host, name: host.name, env: secrets },
      logFile: join(home, 'gslbd.log'),
      command: () => [...this.#network.spaces.before(host.name), ...this.#clock(host), ...serve],
    })
  }

  #clock(host: Host): readonly string[] {
    const ahead = this.#aheadSeconds.get(host) ?? 0
    if (ahead === 0) return []
    const moved = [`LD_PRELOAD=${clockLibrary}`, `FAKETIME=${ahead < 0 ? '' : '+'}${ahead}s`]
    return ['env', ...moved, 'FAKETIME_DONT_FAKE_MONOTONIC=1']
  }
}

const api = (host: Host) => ({
  enabled: true,
  listenAddr: controlAddress(host),
  port: ports.api,
})

function controlSettings(host: Host): object {
  const { postgres } = ports
  return {
    roles: ['control'],
    state: { nodeName: host.name },
    api: api(host),
    gitops: { url: `http://${controlAddress(git)}:${ports.git}/config.git`, poll: '1s' },
    database: { url: `postgresql://gslbd@${hostsAt(databases, postgres)}/postgres` },
  }
}

function answeringSettings(host: Host): object {
  const own = controls.map((control) => `http://${controlAddress(control)}:${ports.api}`)
  const hostile = `http://${controlAddress(git)}:${ports.hostile}`
  return {
    roles: ['dns'],
    state: { nodeName: host.name },
    api: api(host),
    dns: { listenAddr: '0.0.0.0', port: ports.dns, threads: 1 },
    bundle: {
      urls: host === misled ? [hostile, ...own] : own,
      keys: '../controls.pem',
      poll: '1s',
    },
  }
}

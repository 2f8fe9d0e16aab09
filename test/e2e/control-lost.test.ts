// The page on a lost control node, walked with a fleet of three: what is run are its own commands,
// but for who runs them, and where files and nodes are.
import { execFile } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { mainPath, useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { gitHttpServer } from '#test/support/git-http-server.ts'
import { Site, poolPath, poolYaml } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bearer = 'ab'.repeat(32)
const secrets = { GSLB_BUNDLE_TOKEN: 'cd'.repeat(16), GSLB_SECRET_KEY: 'ef'.repeat(32) }
const controls = useDaemons({ GSLB_API_KEY: bearer, ...secrets })
const nodes = useDaemons({ GSLB_BUNDLE_TOKEN: secrets.GSLB_BUNDLE_TOKEN })
const run = promisify(execFile)
const page = readFileSync(
  join(import.meta.dirname, '../../docs/operations/control-lost.md'),
  'utf8',
)

/** The indented blocks below a heading. */
function blocksOf(heading: string): readonly string[] {
  const [, text = ''] = page.split(`\n## ${heading}\n`)
  const [own = ''] = text.split(/^## /m)
  const blocks = own.match(/(?:^ {4}.*\n)+/gm) ?? []
  return blocks.map((block) => block.replaceAll(/^ {4}/gm, ''))
}

let site: Site | undefined
afterEach(async () => {
  await controls.killAll()
  await nodes.killAll()
  site?.remove()
})

/** @returns its address, of a server that the test closes */
async function moveToRemote(made: Site): Promise<string> {
  const server = await gitHttpServer(made.path)
  const remote = join(made.path, 'remote.git')
  cpSync(join(made.dataDir, 'config.git'), remote, { recursive: true })
  rmSync(join(made.dataDir, 'config.git'), { recursive: true })
  await made.git('remote', 'set-url', 'origin', remote)
  return server.url('remote.git')
}

class Fleet {
  readonly site: Site
  readonly remote: string
  control!: DaemonProcess
  readonly nodes: DaemonProcess[] = []
  #apiPort = 0

  constructor(made: Site, remote: string) {
    this.site = made
    this.remote = remote
  }

  static async start(kind: 'remote' | 'own repository'): Promise<Fleet> {
    const made = await Site.make('control-lost')
    site = made
    made.trustNode()
    await made.push()
    const fleet = new Fleet(made, kind === 'remote' ? await moveToRemote(made) : '')
    await fleet.startControl()
    const { dataDir, path } = made
    const pem = readFileSync(join(dataDir, 'keys', 'node.pem'), 'utf8')
    const key = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
    for (const name of ['ns1', 'ns2']) {
      const folder = join(path, name)
      mkdirSync(folder)
      writeFileSync(join(folder, 'bundle_keys'), key)
      const settings = {
        ...{ dataDir: folder, roles: ['dns'], state: { nodeName: name } },
        dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
        api: { enabled: true, port: 0 },
        bundle: { urls: [`http://127.0.0.1:${fleet.control.apiPort}`], poll: '100ms' },
      }
      writeFileSync(join(path, `${name}.yaml`), JSON.stringify(settings))
      fleet.nodes.push(await nodes.start('serve', '--settings', join(path, `${name}.yaml`)))
    }
    await fleet.serve('192.0.2.1')
    return fleet
  }

  /** On the port that the nodes know, from the second time on. */
  async startControl(): Promise<void> {
    const backup = { enabled: false, directory: join(this.site.path, 'backups') }
    const gitops = { poll: '1s', ...(this.remote === '' ? {} : { url: this.remote }) }
    this.site.writeSettings({ api: { port: this.#apiPort }, gitops, backup })
    this.control = await controls.start('serve', '--settings', this.site.settingsFile)
    await this.control.hasDatabase()
    this.#apiPort = this.control.apiPort
  }

  /** All of it is gone, but for its settings. */
  async lose(): Promise<void> {
    await controls.killAll()
    rmSync(this.site.dataDir, { recursive: true })
  }

  async serve(address: string): Promise<void> {
    for (const node of this.nodes) {
      const answer = async () => (await node.answers('www.example.com. A')).join()
      await waitUntil(`${address} of a node`, async () =>
        (await answer()).endsWith(` A ${address}`),
      )
    }
  }

  async haveText(name: string, value: string): Promise<void> {
    for (const node of this.nodes) {
      const answer = async () => (await node.answers(`${name}.example.com. TXT`)).join()
      await waitUntil(`the text ${value}`, async () => (await answer()).endsWith(` "${value}"`))
    }
  }

  async writeText(name: string, value: string): Promise<void> {
    const body = { name: `${name}.example.com`, value, ttl: 5 }
    const made = await callApi(this.control, 'POST', '/dns/txt-records', { bearer, body })
    expect(made.status).toBe(201)
  }

  /** A block of the page, as a machine with systemd and the package would run it. */
  async shell(block: string): Promise<string> {
    const [ns1, ns2] = this.nodes.map(({ apiPort }) => `127.0.0.1:${apiPort}`)
    const script = block
      .replaceAll('/etc/gslbd/gslbd.yaml', this.site.settingsFile)
      .replaceAll('/var/lib/gslbd', this.site.dataDir)
      .replaceAll('ns1.example.net:8080', ns1 ?? '')
      .replaceAll('ns2.example.net:8080', ns2 ?? '')
    const shims = `set -eu
      sudo() { [ "$1" != -u ] || shift 2; "$@"; }
      systemctl() { :; }
      gslbd() { ${process.execPath} ${mainPath} "$@"; }\n`
    const env = { PATH: process.env['PATH'], ...secrets }
    const { stdout } = await run('bash', ['-c', shims + script], { cwd: this.site.path, env })
    return stdout
  }
}

/** Starts on a busy machine. */
const patienceMs = 600_000
const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''
const [, takeBackup = ''] = blocksOf('Before it happens')
const [restoreBackup = ''] = blocksOf('With a backup')

/** A backup, then what comes after it; then the machine is gone. */
async function loseAfterBackup(fleet: Fleet): Promise<void> {
  await fleet.writeText('kept', 'before')
  await fleet.haveText('kept', 'before')
  const path = lastLine(await fleet.shell(takeBackup))
  cpSync(path, join(fleet.site.path, 'gslbd.db'))
  for (const address of ['192.0.2.2', '192.0.2.3']) {
    await fleet.site.publish(address)
    await fleet.serve(address)
  }
  await fleet.lose()
}

test(
  'a backup of before the last changes brings all nodes on',
  async () => {
    const fleet = await Fleet.start('own repository')
    await loseAfterBackup(fleet)
    // The package has started a node on the new machine, with a key of its own.
    mkdirSync(join(fleet.site.dataDir, 'keys'), { recursive: true })
    writeFileSync(join(fleet.site.dataDir, 'keys', 'node.pem'), 'of the package')
    const said = await fleet.shell(restoreBackup)
    expect(said).toMatch(/^\d+ rows restored$/m)
    expect(said).toContain('gitops/state.json, keys/node.pem, allowed_signers, config.git')
    const aside = readdirSync(fleet.site.dataDir).find((name) => name.startsWith('before-restore-'))
    expect(readFileSync(join(fleet.site.dataDir, aside!, 'keys/node.pem'), 'utf8')).toContain(
      'of the',
    )
    await fleet.startControl()
    await fleet.serve('192.0.2.1')
    // A clone still has what the backup lacks: it is pushed.
    await fleet.site.git('push', '-q', 'origin', 'main')
    await fleet.serve('192.0.2.3')
    await fleet.site.publish('192.0.2.4')
    await fleet.serve('192.0.2.4')
    await fleet.haveText('kept', 'before')
    await fleet.writeText('new', 'after')
    await fleet.haveText('new', 'after')
  },
  patienceMs,
)

test(
  'with a remote nothing of the configuration is lost',
  async () => {
    const fleet = await Fleet.start('remote')
    await loseAfterBackup(fleet)
    const said = await fleet.shell(restoreBackup)
    expect(said).toContain('gitops/state.json, keys/node.pem, allowed_signers\n')
    await fleet.startControl()
    await fleet.site.publish('192.0.2.4')
    await fleet.serve('192.0.2.4')
    await fleet.haveText('kept', 'before')
    await fleet.writeText('new', 'after')
    await fleet.haveText('new', 'after')
  },
  patienceMs,
)

test(
  'without a backup a new key and the seq of the nodes bring them on',
  async () => {
    const fleet = await Fleet.start('remote')
    await fleet.site.publish('192.0.2.2')
    await fleet.serve('192.0.2.2')
    const trusted = readFileSync(join(fleet.site.dataDir, 'allowed_signers'))
    await fleet.lose()
    mkdirSync(fleet.site.dataDir)
    writeFileSync(join(fleet.site.dataDir, 'allowed_signers'), trusted)
    fleet.site.write(poolPath, poolYaml('192.0.2.3'))
    await fleet.site.commit('after')
    await fleet.site.push()
    await fleet.startControl()
    await fleet.control.stop()
    const [renumber = '', believe = ''] = blocksOf('Without a backup')
    const said = await fleet.shell(renumber)
    expect(said).toMatch(/^nodes get seq \d+ next$/m)
    await fleet.startControl()
    for (const [at, name] of ['ns1', 'ns2'].entries()) {
      const folder = join(fleet.site.path, name)
      await fleet.shell(believe.replaceAll('/var/lib/gslbd', folder))
      fleet.nodes[at]?.signal('SIGHUP')
    }
    await fleet.serve('192.0.2.3')
  },
  patienceMs,
)

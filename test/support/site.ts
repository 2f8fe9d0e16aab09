// Sets up the surroundings of a `gslbd serve`: settings, a trusted key, and a checkout that real
// git pushes.
import { execFile } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { placeDatabase } from './database-template.ts'
import { gitEnvironment } from './git-sandbox.ts'
import { makeTempDir, removeTempDir } from './temp-dir.ts'
import { newPem, signerLine } from './write-scene.ts'

/** Settings that gslbd.yaml gets over the defaults of a site. */
interface SiteSettings {
  readonly acme?: object
  readonly acmeDns?: object
  readonly discovery?: object
  readonly zonePush?: object
  readonly alerts?: object
  readonly dns?: object
  readonly api?: object
  readonly gitops?: object
  readonly health?: object
  readonly geoip?: object
  readonly asn?: object
  readonly latency?: object
  readonly state?: object
  readonly redis?: object
  readonly database?: object
  readonly auth?: object
  readonly externalDns?: object
  readonly license?: object
  readonly redirect?: object
  readonly roles?: readonly string[]
  readonly logging?: object
  readonly queryLog?: object
  readonly telemetry?: object
  readonly backup?: object
}

const run = promisify(execFile)

const settingsYaml = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones:
    - name: example.com.
      nameservers:
        - { name: ns1.example.com., addresses: ["127.0.0.1"] }
      soa: { mname: ns1.example.com., rname: hostmaster.example.com., minimum: 5, ttl: 60 }
  defaults:
    nameservers:
      - { name: ns1.example.com. }
`
export const poolPath = 'tenants/default/pools/web.yaml'
export const servicePath = 'tenants/default/services/www.yaml'

const head = (kind: string, name: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`

export function poolYaml(address: string, healthCheck = '', name = 'web'): string {
  const check = healthCheck === '' ? '' : `  healthCheck: ${healthCheck}\n`
  const member = `    - { name: a, ipAddress: ${address}, port: 80 }\n`
  return `${head('Pool', name)}spec:\n${check}  members:\n${member}`
}

export function serviceYaml(domain: string, name = 'www', pool = 'web'): string {
  return `${head('Service', name)}spec: { domain: ${domain}, ttl: 5, pool: ${pool} }\n`
}

export class Site {
  readonly path: string
  readonly dataDir: string
  readonly checkout: string
  readonly settingsFile: string
  readonly keyPath: string

  private constructor(label: string) {
    this.path = makeTempDir(label)
    this.dataDir = join(this.path, 'data')
    this.checkout = join(this.path, 'config')
    this.settingsFile = join(this.path, 'gslbd.yaml')
    this.keyPath = join(this.path, 'key')
  }

  /**
   * Makes the data directory with a trusted key, an empty database and an empty origin, and a
   * checkout with one signed commit: www answers 192.0.2.1. The commit is not pushed yet.
   */
  static async make(label: string, settings: SiteSettings = {}): Promise<Site> {
    const site = new Site(label)
    site.writeSettings(settings)
    await site.run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'alice', '-f', site.keyPath)
    const { stdout } = await run('cat', [`${site.keyPath}.pub`])
    mkdirSync(site.dataDir, { recursive: true })
    if (settings.database === undefined) await placeDatabase(site.dataDir)
    writeFileSync(join(site.dataDir, 'allowed_signers'), `alice@example.com ${stdout}`)
    await site.run('git', 'init', '-q', '--bare', '-b', 'main', join(site.dataDir, 'config.git'))
    await site.run('git', 'init', '-q', '-b', 'main', site.checkout)
    await site.git('remote', 'add', 'origin', join(site.dataDir, 'config.git'))
    site.write('gslb.yaml', settingsYaml)
    site.write(servicePath, serviceYaml('www.example.com.'))
    site.write(poolPath, poolYaml('192.0.2.1'))
    await site.commit('first')
    return site
  }

  /** Writes gslbd.yaml: free ports, loopback addresses, the API on. */
  writeSettings({ dns, api, gitops, ...others }: SiteSettings): void {
    const settings = {
      dataDir: './data',
      dns: { listenAddr: '127.0.0.1', port: 0, threads: 1, ...dns },
      api: { enabled: true, port: 0, ...api },
      // Tests ask a node about a commit that it holds.
      gitops: { checkPushes: false, ...gitops },
      ...others,
    }
    // JSON is valid YAML.
    writeFileSync(this.settingsFile, JSON.stringify(settings))
  }

  /** Gives the node its key before its first start, and trusts it: the API may write. */
  trustNode(): void {
    const pem = newPem()
    mkdirSync(join(this.dataDir, 'keys'))
    writeFileSync(join(this.dataDir, 'keys', 'node.pem'), pem, { mode: 0o600 })
    appendFileSync(join(this.dataDir, 'allowed_signers'), signerLine('node@gslbd', pem))
  }

  write(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.checkout, path)), { recursive: true })
    writeFileSync(join(this.checkout, path), content)
  }

  async run(program: string, ...args: string[]): Promise<string> {
    const env = { PATH: process.env['PATH'], HOME: this.path, ...gitEnvironment }
    const { stdout } = await run(program, args, { env, cwd: this.path })
    return stdout.trim()
  }

  git(...args: string[]): Promise<string> {
    return this.run('git', '-C', this.checkout, ...args)
  }

  /** Commits everything in the checkout. @returns the commit */
  async commit(message: string, how: 'signed' | 'unsigned' = 'signed'): Promise<string> {
    await this.git('add', '-A')
    return this.commitIndex(message, how)
  }

  /** Commits the index, whatever the checkout contains. @returns the commit */
  async commitIndex(message: string, how: 'signed' | 'unsigned' = 'signed'): Promise<string> {
    const signing = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${this.keyPath}`]
    const sign = how === 'signed' ? ['-S'] : []
    await this.git(...signing, 'commit', '-q', ...sign, '-m', message)
    return this.git('rev-parse', 'HEAD')
  }

  async push(...args: string[]): Promise<void> {
    await this.git('push', '-q', 'origin', 'main', ...args)
  }

  /** Signs and pushes a commit in which `www` answers `address`. @returns the commit */
  async publish(address: string): Promise<string> {
    this.write(poolPath, poolYaml(address))
    const commit = await this.commit(address)
    await this.push()
    return commit
  }

  /** Resets the checkout and the origin to `commit`. */
  async backTo(commit: string): Promise<void> {
    await this.git('reset', '-q', '--hard', commit)
    await this.git('clean', '-q', '-ffdx')
    await this.git('push', '-q', '--force', 'origin', `${commit}:refs/heads/main`)
  }

  remove(): void {
    removeTempDir(this.path)
  }
}

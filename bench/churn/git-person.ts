// A person who writes to the repository with git: edits, new files, and sometimes a mistake that is
// reverted.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Random } from '#lib/random.ts'
import { sharedCount, sharedName } from './api-lanes.ts'
import type { Tally } from './api-lanes.ts'

const execute = promisify(execFile)
const env = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.com',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.com',
  GIT_TERMINAL_PROMPT: '0',
}
const pushTries = 30
const restMs = 600
/** How long a mistake stays: while the head has one, writes by the API are refused. */
const mistakeMs = 1_000

export const pathOf = (tenant: string, folder: string, name: string): string =>
  `tenants/${tenant}/${folder}/${name}.yaml`

export function serviceText(name: string, pool: string, ttl: number): string {
  return `# By hand.
apiVersion: gslb/v1
kind: Service
metadata: { name: ${name} }
spec:
  domain: ${name}.example.com.
  algorithm: round-robin
  ttl: ${ttl}
  answerCount: 16
  pool: ${pool}
`
}

export function poolText(name: string, addresses: readonly string[]): string {
  const members = addresses.map((one) => `    - { ipAddress: ${one}, port: 443 }\n`).join('')
  return `apiVersion: gslb/v1
kind: Pool
metadata: { name: ${name} }
spec:
  members:
${members}`
}

interface PersonParts {
  readonly directory: string
  readonly origin: string
  readonly tenants: readonly string[]
  readonly random: Random
  readonly tally: Tally
}

export class GitPerson {
  readonly #parts: PersonParts
  readonly #clone: string
  readonly #key: string
  #made = 0

  constructor(parts: PersonParts) {
    this.#parts = parts
    this.#clone = join(parts.directory, 'clone')
    this.#key = join(parts.directory, 'person')
  }

  /** @returns the line for `allowed_signers` */
  async makeKey(): Promise<string> {
    const args = ['-q', '-t', 'ed25519', '-N', '', '-C', 'bench', '-f', this.#key]
    await execute('ssh-keygen', args, { env })
    return `bench@example.com namespaces="git" ${readFileSync(`${this.#key}.pub`, 'utf8')}`
  }

  /** The first commit. */
  async first(files: Readonly<Record<string, string>>): Promise<void> {
    mkdirSync(this.#clone, { recursive: true })
    await this.#git('init', '-q', '-b', 'main')
    await this.#git('remote', 'add', 'origin', this.#parts.origin)
    for (const [path, text] of Object.entries(files)) this.#write(path, text)
    await this.#commit('first')
    await this.#git('push', '-q', 'origin', 'main')
  }

  /** Ends with a head without mistakes. @param untilMs by `performance.now()` */
  async run(untilMs: number): Promise<void> {
    while (performance.now() < untilMs) {
      await sleep(restMs)
      const tenant = this.#oneOf(this.#parts.tenants)
      if (this.#below(12) > 0) await this.#push('good', () => this.#edit(tenant))
      else await this.#mistake(tenant)
    }
  }

  async #mistake(tenant: string): Promise<void> {
    const path = pathOf(tenant, 'services', 'mistake')
    const bad = serviceText(`${tenant}-mistake`, 'nowhere', 5)
    await this.#push('mistake', () => this.#write(path, bad))
    await sleep(mistakeMs)
    await this.#push('taken back', () => rmSync(join(this.#clone, path), { force: true }))
  }

  #edit(tenant: string): void {
    const which = this.#below(4)
    const shared = sharedName(tenant, this.#below(sharedCount))
    const ttl = 1 + this.#below(900)
    if (which === 0) this.#replace(pathOf(tenant, 'services', shared), /ttl: \d+/, `ttl: ${ttl}`)
    else if (which === 1) {
      const file = join(this.#clone, pathOf(tenant, 'services', shared))
      writeFileSync(file, `${readFileSync(file, 'utf8')}# ${ttl}\n`)
    } else if (which === 2) {
      const name = `${tenant}-hand${++this.#made % 9}`
      const path = pathOf(tenant, 'services', name)
      if (existsSync(join(this.#clone, path))) rmSync(join(this.#clone, path))
      else this.#write(path, serviceText(name, `${tenant}-git`, ttl))
    } else {
      const count = 1 + this.#below(5)
      const addresses = Array.from({ length: count }, (_, i) => `10.1.${ttl & 255}.${i + 1}`)
      this.#write(pathOf(tenant, 'pools', `${tenant}-git`), poolText(`${tenant}-git`, addresses))
    }
  }

  /** Repeats the edit on top of foreign pushes as often as needed. */
  async #push(what: string, edit: () => void): Promise<void> {
    for (let tries = 1; tries <= pushTries; tries++) {
      await this.#git('fetch', '-q', 'origin')
      await this.#git('reset', '-q', '--hard', 'origin/main')
      edit()
      if ((await this.#git('status', '--porcelain')) === '') return
      await this.#commit(what)
      try {
        await this.#git('push', '-q', 'origin', 'main')
        return this.#parts.tally.add(`Git, ${what}: pushed`)
      } catch {
        this.#parts.tally.add('Git: others were faster')
        await sleep(this.#below(100))
      }
    }
    this.#parts.tally.add(`Git, ${what}: given up`)
  }

  #replace(path: string, pattern: RegExp, text: string): void {
    const file = join(this.#clone, path)
    writeFileSync(file, readFileSync(file, 'utf8').replace(pattern, text))
  }

  #write(path: string, text: string): void {
    const file = join(this.#clone, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  async #commit(message: string): Promise<void> {
    await this.#git('add', '-A')
    const signing = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${this.#key}`]
    await this.#git(...signing, 'commit', '-q', '-S', '-m', message)
  }

  async #git(...args: string[]): Promise<string> {
    const { stdout } = await execute('git', ['-C', this.#clone, ...args], { env })
    return stdout.trim()
  }

  #oneOf<T>(all: readonly T[]): T {
    return all[this.#below(all.length)]!
  }

  #below(limit: number): number {
    return this.#parts.random.next() % limit
  }
}

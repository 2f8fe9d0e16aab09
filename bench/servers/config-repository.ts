// A configuration repository with many files, whose commits are signed and pushed to a running
// daemon.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { manyFiles } from '../data/many-files.ts'
import type { ConfigFile } from '../data/many-files.ts'
import { startProgram } from './program.ts'

interface Pushed {
  /** As of `performance.now()`. */
  readonly commitStartedMs: number
  readonly pushStartedMs: number
  readonly pushedMs: number
}

/** A service with one member, whose address identifies the serving commit. */
export const probeName = 'probe.gslb.example.com'

const gitEnvironment = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.com',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.com',
  GIT_TERMINAL_PROMPT: '0',
}

export class ConfigRepository {
  readonly #path: string
  readonly #keyPath: string

  /** @param directory for the clone and the key */
  constructor(directory: string) {
    this.#path = join(directory, 'clone')
    this.#keyPath = join(directory, 'key')
  }

  /** Makes the signing key. @returns the line for `allowed_signers` */
  async makeKey(): Promise<string> {
    mkdirSync(dirname(this.#keyPath), { recursive: true })
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'bench', '-f', this.#keyPath])
    const line = readFileSync(`${this.#keyPath}.pub`, 'utf8').trim()
    return `bench@example.com namespaces="git" ${line}\n`
  }

  /** An empty repository whose origin is `originPath`. */
  async open(originPath: string): Promise<void> {
    mkdirSync(this.#path)
    await this.#git('init', '-q', '-b', 'main')
    await this.#git('remote', 'add', 'origin', originPath)
  }

  /** Writes the configuration of `services` services and the probe. */
  writeMany(services: number, probeAddress: string): void {
    this.writeWithProbe(manyFiles(services), probeAddress)
  }

  /** Writes a configuration and the probe's service. */
  writeWithProbe(files: Iterable<ConfigFile>, probeAddress: string): void {
    this.write(files)
    this.#write({
      path: 'tenants/default/services/probe.yaml',
      text: `apiVersion: gslb/v1
kind: Service
metadata: { name: probe }
spec: { domain: ${probeName}., algorithm: round-robin, ttl: 1, pool: probe }
`,
    })
    this.writeProbe(probeAddress)
  }

  write(files: Iterable<ConfigFile>): void {
    for (const file of files) this.#write(file)
  }

  /** Changes one file. */
  writeProbe(address: string): void {
    this.#write({
      path: 'tenants/default/pools/probe.yaml',
      text: `apiVersion: gslb/v1
kind: Pool
metadata: { name: probe }
spec:
  members:
    - { name: only, ipAddress: ${address}, port: 443 }
`,
    })
  }

  async commitAndPush(paths: readonly string[] = ['tenants/default/pools']): Promise<Pushed> {
    await this.#git('add', '--', ...paths)
    const commitStartedMs = performance.now()
    const signing = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${this.#keyPath}`]
    await this.#git(...signing, 'commit', '-q', '-S', '-m', 'A change')
    const pushStartedMs = performance.now()
    await this.#git('push', '-q', 'origin', 'main')
    return { commitStartedMs, pushStartedMs, pushedMs: performance.now() }
  }

  #write({ path, text }: ConfigFile): void {
    const file = join(this.#path, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  async #git(...args: string[]): Promise<void> {
    await run('git', ['-C', this.#path, ...args])
  }
}

async function run(name: string, args: readonly string[]): Promise<void> {
  const program = startProgram(name, args, { env: gitEnvironment })
  const code = await program.ended
  if (code !== 0) throw new Error(`${name} ${args.join(' ')} ended (${code}): ${program.errors()}`)
}

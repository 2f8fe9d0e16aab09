// A realm of Kerberos in a folder of its own: MIT's KDC on a port of loopback, its principals, and
// their keytabs.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { saidBy } from './said-by.ts'
import { waitUntil } from './wait-until.ts'

/** Debian keeps the programs of a server outside of PATH of users. */
const programs = { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }

export class Realm {
  readonly name = 'EXAMPLE.COM'
  readonly #path: string
  #kdc: ChildProcess | undefined

  /** @param path an empty folder */
  constructor(path: string) {
    this.#path = path
  }

  /** For the programs of clients. */
  get env(): Readonly<Record<string, string>> {
    return {
      ...programs,
      KRB5_CONFIG: join(this.#path, 'krb5.conf'),
      KRB5_KDC_PROFILE: join(this.#path, 'kdc.conf'),
      KRB5CCNAME: `FILE:${join(this.#path, 'cache')}`,
    }
  }

  async start(): Promise<void> {
    const port = await freePort()
    mkdirSync(this.#path, { recursive: true })
    const at = (name: string): string => join(this.#path, name)
    writeFileSync(
      at('krb5.conf'),
      `[libdefaults]
  default_realm = ${this.name}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
[realms]
  ${this.name} = { kdc = 127.0.0.1:${port} }
[domain_realm]
  .example.com = ${this.name}
`.replace(/\{ (.*) \}/, '{\n    $1\n  }'),
    )
    writeFileSync(
      at('kdc.conf'),
      `[kdcdefaults]
  kdc_listen = 127.0.0.1:${port}
  kdc_tcp_listen = 127.0.0.1:${port}
[realms]
  ${this.name} = {
    database_name = ${at('principal')}
    key_stash_file = ${at('stash')}
    acl_file = ${at('acl')}
    max_life = 1d
  }
`,
    )
    await this.run('kdb5_util', ['create', '-s', '-r', this.name, '-P', 'master'])
    const log = at('kdc.log')
    this.#kdc = spawn('krb5kdc', ['-n', '-P', at('kdc.pid')], {
      env: { ...process.env, ...this.env, KRB5_TRACE: log },
      stdio: 'ignore',
    })
    await this.addPrincipal('probe')
    const tries = async (): Promise<boolean> => {
      const { code } = await saidBy('kinit', this.#kinitOf('probe'), { env: this.env })
      return code === 0
    }
    await waitUntil('the KDC to answer', tries, { timeoutMs: 30_000 })
  }

  /** @returns the path of its keytab */
  async addPrincipal(principal: string): Promise<string> {
    const keytab = this.#keytabOf(principal)
    await this.run('kadmin.local', ['-q', `addprinc -randkey ${principal}`])
    await this.exportKey(principal, keytab)
    return keytab
  }

  /** Makes a new key of the principal, of the next version, and writes it behind what is there. */
  async exportKey(principal: string, keytab: string): Promise<void> {
    await this.run('kadmin.local', ['-q', `ktadd -k ${keytab} ${principal}`])
  }

  /** Writes the keys of one keytab behind those of another. */
  async addToKeytab(from: string, to: string): Promise<void> {
    const input = `rkt ${from}\nwkt ${to}\nquit\n`
    await saidBy('ktutil', [], { input, env: this.env })
  }

  /** From now on, clients are this principal. @param life of the ticket, as `1d` or `5s` */
  async login(principal: string, life = '1d'): Promise<void> {
    await this.run('kinit', ['-l', life, ...this.#kinitOf(principal)])
  }

  async logout(): Promise<void> {
    await saidBy('kdestroy', ['-q'], { env: this.env })
  }

  stop(): void {
    this.#kdc?.kill()
  }

  async run(program: string, args: readonly string[]): Promise<string> {
    const { text, code } = await saidBy(program, args, { env: this.env })
    if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${text}`)
    return text
  }

  #keytabOf(principal: string): string {
    return join(this.#path, `${principal.replace(/\W/g, '-')}.keytab`)
  }

  #kinitOf(principal: string): string[] {
    return ['-k', '-t', this.#keytabOf(principal), principal]
  }
}

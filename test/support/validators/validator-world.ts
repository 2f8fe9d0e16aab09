// A small internet in its own network: a signed root, a node of ours with a signed zone below it,
// zones below that one on another server, and validating resolvers.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { signedName } from '../dns/signed-zone.ts'
import { Namespaces } from '../namespaces.ts'
import { waitUntil } from '../wait-until.ts'
import { plainResolver, resolverRows } from './resolvers.ts'
import type { ResolverRow, RootOfTest } from './resolvers.ts'

const place = 'world'
const rootAddress = '198.41.0.4'
export const nodeAddress = '11.1.1.53'
const childAddress = '11.1.1.60'
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin`, LC_ALL: 'C' }

const rootZone = (ds: string): string => `$TTL 86400
. SOA a.root-servers.net. hostmaster.mail.test. 1 14400 3600 604800 3600
. NS a.root-servers.net.
a.root-servers.net. A ${rootAddress}
${signedName} NS ns1.${signedName}
${signedName} NS ns2.${signedName}
ns1.${signedName} A ${nodeAddress}
ns2.${signedName} A ${nodeAddress}
${ds}
`

const childZone = (name: string): string => `$TTL 300
${name} SOA ns1.${name} hostmaster.${name} 1 14400 3600 604800 60
${name} NS ns1.${name}
ns1.${name} A ${childAddress}
www.${name} A 192.0.2.66
old.${name} DNAME new.${name}
host.new.${name} A 192.0.2.67
`

/** Zones below: one with keys, and one without. */
const securedChild = `real.${signedName}`
const openChild = `open.${signedName}`

const moreRecords = (ds: string): string => `
ns1 300 A ${nodeAddress}
ns2 300 A ${nodeAddress}
open 300 NS ns1.open
ns1.open 300 A ${childAddress}
real 300 NS ns1.real
${ds}
ns1.real 300 A ${childAddress}
toreal 300 CNAME www.real
toopen 300 CNAME www.open
big 300 TXT ${Array.from({ length: 8 }, (_, i) => `"${String(i).repeat(250)}"`).join(' ')}
`

const nsdConf = (address: string, zones: Readonly<Record<string, string>>): string => `server:
  ip-address: ${address}
  username: ""
  zonesdir: "."
  database: ""
  pidfile: ""
  xfrdfile: "xfrd.state"
  zonelistfile: "zone.list"
  cookie-secret-file: ""
remote-control:
  control-enable: no
${Object.entries(zones)
  .map(([name, file]) => `zone:\n  name: "${name}"\n  zonefile: "${file}"\n`)
  .join('')}`

export interface Reply {
  readonly question: string
  readonly rcode: string
  readonly isSecure: boolean
  /** Records of the answer but RRSIG: `TYPE DATA`. */
  readonly records: readonly string[]
}

export class ValidatorWorld {
  readonly #spaces: Namespaces
  readonly #folder: string
  readonly #children: ChildProcess[] = []
  #node: ChildProcess | undefined
  #said: AsyncIterator<string> | undefined
  root: RootOfTest = { address: rootAddress, ds: '', dnskey: '' }

  private constructor(spaces: Namespaces, folder: string) {
    this.#spaces = spaces
    this.#folder = folder
  }

  /** @param algorithm of the zone's key: 13 or 15 */
  static async make(folder: string, algorithm: number): Promise<ValidatorWorld> {
    const spaces = await Namespaces.make(place)
    const world = new ValidatorWorld(spaces, folder)
    try {
      await world.#start(algorithm)
    } catch (error) {
      world.remove()
      throw error
    }
    return world
  }

  remove(): void {
    for (const child of this.#children) child.kill('SIGKILL')
    this.#spaces.remove()
  }

  async #start(algorithm: number): Promise<void> {
    const all = [plainResolver, ...resolverRows].map(({ address }) => address)
    for (const address of [rootAddress, nodeAddress, childAddress, ...all]) {
      await this.#spaces.addAddress(place, `${address}/32`, 'lo')
    }
    // systemd-resolved sends no queries on a machine with only a loopback link.
    await this.#spaces.run(place, 'ip', 'link', 'add', 'one', 'type', 'veth', 'peer', 'name', 'two')
    await this.#spaces.addAddress(place, '11.2.2.1/24', 'one')
    for (const end of ['one', 'two']) {
      await this.#spaces.run(place, 'ip', 'link', 'set', end, 'up')
    }
    const sysctl = 'net.ipv4.ip_unprivileged_port_start=0'
    await this.#spaces.run(place, 'sysctl', '-q', '-w', sysctl)
    const below = this.#makeFolder('below')
    writeFileSync(join(below, 'open.zone'), childZone(openChild))
    const childKey = signZone(below, securedChild, childZone(securedChild))
    const nsd = ['nsd', '-d', '-c', 'nsd.conf']
    const zones = { [openChild]: 'open.zone', [securedChild]: 'zone.signed' }
    writeFileSync(join(below, 'nsd.conf'), nsdConf(childAddress, zones))
    this.#run(below, nsd)
    const nodeDs = await this.#startNode(algorithm, `${securedChild} 300 IN DS ${childKey.ds}`)
    const above = this.#makeFolder('root')
    const rootKey = signZone(above, '.', rootZone(nodeDs))
    this.root = { address: rootAddress, ...rootKey }
    writeFileSync(join(above, 'nsd.conf'), nsdConf(rootAddress, { '.': 'zone.signed' }))
    this.#run(above, nsd)
    await this.#answers(rootAddress, '. SOA')
    await this.#answers(childAddress, `${securedChild} SOA`)
    await Promise.all([plainResolver, ...resolverRows].map((row) => this.#startResolver(row)))
  }

  async #startNode(algorithm: number, ds: string): Promise<string> {
    const folder = this.#makeFolder('node')
    writeFileSync(join(folder, 'more.zone'), moreRecords(ds))
    const script = join(import.meta.dirname, 'signed-node-child.ts')
    const args = [folder, `${algorithm}`, nodeAddress, join(folder, 'more.zone')]
    this.#node = this.#run(folder, [process.execPath, script, ...args], 'pipe')
    this.#said = createInterface(this.#node.stdout!)[Symbol.asyncIterator]()
    return (await this.#said.next()).value as string
  }

  async #startResolver(row: ResolverRow): Promise<void> {
    const folder = this.#makeFolder(row.name)
    for (const [name, text] of Object.entries(row.files(this.root, row.address))) {
      writeFileSync(join(folder, name), text)
    }
    this.#run(folder, row.command)
    await this.#answers(row.address, '. SOA')
  }

  async #answers(address: string, question: string): Promise<void> {
    await waitUntil(`${address} to answer`, async () => {
      const [reply] = await this.ask(address, [question])
      return reply?.rcode === 'NOERROR'
    })
  }

  /** Enables these members of the pool alone, by a swap. */
  async enable(members: readonly string[]): Promise<void> {
    this.#node!.stdin!.write(`${members.join(' ')}\n`)
    await this.#said!.next()
  }

  /** Pauses the node with SIGSTOP until it is continued. */
  pauseNode(isPaused: boolean): void {
    this.#node?.kill(isPaused ? 'SIGSTOP' : 'SIGCONT')
  }

  async ask(address: string, questions: readonly string[]): Promise<readonly Reply[]> {
    const options = ['+dnssec', '+time=5', '+tries=1', '+nocookie']
    const asked = questions.flatMap((question) => [`@${address}`, ...question.split(' ')])
    const text = await this.run('dig', ...options, ...asked)
    const parts = text.split(/^;; ->>HEADER/m).slice(1)
    return questions.map((question) => {
      const [name, type] = question.split(' ')
      const head = `;${name}\tIN\t${type}`.toLowerCase()
      const same = (part: string): boolean =>
        part.replaceAll(/\t+/g, '\t').toLowerCase().includes(`${head}\n`)
      return replyOf(question, parts.find(same) ?? '')
    })
  }

  /** @returns its output, however it ends */
  async run(...command: readonly string[]): Promise<string> {
    const [program = '', ...args] = [...this.#spaces.before(place), ...command]
    const child = spawn(program, args, { cwd: this.#folder, env })
    let text = ''
    for (const output of [child.stdout, child.stderr]) {
      output.on('data', (octets: Buffer) => (text += octets.toString()))
    }
    await once(child, 'close')
    return text
  }

  #run(folder: string, command: readonly string[], stdout: 'pipe' | 'log' = 'log'): ChildProcess {
    const [program = '', ...args] = [...this.#spaces.before(place), ...command]
    const log = openSync(join(folder, 'log'), 'a')
    const isPiped = stdout === 'pipe'
    const stdio = [isPiped ? 'pipe' : 'ignore', isPiped ? 'pipe' : log, log] as const
    const child = spawn(program, args, { cwd: folder, env, stdio: [...stdio] })
    this.#children.push(child)
    return child
  }

  #makeFolder(name: string): string {
    const folder = join(this.#folder, name.replace(' ', '-'))
    mkdirSync(folder)
    return folder
  }
}

/** Makes a key in the folder, and `zone.signed`. */
function signZone(folder: string, name: string, text: string): { ds: string; dnskey: string } {
  const run = (program: string, ...args: string[]): string =>
    execFileSync(program, args, { cwd: folder, env, encoding: 'utf8' }).trim()
  writeFileSync(join(folder, 'zone'), text)
  const base = run('ldns-keygen', '-r', '/dev/urandom', '-a', 'ECDSAP256SHA256', '-k', name)
  run('ldns-signzone', '-o', name, '-f', 'zone.signed', 'zone', base)
  const record = readFileSync(join(folder, `${base}.key`), 'utf8')
  const [, dnskey = ''] = /DNSKEY\s+(.*?)\s*(?:;|$)/m.exec(record) ?? []
  const [, ds = ''] = /DS\s+(.*)$/m.exec(run('ldns-key2ds', '-n', '-2', `${base}.key`)) ?? []
  return { ds: ds.trim(), dnskey }
}

/** @param text output of dig for one question */
function replyOf(question: string, text: string): Reply {
  const [, rcode = 'no reply'] = /status: (\w+)/.exec(text) ?? []
  const [, flags = ''] = /flags: ([a-z ]*);/.exec(text) ?? []
  const [, answer = ''] = /;; ANSWER SECTION:\n((?:.+\n)*)/.exec(text) ?? []
  const records = answer
    .split('\n')
    .map((line) => line.split(/\s+/).slice(3).join(' '))
    .filter((line) => line !== '' && !line.startsWith('RRSIG'))
  return { question, rcode, isSecure: flags.split(' ').includes('ad'), records }
}

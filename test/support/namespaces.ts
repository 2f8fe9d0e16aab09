// Machines of a test: network namespaces with links, addresses and processes, in a user namespace.
// The kernel removes them when their last process ends.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

const path = `${process.env['PATH']}:/usr/sbin:/sbin`
const env = { PATH: path, LC_ALL: 'C' }
/** Prints a line when the namespace exists, then keeps it. */
const keep = ['sh', '-c', 'echo made; exec sleep infinity']

export class Namespaces {
  readonly #keepers: Map<string, ChildProcess>
  readonly #spawned: ChildProcess[] = []

  private constructor(keepers: Map<string, ChildProcess>) {
    this.#keepers = keepers
  }

  /** @throws where the user may not make them, so that such tests are never skipped silently */
  static async make(...names: readonly string[]): Promise<Namespaces> {
    const keepers = new Map<string, ChildProcess>()
    const made = new Namespaces(keepers)
    try {
      for (const name of names) {
        const [first] = keepers.values()
        const inside = first === undefined ? [] : enter(first, '--user')
        const outer = first === undefined ? ['--user', '--map-root-user'] : []
        const [program = '', ...args] = [...inside, 'unshare', ...outer, '--net', ...keep]
        keepers.set(name, await keeper(program, args))
      }
      for (const name of names) await made.run(name, 'ip', 'link', 'set', 'lo', 'up')
    } catch (error) {
      made.remove()
      throw error
    }
    return made
  }

  /** Command prefix that runs a program there. */
  before(name: string): readonly string[] {
    return enter(this.#keeper(name), '--user', '--net')
  }

  /** Command prefix that runs a program in its network only, as the calling user. */
  beforeAsSelf(name: string): readonly string[] {
    return ['nsenter', `--net=/proc/${this.#keeper(name).pid}/ns/net`]
  }

  /**
   * @returns its output.
   * @throws when it fails
   */
  async run(name: string, ...command: readonly string[]): Promise<string> {
    const [program = '', ...args] = [...this.before(name), ...command]
    const { stdout } = await promisify(execFile)(program, args, { env, timeout: 60_000 })
    return stdout
  }

  /** Its input and output are pipes. */
  spawn(name: string, ...command: readonly string[]): ChildProcess {
    const [program = '', ...args] = [...this.before(name), ...command]
    const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    child.on('error', () => undefined)
    this.#spawned.push(child)
    return child
  }

  /** Links two of them. @param ends a namespace and its addresses, with prefix lengths */
  async link(...ends: readonly (readonly [name: string, ...addresses: string[]])[]): Promise<void> {
    const [[here] = [''], [there] = ['']] = ends
    const names = [`to-${there}`, `to-${here}`]
    const peer = ['peer', 'name', names[1]!, 'netns', String(this.#keeper(there).pid)]
    await this.run(here, 'ip', 'link', 'add', names[0]!, 'type', 'veth', ...peer)
    for (const [i, [name, ...addresses]] of ends.entries()) {
      for (const address of addresses) await this.addAddress(name, address, names[i]!)
      await this.run(name, 'ip', 'link', 'set', names[i]!, 'up')
    }
  }

  async addAddress(name: string, address: string, device: string): Promise<void> {
    // Skips duplicate address detection, which delays IPv6.
    const options = address.includes(':') ? ['nodad'] : []
    await this.run(name, 'ip', 'address', 'add', address, 'dev', device, ...options)
  }

  /** Kills everything started there, and with it the namespaces. */
  remove(): void {
    for (const child of [...this.#spawned, ...this.#keepers.values()]) child.kill('SIGKILL')
  }

  #keeper(name: string): ChildProcess {
    const found = this.#keepers.get(name)
    if (found === undefined) throw new Error(`there is no namespace ${name}`)
    return found
  }
}

const enter = ({ pid }: ChildProcess, ...spaces: readonly string[]): readonly string[] => [
  ...['nsenter', '--target', String(pid), '--preserve-credentials', ...spaces],
]

async function keeper(program: string, args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (complaint += chunk))
  const made = once(child.stdout, 'data')
  const failed = once(child, 'close').then(() => {
    throw new Error(
      `no network namespace can be made: ${complaint.trim()}; this test needs root, or Linux ` +
        'with user namespaces (in a container, --privileged)',
    )
  })
  await Promise.race([made, failed])
  failed.catch(() => undefined)
  return child
}

// Two nodes with one address and a router between them, each with a BIRD configured as in
// docs/operations/anycast.md.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Namespaces } from './namespaces.ts'
import type { StreamReport } from './query-stream.ts'
import { waitUntil } from './wait-until.ts'

export const serviceAddress = '192.0.2.53'
export const serviceAddress6 = '2001:db8:53::53'
export const nodeNames = ['one', 'two'] as const
export type NodeName = (typeof nodeNames)[number]

const page = join(import.meta.dirname, '../../docs/operations/anycast.md')
/** The second node's own network, in place of the first one's. */
const ownNetwork: Readonly<Record<NodeName, (text: string) => string>> = {
  one: (text) => text,
  two: (text) => text.replaceAll('10.0.1.', '10.0.2.').replaceAll('2001:db8:1::', '2001:db8:2::'),
}

/** The indented block of the page that begins with the name of its file. */
export function fileOfPage(head: string): string {
  const lines = readFileSync(page, 'utf8').split('\n')
  const first = lines.indexOf(`    # ${head}`)
  if (first < 0) throw new Error(`docs/operations/anycast.md has no block "# ${head}"`)
  const end = lines.findIndex((line, at) => at > first && /^\S/.test(line))
  return lines
    .slice(first, end)
    .map((line) => line.slice(4))
    .join('\n')
}

export class AnycastNetwork {
  readonly spaces: Namespaces
  readonly #directory: string
  readonly #birds = new Map<string, ChildProcess>()

  private constructor(spaces: Namespaces, directory: string) {
    this.spaces = spaces
    this.#directory = directory
  }

  /** Makes links, addresses, and a BIRD in each; nothing is announced yet. */
  static async make(directory: string): Promise<AnycastNetwork> {
    const spaces = await Namespaces.make('router', ...nodeNames)
    const network = new AnycastNetwork(spaces, directory)
    try {
      for (const [i, name] of nodeNames.entries()) {
        const [v4, v6] = [`10.0.${i + 1}.`, `2001:db8:${i + 1}::`]
        const end = (host: number): string[] => [`${v4}${host}/24`, `${v6}${host}/64`]
        await spaces.link(['router', ...end(1)], [name, ...end(2)])
        await spaces.addAddress(name, `${serviceAddress}/32`, 'lo')
        await spaces.addAddress(name, `${serviceAddress6}/128`, 'lo')
        await spaces.run(name, 'ip', 'route', 'add', 'default', 'via', `${v4}1`)
        await network.startBird(name)
      }
      await network.startBird('router')
    } catch (error) {
      spaces.remove()
      throw error
    }
    return network
  }

  socketOf(name: string): string {
    return join(this.#directory, `${name}.ctl`)
  }

  async startBird(name: NodeName | 'router'): Promise<void> {
    const text =
      name === 'router'
        ? fileOfPage('/etc/bird/bird.conf of a router')
        : ownNetwork[name](fileOfPage('/etc/bird/bird.conf of a node'))
    const conf = join(this.#directory, `${name}.conf`)
    writeFileSync(conf, text)
    const socket = this.socketOf(name)
    rmSync(socket, { force: true })
    const pid = join(this.#directory, `${name}.pid`)
    const bird = this.spaces.spawn(name, 'bird', '-f', '-c', conf, '-s', socket, '-P', pid)
    let said = ''
    bird.stderr?.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
    this.#birds.set(name, bird)
    await waitUntil(`the BIRD of ${name}`, async () => {
      if (bird.exitCode !== null) throw new Error(`bird has ended: ${said}`)
      return (await this.birdc(name, 'show', 'status')).includes('Daemon is up')
    })
  }

  async killBird(name: NodeName): Promise<void> {
    const bird = this.#birds.get(name)!
    bird.kill('SIGKILL')
    if (bird.exitCode === null && bird.signalCode === null) await once(bird, 'exit')
  }

  birdc(name: string, ...words: readonly string[]): Promise<string> {
    return this.spaces.run(name, 'birdc', '-s', this.socketOf(name), ...words)
  }

  /** Lines of the router about an address, one for each node that announces it. */
  async routes(address = `${serviceAddress}/32`): Promise<readonly string[]> {
    // BIRD fails when there is no such route.
    const said = await this.birdc('router', 'show', 'route', 'for', address).catch(() => '')
    return said.split('\n').filter((line) => / unicast \[/.test(line))
  }

  /** Nodes with a route at the router. */
  async announcing(address?: string): Promise<readonly NodeName[]> {
    return nodesIn(await this.routes(address))
  }

  /** The node whose route the router uses. */
  async best(): Promise<readonly NodeName[]> {
    return nodesIn((await this.routes()).filter((line) => line.includes('] * (')))
  }

  /** A client beside the router, which queries the address all the time. */
  client(question: string): QueryStream {
    const script = join(import.meta.dirname, 'query-stream.ts')
    const args = [process.execPath, script, serviceAddress, question]
    return new QueryStream(this.spaces.spawn('router', ...args))
  }

  remove(): void {
    this.spaces.remove()
  }
}

function nodesIn(lines: readonly string[]): NodeName[] {
  const has = (word: string): boolean => lines.some((line) => line.includes(`[${word}`))
  return nodeNames.filter((_, i) => has(['first', 'second'][i]!))
}

export class QueryStream {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string, undefined>

  constructor(child: ChildProcess) {
    this.#child = child
    this.#lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
  }

  /** The outcome of the queries since the last call: each was answered or lost. */
  async report(): Promise<StreamReport> {
    return (await this.#ask('report')) as StreamReport
  }

  /** The last answer; empty: none. */
  async last(): Promise<string> {
    return (await this.#ask('last')) as string
  }

  async #ask(word: string): Promise<unknown> {
    this.#child.stdin!.write(`${word}\n`)
    const line: IteratorResult<string, undefined> = await this.#lines.next()
    return JSON.parse(line.value ?? '')
  }
}

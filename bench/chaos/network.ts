// The network between the machines: links from each to the hub, links from the clients to the
// answering nodes, and their faults.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Namespaces } from '#test/support/namespaces.ts'
import { allHosts, answering, clients, controlAddress, hub } from './hosts.ts'
import type { Host } from './hosts.ts'

/** Applies in both directions: a round trip takes twice the delay. */
interface Impairment {
  readonly delayMs: number
  /** From 0 to 1. */
  readonly loss: number
}

export class Network {
  readonly spaces: Namespaces
  readonly #wires = new Map<Host, ChildProcess>()

  private constructor(spaces: Namespaces) {
    this.spaces = spaces
  }

  static async make(): Promise<Network> {
    const names = allHosts.map(({ name }) => name)
    const spaces = await Namespaces.make(hub, clients, ...names)
    const network = new Network(spaces)
    await spaces.run(hub, 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1')
    for (const host of allHosts) {
      const { name, number } = host
      await spaces.link([hub, `10.9.${number}.1/24`], [name, `${controlAddress(host)}/24`])
      await spaces.run(name, 'ip', 'route', 'add', '10.9.0.0/16', 'via', `10.9.${number}.1`)
      if (!answering.includes(host)) continue
      await spaces.link([clients, `10.8.${number}.1/24`], [name, `10.8.${number}.2/24`])
    }
    return network
  }

  /** Cuts two machines off from each other; connections hang, as behind a broken switch. */
  async cut(one: Host, other: Host): Promise<void> {
    await this.#route('add', one, other)
    await this.#route('add', other, one)
  }

  async heal(one: Host, other: Host): Promise<void> {
    await this.#route('del', one, other)
    await this.#route('del', other, one)
  }

  async #route(what: 'add' | 'del', from: Host, to: Host): Promise<void> {
    await this.spaces.run(from.name, 'ip', 'route', what, 'blackhole', `${controlAddress(to)}/32`)
  }

  /** Sends all control traffic of a machine through a bad wire. */
  async impair(host: Host, { delayMs, loss }: Impairment): Promise<void> {
    const device = `bad-${host.name}`
    const script = join(import.meta.dirname, 'wire.ts')
    const args = [script, device, String(delayMs), String(loss)]
    const wire = this.spaces.spawn(hub, process.execPath, ...args)
    let said = ''
    wire.stderr?.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
    const ended = once(wire, 'exit').then(() => {
      throw new Error(`the wire of ${host.name} has ended: ${said}`)
    })
    ended.catch(() => undefined)
    await Promise.race([once(wire.stdout!, 'data'), ended])
    this.#wires.set(host, wire)
    const table = String(100 + host.number)
    await this.#inHub('ip', 'link', 'set', device, 'up')
    await this.#inHub('ip', 'route', 'add', 'default', 'dev', device, 'table', table)
    for (const rule of rules(host, device)) await this.#inHub('ip', 'rule', 'add', ...rule)
  }

  async repair(host: Host): Promise<void> {
    const device = `bad-${host.name}`
    for (const rule of rules(host, device)) await this.#inHub('ip', 'rule', 'del', ...rule)
    // The device ends with its process, the route with its device.
    const wire = this.#wires.get(host)
    this.#wires.delete(host)
    wire?.kill('SIGKILL')
  }

  async #inHub(...command: readonly string[]): Promise<void> {
    await this.spaces.run(hub, ...command)
  }

  remove(): void {
    this.spaces.remove()
  }
}

/** Packets from the wire take the usual route; all others of the machine take the wire. */
function rules(host: Host, device: string): readonly (readonly string[])[] {
  const table = String(100 + host.number)
  return [
    ['pref', String(host.number * 10), 'iif', device, 'lookup', 'main'],
    ['pref', String(host.number * 10 + 1), 'iif', `to-${host.name}`, 'lookup', table],
    ['pref', String(host.number * 10 + 2), 'to', `${controlAddress(host)}/32`, 'lookup', table],
  ]
}

// Records the clients' view second by second, and sums it over a fault.
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Downs } from './downs.ts'
import type { Hosted } from './hosted.ts'
import { clients } from './hosts.ts'
import type { LoadOptions, NodeLoad } from './load.ts'
import type { Network } from './network.ts'
import type { Writer } from './writer.ts'

export interface Seen {
  sent: number
  lost: number
  /** Lost queries, also of killed nodes, that were answered later. */
  late: number
  /** Lost queries whose answers the clients were too slow to receive. */
  overrun: number
  /** The clients' longest pause, which may explain a gap. */
  sleptMs: number
  /** Queries lost by nodes from a kill until they answered all again. */
  lostOfKilled: number
  wrong: number
  /** Longest time without an answer of a node that was not just killed. */
  gapMs: number
  gapOfKilledMs: number
  /** Longest time that an outdated answer was given after a newer push. */
  ageMs: number
  readonly samples: string[]
  /** Losses of each node, second by second. */
  readonly losses: Loss[]
}

interface Loss {
  readonly node: string
  readonly lost: number
  /** From the start of the fault until the clients gave up. */
  readonly afterMs: number
  readonly at: string
}

const stepMs = 1_000
const lossesMost = 10_000

export class Monitor {
  readonly #writer: Writer
  readonly #nodes: readonly Hosted[]
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string, undefined>
  #seen = nothing()
  #sinceMs = 0
  readonly #downs = new Downs()
  #beats = new Map<string, number>()
  #isOver = false
  #running: Promise<void> = Promise.resolve()

  constructor(network: Network, writer: Writer, nodes: readonly Hosted[], options: LoadOptions) {
    this.#writer = writer
    this.#nodes = nodes
    const script = join(import.meta.dirname, 'load.ts')
    const args = [script, JSON.stringify(options)]
    this.#child = network.spaces.spawn(clients, process.execPath, ...args)
    this.#child.stderr?.on('data', (chunk: Buffer) => process.stderr.write(chunk))
    this.#lines = createInterface(this.#child.stdout!)[Symbol.asyncIterator]()
  }

  start(): void {
    this.#running = this.#run()
  }

  begin(): void {
    this.#seen = nothing()
    this.#sinceMs = performance.now()
    this.#downs.begin(this.#sinceMs)
  }

  /** Waits until the last queries are answered or lost. */
  async end(): Promise<Seen> {
    await sleep(3 * stepMs)
    return this.#seen
  }

  /** @returns milliseconds until every node answers with a commit made after the call */
  async recovered(patienceMs: number): Promise<number | undefined> {
    const startMs = performance.now()
    const wanted = this.#writer.last + 1
    while (performance.now() < startMs + patienceMs) {
      await sleep(100)
      const isEverywhere = [...this.#beats.values()].every((beat) => beat >= wanted)
      if (this.#beats.size > 0 && isEverywhere) return performance.now() - startMs
    }
    return undefined
  }

  get beats(): ReadonlyMap<string, number> {
    return this.#beats
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
    this.#child.kill('SIGKILL')
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await sleep(stepMs)
      this.#child.stdin!.write('report\n')
      const line: IteratorResult<string, undefined> = await this.#lines.next()
      if (line.value === undefined) throw new Error('the clients have ended')
      for (const load of JSON.parse(line.value) as NodeLoad[]) this.#add(load)
    }
  }

  #add({ name, sent, lost, wrong, gapMs, beat, samples, ...own }: NodeLoad): void {
    const seen = this.#seen
    seen.late += own.late
    seen.overrun += own.overrun
    seen.sleptMs = Math.max(seen.sleptMs, own.sleptMs)
    if (lost > 0 && seen.losses.length < lossesMost) {
      const afterMs = Math.round(performance.now() - this.#sinceMs)
      seen.losses.push({ node: name, lost, afterMs, at: new Date().toISOString() })
    }
    seen.sent += sent
    seen.wrong += wrong
    seen.samples.push(...samples.map((sample) => `${name} ${sample}`))
    this.#beats.set(name, beat)
    if (beat >= 0) seen.ageMs = Math.max(seen.ageMs, this.#writer.ageMs(beat))
    if (this.#isDown(name, lost)) {
      seen.lostOfKilled += lost
      seen.gapOfKilledMs = Math.max(seen.gapOfKilledMs, gapMs)
    } else {
      seen.lost += lost
      seen.gapMs = Math.max(seen.gapMs, gapMs)
    }
  }

  #isDown(name: string, lost: number): boolean {
    const node = this.#nodes.find(({ host }) => host.name === name)
    const killedMs = node?.killedMs ?? -Infinity
    return this.#downs.isDown({ name, killedMs, lost }, performance.now())
  }
}

const nothing = (): Seen => ({
  ...{ sent: 0, lost: 0, late: 0, overrun: 0, sleptMs: 0, lostOfKilled: 0, wrong: 0 },
  ...{ gapMs: 0, gapOfKilledMs: 0, ageMs: 0 },
  samples: [],
  losses: [],
})

// Changes the configuration: pushes a signed commit every few seconds, each with a number that
// answers show.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConfigRepository } from '../servers/config-repository.ts'
import { probeName } from '../servers/config-repository.ts'

export { probeName as beatName }

export class Writer {
  readonly #repository: ConfigRepository
  readonly #everyMs: number
  /** Time of each number's push, by `performance.now()`. */
  readonly #pushedMs: number[] = []
  #isOver = false
  #running: Promise<void> = Promise.resolve()

  constructor(repository: ConfigRepository, everyMs: number) {
    this.#repository = repository
    this.#everyMs = everyMs
  }

  async first(services: number): Promise<void> {
    this.#repository.writeMany(services, addressOf(0))
    await this.#repository.commitAndPush(['.'])
    this.#pushedMs.push(performance.now())
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  get last(): number {
    return this.#pushedMs.length - 1
  }

  /** How long ago the answer with this number was replaced by a newer one. */
  ageMs(beat: number): number {
    const replacedMs = this.#pushedMs[beat + 1]
    return replacedMs === undefined ? 0 : performance.now() - replacedMs
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await sleep(this.#everyMs)
      this.#repository.writeProbe(addressOf(this.#pushedMs.length))
      const { pushedMs } = await this.#repository.commitAndPush()
      this.#pushedMs.push(pushedMs)
    }
  }
}

const addressOf = (number: number): string => `10.200.${(number >> 8) & 255}.${number & 255}`

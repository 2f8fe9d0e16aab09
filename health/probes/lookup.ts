// Resolves host names for many attempts, without blocking the system's few lookup threads.
import { lookup } from 'node:dns/promises'
import { systemClock } from '#lib/clock.ts'
import { healthLimits } from '#health/limits.ts'

interface Lookup {
  /** Rejects with the system's error. */
  readonly addresses: Promise<readonly string[]>
  /** Resolves when the lookup no longer waits behind others. */
  readonly started: Promise<void>
}

type LookUp = (name: string) => Promise<readonly string[]>

export class HostLookup {
  readonly #lookUp: LookUp
  /** Attempts for a name that is being looked up share its answer. */
  readonly #running = new Map<string, Lookup>()
  /** Slow names have their own lane: a silent name server must not stop other checks. */
  readonly #slowNames = new Set<string>()
  readonly #lanes = {
    quick: new Lane(healthLimits.webhookLookupsMax - 1),
    slow: new Lane(1),
  }

  /** @param lookUp for tests; the product asks the system, with its hosts file and search list */
  constructor(lookUp: LookUp = askSystem) {
    this.#lookUp = lookUp
  }

  ask(name: string): Lookup {
    const running = this.#running.get(name)
    if (running !== undefined) return running
    const started = this.#lanes[this.#slowNames.has(name) ? 'slow' : 'quick'].enter()
    const addresses = started.then((leave) => this.#ask(name).finally(leave))
    const asked = { addresses, started: started.then(() => undefined) }
    this.#running.set(name, asked)
    return asked
  }

  async #ask(name: string): Promise<readonly string[]> {
    const startedMs = systemClock.monotonicMs()
    try {
      return await this.#lookUp(name)
    } finally {
      this.#running.delete(name)
      const isSlow = systemClock.monotonicMs() - startedMs > healthLimits.slowLookupMs
      if (!isSlow) this.#slowNames.delete(name)
      else if (this.#slowNames.size < healthLimits.slowNamesMax) this.#slowNames.add(name)
    }
  }
}

async function askSystem(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true })
  return found.slice(0, healthLimits.webhookAddressesMax).map(({ address }) => address)
}

/** Lets a limited number in at once; the others wait in line. */
class Lane {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(places: number) {
    this.#free = places
  }

  /** @returns the function that frees the place; to be called once */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return () => {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}

// Counts queries per service: a shared cell for each thread and service, read by the control
// thread.
import { assert } from '#lib/assert.ts'
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'

/** A row per thread, of whole lines of the processor's cache: no two threads write to one line. */
const rowCells = (services: number): number => (services + 7) & ~7

/** The cells of one thread, by service; where there is no buffer, cells that nobody reads. */
export function queryCells(
  { counts }: Bundle,
  thread: number,
  shared?: SharedArrayBuffer,
): Float64Array<SharedArrayBuffer> {
  const { services } = counts
  if (shared === undefined) return new Float64Array(new SharedArrayBuffer(services * 8))
  return new Float64Array(shared, thread * rowCells(services) * 8, services)
}

/** The cells of one generation. What is known of the bundle is a copy, for its memory is reused. */
interface Metered {
  readonly buffer: SharedArrayBuffer
  readonly cells: Float64Array
  /** By service, an index of the two below. */
  readonly tenantOf: Uint32Array
  readonly tenants: readonly string[]
  /** How much of the cells was taken before. */
  readonly taken: Float64Array
}

/** The control thread's side. */
export class QueryMeter {
  readonly #threads: number
  readonly #counted = new Map<string, number>()
  #serving: Metered | undefined
  /** Threads that have not changed over yet count here. */
  #before: Metered | undefined

  constructor(threads: number) {
    this.#threads = threads
  }

  /** What the threads are to count in, for the bundle that was carried to last. */
  get buffer(): SharedArrayBuffer {
    assert(this.#serving !== undefined, 'queries are counted for a bundle that was carried to')
    return this.#serving.buffer
  }

  /**
   * Moves to the next bundle. What a thread counts that is two generations behind is lost.
   *
   * @param memory gives zeros, and may give those of the generation before the one that serves
   */
  carry(next: Bundle, memory: (bytes: number) => SharedArrayBuffer): SharedArrayBuffer {
    this.#drain(this.#before)
    const cells = this.#threads * rowCells(next.counts.services)
    const buffer = memory(cells * 8)
    this.#before = this.#serving
    this.#serving = { buffer, cells: new Float64Array(buffer, 0, cells), ...tenantsOf(next) }
    return buffer
  }

  /** How many were counted for each tenant since the last call. */
  take(): ReadonlyMap<string, number> {
    this.#drain(this.#before)
    this.#drain(this.#serving)
    const taken = new Map(this.#counted)
    this.#counted.clear()
    return taken
  }

  #drain(metered: Metered | undefined): void {
    if (metered === undefined) return
    const { cells, tenantOf, tenants, taken } = metered
    const sums = new Float64Array(tenants.length)
    const width = rowCells(tenantOf.length)
    for (let thread = 0; thread < this.#threads; thread++) {
      const row = thread * width
      for (let service = 0; service < tenantOf.length; service++) {
        sums[tenantOf[service]!]! += cells[row + service]!
      }
    }
    for (const [tenant, name] of tenants.entries()) {
      const more = sums[tenant]! - taken[tenant]!
      if (more > 0) this.#counted.set(name, (this.#counted.get(name) ?? 0) + more)
    }
    taken.set(sums)
  }
}

function tenantsOf(bundle: Bundle): Pick<Metered, 'tenantOf' | 'tenants' | 'taken'> {
  const { serviceTenant, counts } = bundle
  const rowOfText = new Map<number, number>()
  const tenantOf = new Uint32Array(counts.services)
  for (let service = 0; service < counts.services; service++) {
    const text = serviceTenant[service]!
    let row = rowOfText.get(text)
    if (row === undefined) rowOfText.set(text, (row = rowOfText.size))
    tenantOf[service] = row
  }
  const tenants = Array.from(rowOfText.keys(), (text) => textOf(bundle, text))
  return { tenantOf, tenants, taken: new Float64Array(tenants.length) }
}

// Counts queries per service: a shared cell for each thread and service, read by the control
// thread. The marks of use-marks.ts precede the cells.
import { assert } from '#lib/assert.ts'
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { markBytes, objectsOf, takeMarked, useLimits, useMarks } from './use-marks.ts'
import type { UsedObjects, UseMarks } from './use-marks.ts'

/** Length of a thread's row, in whole cache lines: no two threads write to one line. */
const rowCells = (services: number): number => (services + 7) & ~7

/** The cells of one thread by service; without a buffer, cells that nobody reads. */
export function queryCells(
  bundle: Bundle,
  thread: number,
  shared?: SharedArrayBuffer,
): Float64Array<SharedArrayBuffer> {
  const { services } = bundle.counts
  if (shared === undefined) return new Float64Array(new SharedArrayBuffer(services * 8))
  return new Float64Array(shared, markBytes(bundle) + thread * rowCells(services) * 8, services)
}

/** The cells of one generation. Facts of the bundle are copied, because its memory is reused. */
interface Metered {
  /** Valid only while it serves. */
  readonly bundle: Bundle
  readonly buffer: SharedArrayBuffer
  readonly marks: UseMarks
  readonly cells: Float64Array
  /** Index into `tenants`, by service. */
  readonly tenantOf: Uint32Array
  readonly tenants: readonly string[]
  /** The counts already taken from the cells. */
  readonly taken: Float64Array
}

/** The control thread's side. */
export class QueryMeter {
  readonly #threads: number
  readonly #counted = new Map<string, number>()
  #serving: Metered | undefined
  /** The previous generation: threads that have not switched yet count here. */
  #before: Metered | undefined
  readonly #usedNames = new Set<string>()
  readonly #usedMembers = new Set<string>()
  readonly #usedMax: number

  /** @param usedMax names and members kept for `takeUsed`; 0: nobody calls it */
  constructor(threads: number, usedMax: number = useLimits.objectsMax) {
    this.#threads = threads
    this.#usedMax = usedMax
  }

  /** The buffer in which threads count for the current bundle. */
  get buffer(): SharedArrayBuffer {
    assert(this.#serving !== undefined, 'queries are counted for a bundle that was carried to')
    return this.#serving.buffer
  }

  /**
   * Moves to the next bundle. Counts of a thread two generations behind are lost, and marks that it
   * sets before it switches.
   *
   * @param memory gives zeros, and may reuse the memory of the generation before the serving one
   */
  carry(next: Bundle, memory: (bytes: number) => SharedArrayBuffer): SharedArrayBuffer {
    this.#drain(this.#before)
    this.#takeMarks()
    const cells = this.#threads * rowCells(next.counts.services)
    const from = markBytes(next)
    const buffer = memory(from + cells * 8)
    this.#before = this.#serving
    this.#serving = {
      ...{ bundle: next, buffer, marks: useMarks(next, buffer) },
      ...{ cells: new Float64Array(buffer, from, cells), ...tenantsOf(next) },
    }
    return buffer
  }

  /** Queries per tenant since the last call. */
  take(): ReadonlyMap<string, number> {
    this.#drain(this.#before)
    this.#drain(this.#serving)
    const taken = new Map(this.#counted)
    this.#counted.clear()
    return taken
  }

  /** Names queried and members answered since the last call. */
  takeUsed(): Pick<UsedObjects, 'names' | 'members'> {
    this.#takeMarks()
    const used = { names: [...this.#usedNames], members: [...this.#usedMembers] }
    this.#usedNames.clear()
    this.#usedMembers.clear()
    return used
  }

  /**
   * All objects whose use is tracked. null: no bundle serves. `all` gives null when they are too
   * many.
   */
  objects(): {
    readonly digest: string
    readonly isTooMuch: boolean
    readonly all: () => UsedObjects | null
  } | null {
    const bundle = this.#serving?.bundle
    if (bundle === undefined) return null
    const isMore = isTooMuch(bundle)
    const all = (): UsedObjects | null => (isMore ? null : objectsOf(bundle))
    return { digest: bundle.digest, isTooMuch: isMore, all }
  }

  #takeMarks(): void {
    if (this.#serving === undefined || this.#usedMax === 0) return
    const { bundle, marks } = this.#serving
    if (isTooMuch(bundle)) return
    const { names, members } = takeMarked(bundle, marks)
    this.#note(this.#usedNames, names)
    this.#note(this.#usedMembers, members)
  }

  #note(used: Set<string>, more: readonly string[]): void {
    for (const one of more) if (used.size < this.#usedMax) used.add(one)
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

const isTooMuch = ({ counts }: Bundle): boolean =>
  counts.nodes + counts.members + counts.responseRules + counts.redirects > useLimits.objectsMax

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

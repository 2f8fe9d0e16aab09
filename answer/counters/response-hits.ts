// Counts the hits of each response rule in shared cells that outlive a bundle.
import { assert } from '#lib/assert.ts'
import { textOf, uidOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { ResponseCell } from '#bundle/format/cells.ts'
import { responseRuleAt } from '#bundle/format/response-rules.ts'

/** Two cells per rule: the lower and the upper 32 bits of its count. */
const cellsPerRule = 2

/** Sources kept by name after their rules are gone; the rest is one sum. */
const goneSourcesMax = 1_000
const otherSources = 'other'

/** A rule with its hits, as the API gives it. */
interface ResponseHit {
  readonly uid: string
  readonly source: string
  readonly triggerType: 'exact' | 'domain'
  /** With its final dot. */
  readonly trigger: string
  readonly hits: number
}

/** A view of a buffer of `ResponseHits`; without a buffer, cells of its own. */
export function hitCells(
  { counts }: Bundle,
  shared?: SharedArrayBuffer,
): Int32Array<SharedArrayBuffer> {
  const cells = counts.responseRules * cellsPerRule
  return new Int32Array(shared ?? new SharedArrayBuffer(cells * 4), 0, cells)
}

/**
 * How often response rules have answered, or passed, since this process started: carries the counts
 * from bundle to bundle, on the control thread.
 */
export class ResponseHits {
  readonly #gone = new Map<string, number>()
  #serving: { readonly bundle: Bundle; readonly buffer: SharedArrayBuffer } | undefined

  /** The buffer in which threads count for the current bundle. */
  get buffer(): SharedArrayBuffer {
    assert(this.#serving !== undefined, 'hits are counted for a bundle that was carried to')
    return this.#serving.buffer
  }

  /**
   * Moves to the next bundle; rules with the same uid keep their counts.
   *
   * @param memory gives zeros
   */
  carry(next: Bundle, memory: (bytes: number) => SharedArrayBuffer): SharedArrayBuffer {
    const previous = this.#serving
    if (
      previous !== undefined &&
      Buffer.compare(previous.bundle.responseUid, next.responseUid) === 0
    ) {
      // Same memory, so that hits during the swap are kept.
      this.#serving = { bundle: next, buffer: previous.buffer }
      return previous.buffer
    }
    const buffer = memory(next.counts.responseRules * cellsPerRule * 4)
    if (previous !== undefined) {
      const gone = carryCells(previous.bundle, previous.buffer, next, buffer)
      for (const [source, hits] of gone) this.#remember(source, hits)
    }
    this.#serving = { bundle: next, buffer }
    return buffer
  }

  /** One for each rule of the serving bundle. */
  read(): readonly ResponseHit[] {
    if (this.#serving === undefined) return []
    const { bundle, buffer } = this.#serving
    const cells = hitCells(bundle, buffer)
    return Array.from({ length: bundle.counts.responseRules }, (_, rule) => {
      const { uid, source, triggerType, trigger } = responseRuleAt(bundle, rule)
      return { uid, source, triggerType, trigger, hits: hitsOf(cells, rule) }
    })
  }

  /** By uid, for rules that were hit. */
  counted(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    if (this.#serving === undefined) return counts
    const { bundle, buffer } = this.#serving
    const cells = hitCells(bundle, buffer)
    for (let rule = 0; rule < bundle.counts.responseRules; rule++) {
      const hits = hitsOf(cells, rule)
      if (hits > 0) counts.set(uidOf(bundle.responseUid, rule), hits)
    }
    return counts
  }

  #remember(source: string, hits: number): void {
    const isRoom = this.#gone.has(source) || this.#gone.size < goneSourcesMax
    const key = isRoom ? source : otherSources
    this.#gone.set(key, (this.#gone.get(key) ?? 0) + hits)
  }

  /** Sums by source, including rules that are gone: a sum never falls. */
  bySource(): ReadonlyMap<string, number> {
    const sums = new Map(this.#gone)
    if (this.#serving === undefined) return sums
    const { bundle, buffer } = this.#serving
    const cells = hitCells(bundle, buffer)
    const bySource = new Map<number, number>()
    for (let rule = 0; rule < bundle.counts.responseRules; rule++) {
      const source = bundle.responseRow[rule * ResponseCell.Words + ResponseCell.Source]!
      bySource.set(source, (bySource.get(source) ?? 0) + hitsOf(cells, rule))
    }
    for (const [text, hits] of bySource) {
      const source = textOf(bundle, text)
      sums.set(source, (sums.get(source) ?? 0) + hits)
    }
    return sums
  }
}

/** Reads the upper half before and after the lower one, so that a carry between them is noticed. */
function hitsOf(cells: Int32Array, rule: number): number {
  for (;;) {
    const high = Atomics.load(cells, rule * cellsPerRule + 1)
    const low = Atomics.load(cells, rule * cellsPerRule)
    if (Atomics.load(cells, rule * cellsPerRule + 1) === high) {
      return (high >>> 0) * 2 ** 32 + (low >>> 0)
    }
  }
}

/** @returns the hits of rules that are not in the next bundle, by source */
function carryCells(
  before: Bundle,
  from: SharedArrayBuffer,
  after: Bundle,
  to: SharedArrayBuffer,
): ReadonlyMap<string, number> {
  const source = hitCells(before, from)
  const target = hitCells(after, to)
  const rowOf = new Map<string, number>()
  for (let rule = 0; rule < before.counts.responseRules; rule++) {
    const isHit = source[rule * cellsPerRule] !== 0 || source[rule * cellsPerRule + 1] !== 0
    if (isHit) rowOf.set(uidOf(before.responseUid, rule), rule)
  }
  const gone = new Map<string, number>()
  for (let rule = 0; rule < after.counts.responseRules; rule++) {
    if (rowOf.size === 0) break
    const uid = uidOf(after.responseUid, rule)
    const was = rowOf.get(uid)
    if (was === undefined) continue
    rowOf.delete(uid)
    target[rule * cellsPerRule] = source[was * cellsPerRule]!
    target[rule * cellsPerRule + 1] = source[was * cellsPerRule + 1]!
  }
  for (const rule of rowOf.values()) {
    const name = textOf(
      before,
      before.responseRow[rule * ResponseCell.Words + ResponseCell.Source]!,
    )
    gone.set(name, (gone.get(name) ?? 0) + hitsOf(source, rule))
  }
  return gone
}

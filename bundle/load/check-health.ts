// Checks that a node can run every health check of a bundle.
import { commonPrefixSuffix } from '#lib/sequence/prefix-suffix.ts'
import type { PrefixSuffix } from '#lib/sequence/prefix-suffix.ts'
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle, BundleColumns } from '#bundle/format/bundle.ts'
import { parseHealthCheck } from '#bundle/format/health-check.ts'
import type { Manifest } from '#bundle/format/manifest.ts'

type Columns = Pick<BundleColumns, 'poolHealthCheck' | 'poolUid' | 'stringBytes' | 'stringOffset'>

/**
 * Pools share few checks, so each distinct one is parsed once. Where each of ten thousand has its
 * own, a change touches one, and parsing all takes 14 ms: so checks are compared with those of
 * `known` first.
 *
 * @param known was loaded before
 */
export function checkHealthChecks(
  c: Columns,
  _manifest: Manifest,
  known: Bundle | undefined,
): string | undefined {
  const read = new Set<number>([0])
  const before = known === undefined ? undefined : new KnownPools(known, c)
  for (let pool = 0; pool < c.poolHealthCheck.length; pool++) {
    const text = c.poolHealthCheck[pool]!
    if (read.has(text)) continue
    read.add(text)
    if (before?.hasCheckOf(pool) === true) continue
    if (parseHealthCheck(textOf(c, text)) === undefined) {
      return `pool ${pool} has a health check that this version cannot run`
    }
  }
  return undefined
}

/** The pools of a checked bundle, queried for those of another in the order of their uids. */
class KnownPools {
  readonly #columns: Columns
  readonly #known: Bundle
  readonly #uids: Pair
  readonly #texts: Pair
  #row = 0

  constructor(known: Bundle, columns: Columns) {
    this.#columns = columns
    this.#known = known
    this.#uids = new Pair(columns.poolUid, known.poolUid)
    this.#texts = new Pair(columns.stringBytes, known.stringBytes)
  }

  /** Whether the pool with the same uid, or else the next one, has the same check. */
  hasCheckOf(pool: number): boolean {
    const { poolHealthCheck, stringOffset } = this.#columns
    const known = this.#known.poolHealthCheck[this.#rowOf(pool)] ?? 0
    if (known === 0) return false
    const text = poolHealthCheck[pool]!
    const knownStart = this.#known.stringOffset[known]!
    const size = this.#known.stringOffset[known + 1]! - knownStart
    const start = stringOffset[text]!
    if (stringOffset[text + 1]! - start !== size) return false
    return this.#texts.compare(start, knownStart, size) === 0
  }

  #rowOf(pool: number): number {
    const rows = this.#known.poolUid.length / 16
    const sameFromEnd = pool + rows - this.#columns.poolHealthCheck.length
    for (const row of [pool, sameFromEnd]) {
      if (this.#uids.isSame(pool * 16, row * 16, 16)) return (this.#row = row)
    }
    while (this.#row < rows && this.#uids.compare(pool * 16, this.#row * 16, 16) > 0) this.#row++
    return this.#row
  }
}

/** Octets of a bundle and of a known one. */
class Pair {
  readonly #octets: Buffer
  readonly #known: Buffer
  readonly #ends: PrefixSuffix

  constructor(octets: Uint8Array, known: Uint8Array) {
    this.#octets = bufferOf(octets)
    this.#known = bufferOf(known)
    this.#ends = commonPrefixSuffix(octets, known)
  }

  /** Compares in octet order; 0: equal. */
  compare(start: number, knownStart: number, size: number): number {
    if (this.isSame(start, knownStart, size)) return 0
    const [end, knownEnd] = [start + size, knownStart + size]
    return this.#octets.compare(this.#known, knownStart, knownEnd, start, end)
  }

  /**
   * Whether the ranges are known to be equal. A native comparison costs a quarter of a microsecond.
   */
  isSame(start: number, knownStart: number, size: number): boolean {
    const { prefix, suffix } = this.#ends
    const rest = this.#octets.length - start
    if (start === knownStart && start + size <= prefix) return true
    return rest === this.#known.length - knownStart && rest <= suffix
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

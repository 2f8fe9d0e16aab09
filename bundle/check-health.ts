// Checks that a node can run every health check of a bundle.
import { textOf } from './bundle.ts'
import type { Bundle, BundleColumns } from './bundle.ts'
import { parseHealthCheck } from './health-check.ts'
import type { Manifest } from './manifest.ts'

type Columns = Pick<BundleColumns, 'poolHealthCheck' | 'poolUid' | 'stringBytes' | 'stringOffset'>

/**
 * Pools share few checks: each distinct one is read once. Where each of ten thousand has its own, a
 * change touches one, and reading all takes 14 ms: what a pool has in `known` too is compared, in
 * a fifth of that.
 *
 * @param known was loaded before
 */
export function checkHealthChecks(
  c: Columns,
  _manifest: Manifest,
  known: Bundle | undefined,
): string | undefined {
  const read = new Set<number>([0])
  const before = known === undefined ? undefined : new KnownPools(known)
  for (let pool = 0; pool < c.poolHealthCheck.length; pool++) {
    const text = c.poolHealthCheck[pool]!
    if (read.has(text)) continue
    read.add(text)
    if (before?.hasCheckOf(c, pool) === true) continue
    if (parseHealthCheck(textOf(c, text)) === undefined) {
      return `pool ${pool} has a health check that this version cannot run`
    }
  }
  return undefined
}

/** The pools of a bundle that passed, asked for in the order of their uids. */
class KnownPools {
  readonly #known: Bundle
  readonly #uids: Buffer
  readonly #texts: Buffer
  #row = 0

  constructor(known: Bundle) {
    this.#known = known
    this.#uids = octetsOf(known.poolUid)
    this.#texts = octetsOf(known.stringBytes)
  }

  /** Has the pool with the uid of this one, or the next there is, the same check? */
  hasCheckOf(c: Columns, pool: number): boolean {
    const { poolHealthCheck, stringOffset } = this.#known
    const uids = this.#uids
    const at = pool * 16
    while (this.#row * 16 < uids.length) {
      const start = this.#row * 16
      if (uids.compare(c.poolUid, at, at + 16, start, start + 16) >= 0) break
      this.#row++
    }
    const known = poolHealthCheck[this.#row] ?? 0
    const text = c.poolHealthCheck[pool]!
    if (known === 0) return false
    const [start, end] = [c.stringOffset[text]!, c.stringOffset[text + 1]!]
    const [knownStart, knownEnd] = [stringOffset[known]!, stringOffset[known + 1]!]
    return this.#texts.compare(c.stringBytes, start, end, knownStart, knownEnd) === 0
  }
}

function octetsOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

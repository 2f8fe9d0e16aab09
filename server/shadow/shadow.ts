// Answers a share of the incoming queries from another bundle as well, and counts how many answers
// differ.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { TrustedKey } from '#bundle/signature/channel.ts'
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import type { LiveNode } from '#server/node/live-node.ts'
import type { Refusal } from '#server/node/refusals.ts'
import { answerableBundle } from '#server/node/verify-bundle.ts'
import type { QuerySamples, SampledQuery } from '#answer/samples/query-samples.ts'
import { ShadowSide } from './shadow-side.ts'

export interface ShadowParts {
  /** Returns the serving generation. */
  readonly live: () => LiveNode | undefined
  readonly samples: Pick<QuerySamples, 'turn' | 'drain'>
  readonly trusted: readonly TrustedKey[]
  readonly clock: Clock
}

interface ShadowCounts {
  /** Digest of the other bundle. */
  readonly digest: string
  /** How many queries were compared. */
  readonly compared: number
  /** How many of them get another answer; a query that is answered at random may count in part. */
  readonly changed: number
}

export const shadowLimits = {
  /** How often samples are taken, and how many at most. */
  tickMs: 250,
  queriesPerTick: 64,
  /**
   * How many answers of each side to one query are compared: with 12, turns end at the same place
   * for 2, 3, 4, 6 and 12 candidates.
   */
  draws: 12,
  /** How old the copy of health that both sides use may be. */
  carryMs: 10_000,
} as const

interface Running {
  readonly bundle: Bundle
  readonly networks: SharedArrayBuffer | null
  sides: ShadowPair | undefined
  compared: number
  changed: number
}

interface ShadowPair {
  readonly live: Bundle
  readonly old: ShadowSide
  readonly next: ShadowSide
  readonly madeAtMs: number
}

export class Shadow {
  readonly #parts: ShadowParts
  #running: Running | undefined
  #seed = 0
  #totals = { compared: 0, changed: 0 }

  constructor(parts: ShadowParts) {
    this.#parts = parts
  }

  /** The digest of the other bundle; empty when there is none. */
  get digest(): string {
    return this.#running?.bundle.digest ?? ''
  }

  /** Compares with this bundle from now on. @param bytes the signed file, in shared memory */
  begin(bytes: Uint8Array): Result<null, Refusal> {
    const { live, trusted, samples } = this.#parts
    const checked = answerableBundle(bytes, trusted, live()?.bundle)
    if (!checked.ok) return checked
    const bundle = checked.value
    const networks = packNetworks(bundle)
    this.#running = { bundle, networks, sides: undefined, compared: 0, changed: 0 }
    samples.turn(true)
    return ok(null)
  }

  end(): void {
    if (this.#running === undefined) return
    this.#parts.samples.turn(false)
    this.#running = undefined
  }

  /** Counts for the other bundle; null when there is none. */
  counts(): ShadowCounts | null {
    if (this.#running === undefined) return null
    const { bundle, compared, changed } = this.#running
    return { digest: bundle.digest, compared, changed: rounded(changed) }
  }

  /** Counts since the start, of all bundles. */
  totals(): { readonly compared: number; readonly changed: number } {
    return { compared: this.#totals.compared, changed: Math.round(this.#totals.changed) }
  }

  tick(): void {
    if (this.#running === undefined) return
    const queries = this.#parts.samples.drain(shadowLimits.queriesPerTick)
    const sides = this.#pairOf(this.#running)
    if (sides === undefined) return
    for (const query of queries) {
      const changed = this.#difference(sides, query)
      this.#running.compared++
      this.#running.changed += changed
      this.#totals.compared++
      this.#totals.changed += changed
    }
  }

  /**
   * Returns both sides. The serving bundle is compared first, since its memory may soon hold
   * another one.
   */
  #pairOf(running: Running): ShadowPair | undefined {
    const live = this.#parts.live()
    if (live === undefined) return undefined
    const nowMs = this.#parts.clock.monotonicMs()
    const known = running.sides
    const isFresh = known?.live === live.bundle && nowMs - known.madeAtMs < shadowLimits.carryMs
    if (known !== undefined && isFresh) return known
    const { bundle, networks } = running
    const atMs = this.#parts.clock.nowMs()
    running.sides = {
      live: live.bundle,
      // Both sides get the same instant, so that later verdicts of probes make no difference.
      old: new ShadowSide(live, live.bundle, live.tables, atMs),
      next: new ShadowSide(live, bundle, { ...live.tables, networks }, atMs),
      madeAtMs: nowMs,
    }
    return running.sides
  }

  /** @returns the share of its answers that differ: 0 or 1 where nothing is random */
  #difference({ old, next }: ShadowPair, query: SampledQuery): number {
    const { draws } = shadowLimits
    const surplus = new Map<string, number>()
    for (let i = 0; i < draws; i++) {
      this.#seed = (this.#seed + 1) | 0
      const before = old.keyOf(query, this.#seed)
      const after = next.keyOf(query, this.#seed)
      if (before === after) continue
      surplus.set(before, (surplus.get(before) ?? 0) + 1)
      surplus.set(after, (surplus.get(after) ?? 0) - 1)
    }
    let sum = 0
    for (const count of surplus.values()) sum += Math.abs(count)
    return sum / 2 / draws
  }
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000

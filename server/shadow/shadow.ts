// Computes a share of the queries that come with another bundle, too: how many answers differ.
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
  /** What answers now. */
  readonly live: () => LiveNode | undefined
  readonly samples: Pick<QuerySamples, 'turn' | 'drain'>
  readonly trusted: readonly TrustedKey[]
  readonly clock: Clock
}

export interface ShadowCounts {
  /** Digest of the other bundle. */
  readonly digest: string
  /** Queries. */
  readonly compared: number
  /** How many of them have another answer; one that is drawn by lot may count in part. */
  readonly changed: number
}

export const shadowLimits = {
  /** How often samples are taken, and how many at most. */
  tickMs: 250,
  queriesPerTick: 64,
  /**
   * Answers of each side to one query: so many turns end at the same place for 2, 3, 4, 6 and 12
   * candidates.
   */
  draws: 12,
  /** How old the health may be that both sides go by. */
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

  /** The digest of the other bundle; '': there is none. */
  get digest(): string {
    return this.#running?.bundle.digest ?? ''
  }

  /** Takes the place of the one before. @param bytes the signed file, in shared memory */
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

  /** null: there is no other bundle. */
  counts(): ShadowCounts | null {
    if (this.#running === undefined) return null
    const { bundle, compared, changed } = this.#running
    return { digest: bundle.digest, compared, changed: rounded(changed) }
  }

  /** Since the start, of all bundles. */
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

  /** Memory of what answers may be another bundle's soon: it is looked at first. */
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
      // Both at one instant: what probes find meanwhile is no difference.
      old: new ShadowSide(live, live.bundle, live.tables, atMs),
      next: new ShadowSide(live, bundle, { ...live.tables, networks }, atMs),
      madeAtMs: nowMs,
    }
    return running.sides
  }

  /** @returns the share of its answers that are others: 0 or 1 without turns and dice */
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

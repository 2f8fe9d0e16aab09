// Shares what the sources of this node find with other nodes: at each change, and each minute while
// it stays. Nothing waits for it; after a failure the next answer is shared.
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Target } from '#integrations/targets/targets.ts'
import { keptTextLimits } from '#state/ports/kept-texts.ts'
import type { KeptTexts } from '#state/ports/kept-texts.ts'
import { printTargets, fleetDocumentLimits } from '#integrations/targets/fleet-document.ts'
import type { SignText } from '#integrations/targets/fleet-document.ts'

interface FleetTellerParts {
  readonly store: Pick<KeptTexts, 'publish'>
  readonly sign: SignText
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Log
}

const tellerLimits = {
  /** Unchanged targets are shared again after this time. */
  againMs: 60_000,
  /** Shared targets count for this many intervals of their source, and at least this long. */
  freshIntervals: 3,
  freshLeastMs: 600_000,
  /** Kept this much longer, so that readers can say how old it is. */
  keptMoreMs: 3_600_000,
} as const

interface KnownTargets {
  readonly targets: readonly Target[]
  readonly atMs: number
}

export class FleetTeller {
  readonly #parts: FleetTellerParts
  readonly #sent = new Map<string, KnownTargets>()
  #isAway = false

  constructor(parts: FleetTellerParts) {
    this.#parts = parts
  }

  /** @param key what was asked: `SOURCE/SERVICE` */
  tell(key: string, targets: readonly Target[], intervalMs: number): void {
    const nowMs = Math.floor(this.#parts.clock.nowMs())
    const before = this.#sent.get(key)
    const isSame = before?.targets === targets
    if (isSame && Math.abs(nowMs - before.atMs) < tellerLimits.againMs) return
    this.#sent.set(key, { targets, atMs: nowMs })
    void this.#publish(key, targets, nowMs, intervalMs)
  }

  /** Nobody here asks for it any more. */
  forget(key: string): void {
    this.#sent.delete(key)
  }

  async #publish(
    key: string,
    targets: readonly Target[],
    atMs: number,
    intervalMs: number,
  ): Promise<void> {
    const { store, sign, log } = this.#parts
    const { freshIntervals, freshLeastMs, keptMoreMs } = tellerLimits
    const wantedMs = Math.max(freshLeastMs, freshIntervals * intervalMs)
    const freshMs = Math.min(wantedMs, fleetDocumentLimits.freshMaxMs)
    const text = printTargets({ key, atMs, freshMs, targets }, sign)
    if (text.length > keptTextLimits.textMax) {
      return log.warn({ source: key, characters: text.length }, 'too many members to be shared')
    }
    try {
      await store.publish(key, text, freshMs + keptMoreMs)
      if (this.#isAway) log.info({}, 'discovered members are shared again')
      this.#isAway = false
    } catch (error) {
      this.#sent.delete(key)
      const { message: reason } = error as Error
      if (!this.#isAway) log.warn({ reason }, 'discovered members cannot be shared; tried again')
      this.#isAway = true
    }
  }
}

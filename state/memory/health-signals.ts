// Health signals in memory.
import type { Clock } from '#lib/clock.ts'
import { healthSignalLimits } from '../ports/health-signals.ts'
import type { HealthSignal, HealthSignals } from '../ports/health-signals.ts'

export function createMemoryHealthSignals(clock: Clock): HealthSignals {
  return new MemoryHealthSignals(clock)
}

class MemoryHealthSignals implements HealthSignals {
  readonly #clock: Clock
  /** By member, then by source. */
  readonly #members = new Map<string, Map<string, HealthSignal>>()
  readonly #handlers = new Set<(signal: HealthSignal) => void>()
  #count = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  readonly post = async (signal: HealthSignal): Promise<'accepted' | 'replaced' | 'full'> => {
    const sources = this.#members.get(signal.memberUid) ?? new Map<string, HealthSignal>()
    const known = sources.get(signal.source)
    if (known !== undefined && known.postedAtMs > signal.postedAtMs) return 'replaced'
    if (known === undefined && !this.#hasRoom(signal.memberUid)) return 'full'
    if (known === undefined) this.#count++
    sources.set(signal.source, { ...signal })
    this.#members.set(signal.memberUid, sources)
    for (const handler of this.#handlers) handler(signal)
    return 'accepted'
  }

  readonly load = async (): Promise<readonly HealthSignal[]> => {
    this.#sweep()
    return [...this.#members.values()].flatMap((sources) => [...sources.values()])
  }

  readonly subscribe = (handler: (signal: HealthSignal) => void): (() => void) => {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  #hasRoom(memberUid: string): boolean {
    const { sourcesPerMemberMax, signalsMax } = healthSignalLimits
    const isFree = (): boolean =>
      this.#count < signalsMax && (this.#members.get(memberUid)?.size ?? 0) < sourcesPerMemberMax
    if (isFree()) return true
    this.#sweep()
    return isFree()
  }

  /** Drops signals older than any post that could still arrive. */
  #sweep(): void {
    const oldestMs = this.#clock.nowMs() - healthSignalLimits.keptMs
    for (const [memberUid, sources] of this.#members) {
      for (const [source, { postedAtMs }] of sources) {
        if (postedAtMs > oldestMs) continue
        sources.delete(source)
        this.#count--
      }
      if (sources.size === 0) this.#members.delete(memberUid)
    }
  }
}

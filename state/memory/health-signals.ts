// Health signals in memory.
import type { Clock } from '#lib/clock.ts'
import { healthSignalLimits } from '../ports/health-signals.ts'
import type { HealthSignal, HealthSignalLimits, HealthSignals } from '../ports/health-signals.ts'

export function createMemoryHealthSignals(
  clock: Clock,
  limits = healthSignalLimits,
): HealthSignals {
  return new MemoryHealthSignals(clock, limits)
}

class MemoryHealthSignals implements HealthSignals {
  readonly #clock: Clock
  readonly #limits: HealthSignalLimits
  /** By member, then by source. */
  readonly #members = new Map<string, Map<string, HealthSignal>>()
  readonly #handlers = new Set<(signal: HealthSignal) => void>()
  /** By tenant. */
  readonly #counts = new Map<string, number>()
  #count = 0

  constructor(clock: Clock, limits: HealthSignalLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  readonly post = async (signal: HealthSignal): Promise<'accepted' | 'replaced' | 'full'> => {
    const sources = this.#members.get(signal.memberUid) ?? new Map<string, HealthSignal>()
    const known = sources.get(signal.source)
    if (known !== undefined && known.postedAtMs > signal.postedAtMs) return 'replaced'
    if (known === undefined && !this.#hasRoom(signal)) return 'full'
    if (known !== undefined) this.#add(known, -1)
    this.#add(signal, 1)
    sources.set(signal.source, { ...signal })
    this.#members.set(signal.memberUid, sources)
    for (const handler of this.#handlers) handler(signal)
    return 'accepted'
  }

  readonly load = async (): Promise<readonly HealthSignal[]> => {
    this.#sweep()
    return [...this.#members.values()].flatMap((sources) => [...sources.values()])
  }

  readonly of = async (memberUid: string): Promise<readonly HealthSignal[]> => {
    this.#sweep()
    return [...(this.#members.get(memberUid)?.values() ?? [])]
  }

  readonly subscribe = (handler: (signal: HealthSignal) => void): (() => void) => {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  #add({ tenantId = '' }: HealthSignal, count: 1 | -1): void {
    this.#count += count
    const left = (this.#counts.get(tenantId) ?? 0) + count
    if (left === 0) this.#counts.delete(tenantId)
    else this.#counts.set(tenantId, left)
  }

  #hasRoom({ memberUid, tenantId = '' }: HealthSignal): boolean {
    const { sourcesPerMemberMax, perTenantMax, signalsMax } = this.#limits
    const isFree = (): boolean =>
      this.#count < signalsMax &&
      (this.#counts.get(tenantId) ?? 0) < perTenantMax &&
      (this.#members.get(memberUid)?.size ?? 0) < sourcesPerMemberMax
    if (isFree()) return true
    this.#sweep()
    return isFree()
  }

  /** Drops signals older than any post that could still arrive. */
  #sweep(): void {
    const oldestMs = this.#clock.nowMs() - this.#limits.keptMs
    for (const [memberUid, sources] of this.#members) {
      for (const [source, signal] of sources) {
        if (signal.postedAtMs > oldestMs) continue
        sources.delete(source)
        this.#add(signal, -1)
      }
      if (sources.size === 0) this.#members.delete(memberUid)
    }
  }
}

// Health signals in Redis, with a local copy that serves while Redis is away.
import type { HealthSignal, HealthSignals } from '../ports/health-signals.ts'

/**
 * @param local receives every signal and calls the subscribers
 * @returns the port, and a function that sends `shared` the signals it missed
 */
export function withFallbackSignals(
  shared: HealthSignals,
  local: HealthSignals,
): { readonly signals: HealthSignals; readonly recover: () => Promise<void> } {
  /** `local` has a signal that `shared` lacks. */
  let isBehind = false
  const recover = async (): Promise<void> => {
    const known = new Map((await shared.load()).map((one) => [keyOf(one), one.postedAtMs]))
    for (const signal of await local.load()) {
      const isNewer = signal.postedAtMs > (known.get(keyOf(signal)) ?? Number.NEGATIVE_INFINITY)
      if (isNewer) await shared.post(signal)
    }
    isBehind = false
  }
  shared.subscribe((signal) => void local.post(signal))
  return {
    signals: {
      post: async (signal) => {
        try {
          const outcome = await shared.post(signal)
          if (isBehind) recover().catch(() => undefined)
          return outcome
        } catch {
          isBehind = true
          return await local.post(signal)
        }
      },
      load: async () => {
        try {
          return await shared.load()
        } catch {
          return await local.load()
        }
      },
      of: async (memberUid) => {
        try {
          return await shared.of(memberUid)
        } catch {
          return await local.of(memberUid)
        }
      },
      subscribe: local.subscribe,
    },
    recover,
  }
}

const keyOf = ({ memberUid, source }: HealthSignal): string => JSON.stringify([memberUid, source])

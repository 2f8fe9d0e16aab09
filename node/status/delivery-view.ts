// Shows the API, metrics and alerts how changes are delivered to nodes in waves.
import type { Deliveries, ShownDelivery, ShownWave } from '#ports/deliveries.ts'
import { shadowOf } from '#fleet/delivery/gates.ts'
import type { DeliveryKeeper, DeliveryView } from '#fleet/delivery/keeper.ts'
import type { Place } from '#fleet/delivery/state.ts'
import { err, ok } from '#lib/result.ts'

/** @param promised plan of the change under delivery; '': it is not known */
export function createDeliveriesView(
  channel: string,
  keeper: () => DeliveryKeeper,
  promised: () => string,
): Deliveries {
  return {
    list: () => shownIn(channel, keeper().view(), promised()),
    act: async (asked, action) => {
      const isKnown = asked === channel && keeper().view() !== null
      if (!isKnown) return err({ code: 'unknown', message: 'there is no such delivery' })
      const acted = await keeper().act(action)
      const [shown] = shownIn(channel, keeper().view(), promised())
      if (acted.ok && shown !== undefined) return ok(shown)
      const message = acted.ok ? 'it has gone' : acted.error
      return err({ code: shown?.fault === message ? 'away' : 'impossible', message })
    },
  }
}

function shownIn(
  channel: string,
  view: DeliveryView | null,
  promised: string,
): readonly ShownDelivery[] {
  if (view === null) return []
  const { state, waitsFor, decider, fault } = view
  const { phase, good, target, plan, verdict, phaseAtMs } = state
  return [
    {
      ...{ channel, phase, good: placeOf(good), waitsFor, fault, decidedBy: decider },
      target: target === null ? null : placeOf(target),
      waves: wavesOf(view),
      promised,
      onFailure: plan?.onFailure ?? null,
      phaseSinceMs: phaseAtMs,
      verdict: verdict === null ? null : { ...verdict, wave: verdict.wave + 1 },
    },
  ]
}

const placeOf = ({ seq, digest, commit }: Place) => ({ seq, digest, commit })

function wavesOf({ state, waves }: DeliveryView): readonly ShownWave[] {
  return (state.plan?.waves ?? []).map(({ labels, percent, holdMs }, i) => {
    const [seen, begun] = [waves[i], state.waves[i]]
    const isShadow = begun?.isShadow ?? false
    return {
      nodes:
        labels === null
          ? null
          : Object.entries(labels)
              .map(([key, value]) => `${key}=${value}`)
              .join(),
      percent,
      holdSeconds: holdMs / 1_000,
      hasBegun: i < state.waves.length,
      adopted: seen?.adopted.length ?? 0,
      waiting: seen?.waiting.length ?? 0,
      refused: seen?.refused.length ?? 0,
      silent: seen?.silent ?? 0,
      isShadow,
      shadow: isShadow ? shadowOf(seen?.adopted ?? []) : (begun?.shadow ?? null),
    }
  })
}

// The plan of a delivery, as nodes are given bundles by it.
import { readHold, readLabels } from '#schemas/forms/wave.ts'
import type { DeliverySpec } from '#schemas/objects/delivery.ts'

/** @param spec one that the compiler has accepted */
export function deliveryPlanOf({ waves, gates, onFailure, decisions }: DeliverySpec) {
  const { p99, changedAnswers = null, ...limits } = gates
  return {
    waves: waves.map(({ nodes, percent, hold, shadow }) => ({
      labels: nodes === undefined ? null : (readLabels(nodes) ?? null),
      percent: percent ?? null,
      holdMs: readHold(hold) ?? 0,
      shadowMs: readHold(shadow) ?? 0,
    })),
    gates: {
      ...limits,
      changedAnswers,
      p99Us: p99 === undefined ? null : (readHold(p99) ?? 0) * 1_000,
    },
    ...{ onFailure, decisions },
  }
}

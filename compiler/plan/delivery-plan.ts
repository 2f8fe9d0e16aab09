// The plan of a delivery, as nodes are given bundles by it.
import { readHold, readLabels } from '#schemas/forms/wave.ts'
import type { DeliverySpec } from '#schemas/objects/delivery.ts'

/** @param spec one that the compiler has accepted */
export function deliveryPlanOf({ waves, gates, onFailure }: DeliverySpec) {
  const { p99, ...limits } = gates
  return {
    waves: waves.map(({ nodes, percent, hold }) => ({
      labels: nodes === undefined ? null : (readLabels(nodes) ?? null),
      percent: percent ?? null,
      holdMs: readHold(hold) ?? 0,
    })),
    gates: { ...limits, p99Us: p99 === undefined ? null : (readHold(p99) ?? 0) * 1_000 },
    onFailure,
  }
}

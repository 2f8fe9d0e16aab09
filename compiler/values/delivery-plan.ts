// Reads labels and durations of a delivery as they are written.
import { parseDuration } from '#lib/duration.ts'
import type { DeliverySpec } from '#schemas/objects/delivery.ts'

export const holdMaxMs = 7 * 86_400_000

/** undefined: it is not `key=value`, or several with commas; or a key comes twice. */
export function readLabels(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text.split(',').map((pair) => form.exec(pair.trim()))
  if (pairs.some((pair) => pair === null)) return undefined
  const labels = Object.fromEntries(pairs.map((pair) => [pair![1]!, pair![2]!]))
  return Object.keys(labels).length === pairs.length ? labels : undefined
}

/** As in the settings of a node. */
const form =
  /^([a-z0-9](?:[a-z0-9._/-]{0,61}[a-z0-9])?)=([A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)$/

/** undefined: it is no duration, or longer than a hold may be. */
export function readHold(text: string): number | undefined {
  const parsed = parseDuration(text)
  return parsed.ok && parsed.value <= holdMaxMs ? parsed.value : undefined
}

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

// The state of a delivery as text: in the shared store, and on disk for the next start.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { deliveryPhases } from './state.ts'
import type { DeliveryPhase, DeliveryState } from './state.ts'

const format = 1

export const printState = (state: DeliveryState): string => JSON.stringify({ format, ...state })

/** It is written by this program alone: only its form and its version are looked at. */
export function readState(text: string): Result<DeliveryState, string> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return err('the stored state of the delivery is no JSON')
  }
  const { format: found, ...state } = (value ?? {}) as Partial<DeliveryState> & { format?: number }
  if (found !== format) {
    return err(`the stored state of the delivery has format ${String(found)}: upgrade this node`)
  }
  const holds =
    deliveryPhases.includes(state.phase as DeliveryPhase) &&
    Number.isSafeInteger(state.topSeq) &&
    Number.isSafeInteger(state.good?.seq) &&
    Array.isArray(state.waves)
  return holds ? ok(state as DeliveryState) : err('the stored state of the delivery is damaged')
}

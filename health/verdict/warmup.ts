// Implements the warm-up gate: a new member passes a number of probes before it is used.

export interface Warmup {
  isWarming: boolean
  /** Probes in a row that passed since the gate was closed. */
  passes: number
}

/**
 * Adds a raw probe result, independent of rise, fall and score.
 *
 * @returns true when it changed anything
 */
export function takeWarmupResult(gate: Warmup, success: boolean, threshold: number): boolean {
  if (!gate.isWarming) return false
  const before = gate.passes
  gate.passes = success ? before + 1 : 0
  if (gate.passes >= threshold) gate.isWarming = false
  return gate.passes !== before || !gate.isWarming
}

// The warm-up gate: a new member passes a number of probes before it is used.

export interface Warmup {
  isWarming: boolean
  /** Probes in a row that passed since the gate was closed. */
  passes: number
}

/**
 * Takes one raw probe result in, whatever rise, fall and score make of it.
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

// Blends probe results and external signals into one verdict.
import type { ExternalSignalMode } from '#bundle/format/model.ts'

/**
 * @param probe what the probes say; true where nobody probes
 * @param signal what the outside monitors say together; undefined: nothing now, whatever the mode
 */
export function blend(
  mode: ExternalSignalMode,
  probe: boolean,
  signal: boolean | undefined,
): boolean {
  if (signal === undefined) return probe
  if (mode === 'and') return probe && signal
  return mode === 'or' ? probe || signal : signal
}

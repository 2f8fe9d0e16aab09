// Blends probe results and external signals into one verdict.
import type { ExternalSignalMode } from '#bundle/format/model.ts'

/**
 * @param probe result of the probes; true without probes
 *
 * @param signal joint verdict of the outside monitors; undefined: there is none now, whatever the
 * mode
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

// Runs one attempt of a probe, and returns its result.
import type { HealthCheckModel } from '#bundle/format/model.ts'
import type { ProbeResult } from '#health/probes/probe.ts'
import type { ProbeTable } from '#health/probes/probes.ts'
import { probeTarget } from './check.ts'

export function probeOne(
  probes: ProbeTable,
  check: Partial<HealthCheckModel>,
  ipAddress?: string,
): Promise<ProbeResult> {
  const target = probeTarget('m1', { timeoutMs: 20_000, ...check }, ipAddress)
  return new Promise((resolve) => probes[target.check.type].run(target, resolve))
}

/** `success`, or why not. */
export function wordsOf({ outcome, reason }: ProbeResult): string {
  return outcome === 'success' ? outcome : `${outcome}: ${reason}`
}

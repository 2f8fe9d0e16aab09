// A health check with the defaults, and the targets that use it.
import type { HealthCheckModel } from '#bundle/format/model.ts'
import type { MonitoredTarget } from '#health/thread/messages.ts'
import type { ProbeResult } from '#health/probes/probe.ts'
import { healthCheck as plainCheck } from '#test/support/bundle-models.ts'

export function healthCheck(given: Partial<HealthCheckModel> = {}): HealthCheckModel {
  return { ...plainCheck, type: 'tcp', intervalMs: 10_000, timeoutMs: 2_000, ...given }
}

export function probeTarget(
  memberUid: string,
  given: Partial<HealthCheckModel> = {},
  ipAddress = '127.0.0.1',
  warmupThreshold = 0,
): MonitoredTarget {
  const check = healthCheck(given)
  const checkKey = JSON.stringify(check)
  return { memberUid, ipAddress, check, checkKey, pool: 'web', warmupThreshold }
}

/** Probes again while the machine gave this process no time: then a result says nothing. */
export async function unlessStalled(probe: () => Promise<ProbeResult>): Promise<ProbeResult> {
  for (;;) {
    const result = await probe()
    if (result.reason !== 'this node was stalled') return result
  }
}

// A health check with document A's defaults, and the targets that use it.
import type { HealthCheckModel } from '#bundle/model.ts'
import type { MonitoredTarget } from '#runtime/health/messages.ts'

export function healthCheck(given: Partial<HealthCheckModel> = {}): HealthCheckModel {
  return {
    type: 'tcp',
    port: 80,
    intervalMs: 10_000,
    timeoutMs: 2_000,
    httpPath: '/',
    httpHost: '',
    httpExpectedStatus: 200,
    httpContains: '',
    tls: false,
    insecureSkipVerify: false,
    riseCount: 1,
    fallCount: 1,
    scoreWindow: 0,
    icmpCount: 3,
    scriptPath: '',
    scriptContent: '',
    webhookURL: '',
    webhookMethod: 'POST',
    ...given,
  }
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

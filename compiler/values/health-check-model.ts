// Lowers a health check of a file to the model of the bundle.
import type { HealthCheckModel } from '#bundle/format/model.ts'
import type { HealthCheck } from '#schemas/objects/health-check.ts'

export function healthCheckModel(check: HealthCheck | undefined): HealthCheckModel | null {
  if (check === undefined) return null
  return {
    type: check.type,
    port: check.port,
    intervalMs: check.intervalMs,
    timeoutMs: check.timeoutMs,
    httpPath: check.httpPath,
    httpHost: check.httpHost,
    httpExpectedStatus: check.httpExpectedStatus,
    httpContains: check.httpContains,
    tls: check.tls,
    insecureSkipVerify: check.insecureSkipVerify,
    riseCount: check.riseCount,
    fallCount: check.fallCount,
    scoreWindow: check.scoreWindow,
    icmpCount: check.icmpCount,
    scriptPath: check.scriptPath,
    scriptContent: check.scriptContent,
    webhookURL: check.webhookURL,
    webhookMethod: check.webhookMethod,
    httpMethod: check.httpMethod,
    httpHeaders: check.httpHeaders,
    httpExpectedStatuses: statusRanges(check.httpExpectedStatuses),
    clientCertificate: check.clientCertificate,
    grpcService: check.grpcService,
    dnsName: check.dnsName,
    dnsType: check.dnsType,
    dnsRcode: check.dnsRcode,
    dnsContains: check.dnsContains,
  }
}

/** `200` and `"200-299"` as what they reach from and to. */
export function statusRanges(statuses: HealthCheck['httpExpectedStatuses']): [number, number][] {
  return statuses.map((status) => {
    const [from, to] = String(status).split('-').map(Number) as [number, number?]
    return [from, to ?? from]
  })
}

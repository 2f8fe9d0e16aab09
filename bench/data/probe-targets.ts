// Many members to probe, each at an address of its own on this machine.
import type { HealthCheckModel } from '#bundle/format/model.ts'
import type { MonitoredTarget } from '#health/view/monitor.ts'
import { healthCheck } from '#test/support/bundle-models.ts'

export const intervalMs = 10_000

/** `http-hang` backends accept and never answer: each probe lives for its timeout of 2 s. */
export const kinds = ['tcp', 'http', 'https', 'http-hang', 'icmp'] as const
export type Kind = (typeof kinds)[number]

/**
 * @param ports of servers that answer, hang, and answer over TLS: output of `health.bench.ts
 * backends`
 */
export function targetsOf(kind: Kind, count: number, ports: readonly number[]): MonitoredTarget[] {
  const [answering = 0, hanging = 0, encrypted = 0] = ports
  const port = kind === 'https' ? encrypted : kind === 'http-hang' ? hanging : answering
  const check: HealthCheckModel = {
    ...healthCheck,
    type: kind === 'tcp' || kind === 'icmp' ? kind : 'http',
    port,
    intervalMs,
    timeoutMs: 2_000,
    httpPath: '/healthz',
    httpHost: 'www.example.com',
    httpContains: 'ok',
    tls: kind === 'https',
    insecureSkipVerify: true,
  }
  return Array.from({ length: count }, (_, i) => ({
    memberUid: `00000003-0000-4000-8000-${i.toString(16).padStart(12, '0')}`,
    // One address each, so that local ports are no limit.
    ipAddress: `127.${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`,
    check,
    checkKey: kind,
    pool: kind,
    warmupThreshold: 0,
  }))
}

// Lists the functions that run probes. Adding one means a file here, a line, and its cases; the
// fields of its checks are a row of probes/probe-types.ts.
import type { ProbeTypeName } from '#probes/probe-types.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { ClientCertificates } from './client-certificates.ts'
import type { Probe } from './probe.ts'
import type { ProbeSettings } from './probe-settings.ts'
import { dns } from './dns.ts'
import { createGrpc } from './grpc.ts'
import { createHttp } from './http.ts'
import { createIcmp } from './icmp.ts'
import { createForbiddenScript, createScript } from './script.ts'
import { tcp } from './tcp.ts'
import { createWebhook } from './webhook.ts'

export type ProbeTable = Readonly<Record<ProbeTypeName, Probe>>

interface ProbeOptions extends ProbeSettings {
  readonly log: Log
}

/** Made once for each health worker: its probes share sockets and limits. */
export function createProbes({
  allowScriptChecks,
  environment,
  webhookAllowedHosts,
  clientCertificates,
  log,
}: ProbeOptions): ProbeTable {
  const certificates = new ClientCertificates({ clientCertificates }, systemClock, log)
  return Object.freeze({
    tcp,
    http: createHttp(certificates),
    icmp: createIcmp(log),
    script: allowScriptChecks ? createScript(environment) : createForbiddenScript(log),
    webhook: createWebhook(webhookAllowedHosts),
    grpc: createGrpc(certificates),
    dns,
  })
}

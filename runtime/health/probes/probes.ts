// Every probe there is. Adding one means one file in probes/, one line here, one set of cases.
import type { Log } from '#lib/log.ts'
import type { Probe } from './probe.ts'
import type { ProbeSettings } from './probe-settings.ts'
import { http } from './http.ts'
import { createIcmp } from './icmp.ts'
import { createForbiddenScript, createScript } from './script.ts'
import { tcp } from './tcp.ts'
import { createWebhook } from './webhook.ts'

export type ProbeTable = Readonly<Record<Probe['type'], Probe>>

export interface ProbeOptions extends ProbeSettings {
  readonly log: Log
}

/** One table per health worker: its probes share sockets and bounds. */
export function createProbes({
  allowScriptChecks,
  environment,
  webhookAllowedHosts,
  log,
}: ProbeOptions): ProbeTable {
  return Object.freeze({
    tcp,
    http,
    icmp: createIcmp(log),
    script: allowScriptChecks ? createScript(environment) : createForbiddenScript(log),
    webhook: createWebhook(webhookAllowedHosts),
  })
}

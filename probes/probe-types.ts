// The table of types of probes. Adding one means one file, and its lines here; what runs it is a
// row of health/probes/probes.ts.
import type { ModelOf, WrittenOf } from './check-field.ts'
import { dns } from './dns.ts'
import { grpc } from './grpc.ts'
import { http } from './http.ts'
import { icmp } from './icmp.ts'
import type { ProbeType } from './probe-type.ts'
import { script } from './script.ts'
import { tcp } from './tcp.ts'
import { webhook } from './webhook.ts'

const rows = [tcp, http, icmp, script, webhook, grpc, dns] as const

export type ProbeTypeName = (typeof rows)[number]['name']
export const probeTypes: readonly ProbeType[] = Object.freeze(rows)
export const probeTypeNames = Object.freeze(rows.map(({ name }) => name))

/** The fields of all types: a check has each, and those of other types say nothing. */
export const probeFields = Object.freeze({
  ...http.fields,
  ...icmp.fields,
  ...script.fields,
  ...webhook.fields,
  ...grpc.fields,
  ...dns.fields,
})
export type WrittenProbeFields = WrittenOf<typeof probeFields>
export type ProbeFieldModels = ModelOf<typeof probeFields>

export const probeDiagnostics = Object.freeze({
  ...http.diagnostics,
  ...script.diagnostics,
  ...webhook.diagnostics,
  ...dns.diagnostics,
})

/** The types whose probes look at a field, its own first. Empty: all do. */
export function typesWith(field: string): readonly string[] {
  const owner = probeTypes.filter(({ fields }) => Object.hasOwn(fields, field))
  const users = probeTypes.filter(({ uses }) => uses?.includes(field))
  return [...owner, ...users].map(({ name }) => name)
}

/** Apart from each other: where a field cannot be read, the others are still looked at. */
export const faultFinders = Object.freeze(
  [http, script, webhook, dns].map(({ findFaults }) => findFaults),
)

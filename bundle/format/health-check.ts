// The form of a health check in a bundle: canonical JSON, validated when it is read.
import { isCount } from '#probes/check-field.ts'
import { probeFields, probeTypeNames } from '#probes/probe-types.ts'
import type { ProbeFieldModels } from '#probes/probe-types.ts'
import { canonicalJson } from '#lib/text/canonical-json.ts'
import type { HealthCheckModel } from './model.ts'
import { isFields, parseJson } from '#lib/text/json.ts'

/** Sockets throw above the first limit, timers fire at once above the second. */
const isPort = (value: unknown): boolean => isCount(value) && (value as number) <= 65_535
const isTime = (value: unknown): boolean =>
  isCount(value) && (value as number) > 0 && (value as number) <= 0x7fff_ffff

/** Fields that every bundle has since the first version. */
const firstFields = [
  ...(['httpPath', 'httpHost', 'httpExpectedStatus', 'httpContains', 'tls'] as const),
  ...(['insecureSkipVerify', 'icmpCount', 'scriptPath', 'scriptContent'] as const),
  ...(['webhookURL', 'webhookMethod'] as const),
] as const satisfies (keyof ProbeFieldModels)[]

/** Later fields with their defaults, which hold where an older bundle lacks them. */
export const laterFields = Object.freeze(
  Object.fromEntries(
    Object.entries(probeFields)
      .filter(([name]) => !(firstFields as readonly string[]).includes(name))
      // An empty list in the schema is an empty list in a bundle.
      .map(([name, { schema }]) => [name, schema.default]),
  ),
) as object as Readonly<Omit<ProbeFieldModels, (typeof firstFields)[number]>>

/** Validators by field; a newer compiler may use types unknown to this node. */
const fields: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) => (probeTypeNames as readonly unknown[]).includes(value),
  port: isPort,
  intervalMs: isTime,
  timeoutMs: isTime,
  riseCount: isCount,
  fallCount: isCount,
  scoreWindow: (value) => isCount(value) && (value as number) <= 1_000,
  ...Object.fromEntries(Object.entries(probeFields).map(([name, { fits }]) => [name, fits])),
}

/** Leaves later fields with their defaults out, so that unchanged checks keep their text. */
export function healthCheckText(check: HealthCheckModel): string {
  const said = Object.entries(check).filter(([name, value]) => !isLaterDefault(name, value))
  return canonicalJson(Object.fromEntries(said))
}

function isLaterDefault(name: string, value: unknown): boolean {
  if (!Object.hasOwn(laterFields, name)) return false
  // Collection fields default to empty.
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === (laterFields as Readonly<Record<string, unknown>>)[name]
}

/** @returns undefined when the text is not a health check that this version can run */
export function parseHealthCheck(text: string): HealthCheckModel | undefined {
  const value = parseJson(text)
  if (!isFields(value)) return undefined
  const record: Record<string, unknown> = { ...laterFields, ...value }
  const isWhole = Object.entries(fields).every(([name, fits]) => fits(record[name]))
  return isWhole ? (record as unknown as HealthCheckModel) : undefined
}

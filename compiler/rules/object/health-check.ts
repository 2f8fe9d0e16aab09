// Finds faults of a health check: fields without effect, and those that its type reports.
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { Report } from '#diagnostics/finding.ts'
import { faultFinders, probeFields, probeTypes, typesWith } from '#probes/probe-types.ts'
import { HealthCheck } from '#schemas/objects/health-check.ts'
import type { ObjectRule } from './object-rule.ts'

type Field = keyof HealthCheck

export const healthCheck: ObjectRule<'Pool'> = ({ spec: { healthCheck: check } }, report) => {
  if (check === undefined) return
  const { intervalMs, timeoutMs, type } = check
  if (timeoutMs > intervalMs) {
    const args = [String(timeoutMs), String(intervalMs)]
    report('health-check-slow', valueAt('spec', 'healthCheck', 'timeoutMs'), { args })
  }
  for (const field of ['riseCount', 'fallCount'] as const) {
    if (check.scoreWindow === 0 || isDefault(check, field)) continue
    const args = [field, String(check.scoreWindow)]
    report('health-check-count-ignored', keyAt('spec', 'healthCheck', field), { args })
  }
  if (check.insecureSkipVerify && typesWith('insecureSkipVerify').includes(type)) {
    report('health-check-insecure', valueAt('spec', 'healthCheck', 'insecureSkipVerify'))
  }
  reportIgnored(check, report)
}

/** A rule of its own: a faulty certificate name must not stop the rules above. */
export const healthCheckCertificate: ObjectRule<'Pool'> = (
  { spec: { healthCheck: check } },
  report,
) => {
  if (check === undefined || check.tls || check.clientCertificate === '') return
  if (!typesWith('clientCertificate').includes(check.type)) return
  const place = keyAt('spec', 'healthCheck', 'clientCertificate')
  report('health-check-certificate-without-tls', place)
}

/** The rules of the probe types about their fields. */
export const healthCheckTypes: readonly ObjectRule<'Pool'>[] = faultFinders.map(
  (findFaults) =>
    ({ spec: { healthCheck: check } }, report) => {
      if (check === undefined) return
      findFaults(check, (code, { path, at }, args = []) => {
        report(code, { path: ['spec', 'healthCheck', ...path], at }, { args })
      })
    },
)

/** By type: the fields it ignores, each with a type that uses it. */
const ignoredBy = new Map(
  probeTypes.map(({ name, port }) => [
    name,
    ['port', ...Object.keys(probeFields)].flatMap((field): readonly [Field, string][] => {
      const types = field === 'port' ? ['tcp'] : typesWith(field)
      const isIgnored = field === 'port' ? port === 'ignored' : !types.includes(name)
      return isIgnored ? [[field as Field, types[0]!]] : []
    }),
  ]),
)

function reportIgnored(check: HealthCheck, report: Report): void {
  for (const [field, advised] of ignoredBy.get(check.type)!) {
    // A field with its default is ignored silently.
    if (isDefault(check, field)) continue
    const args = [field, check.type, advised]
    report('health-check-ignored-field', keyAt('spec', 'healthCheck', field), { args })
  }
}

function isDefault(check: HealthCheck, field: Field): boolean {
  const value: unknown = check[field]
  // Collection fields default to empty.
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === (HealthCheck.properties[field] as { default?: unknown }).default
}

// Lowers a health check of a file to the model of the bundle.
import type { HealthCheckModel } from '#bundle/format/model.ts'
import type { CheckFields } from '#probes/check-field.ts'
import { probeFields } from '#probes/probe-types.ts'
import { HealthCheck } from '#schemas/objects/health-check.ts'

const fields: CheckFields = probeFields
const names = Object.keys(HealthCheck.properties) as (keyof HealthCheck)[]

/** In the order of the schema, whatever that of the file is. */
export function healthCheckModel(check: HealthCheck | undefined): HealthCheckModel | null {
  if (check === undefined) return null
  const lowered = names.map((name) => {
    const lower = fields[name]?.lower
    return [name, lower === undefined ? check[name] : lower(check[name])]
  })
  return Object.fromEntries(lowered) as HealthCheckModel
}

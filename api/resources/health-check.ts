// A health check as the API shows it, and as it takes it (document A, "HealthCheck").
import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import type { JsonObject } from '#compiler/yaml/text.ts'
import { HealthCheck as HealthCheckInFile } from '#schemas/objects/health-check.ts'
import { body } from '#api/http/shapes.ts'
import { orZero, withoutDefaults } from './fields.ts'

const { properties } = HealthCheckInFile

export const HealthCheck = Type.Object(
  {
    type: Type.String(),
    port: Type.Integer(),
    intervalMs: Type.Integer(),
    timeoutMs: Type.Integer(),
    riseCount: Type.Integer(),
    fallCount: Type.Integer(),
    httpPath: Type.String(),
    httpHost: Type.String(),
    httpExpectedStatus: Type.Integer(),
    httpContains: Type.String(),
    tls: Type.Boolean(),
    insecureSkipVerify: Type.Boolean(),
    scoreWindow: Type.Integer(),
    icmpCount: Type.Integer(),
    scriptPath: Type.String(),
    scriptContent: Type.String(),
    webhookURL: Type.String(),
    webhookMethod: Type.String(),
  },
  { title: 'HealthCheck' },
)

type Fields = { readonly [Key in keyof typeof properties]?: Static<(typeof properties)[Key]> }

/** Every field may be left out, or be zero: then its default holds (document A). */
export const HealthCheckBody = Type.Unsafe<Fields>(
  body(
    Object.fromEntries(
      Object.entries(properties as Record<string, TSchema>).map(([name, schema]) => [
        name,
        orZero(schema),
      ]),
    ),
  ),
)
export type HealthCheckBody = Static<typeof HealthCheckBody>

/** The one field whose zero says something: it ignores the status. */
const zeroCounts: ReadonlySet<string> = new Set(['httpExpectedStatus'])

export function specOfHealthCheck(fields: HealthCheckBody): JsonObject {
  const said = Object.entries(fields).filter(
    ([name, value]) => zeroCounts.has(name) || (value as unknown) !== 0,
  )
  const spec = Object.fromEntries(said.filter(([, value]) => (value as unknown) !== ''))
  return withoutDefaults(spec, HealthCheckInFile)
}

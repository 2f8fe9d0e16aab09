// A health check as the API shows it, and as it takes it (document A, "HealthCheck").
import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import type { JsonObject } from '#compiler/yaml/text.ts'
import { HealthCheck as HealthCheckInFile } from '#schemas/objects/health-check.ts'
import { body } from '#api/http/shapes.ts'
import { orZero, patchOf, plain, withoutDefaults } from './fields.ts'
import { mergePatchOf } from './merge-patch.ts'

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

export const HealthCheckPatch = mergePatchOf(
  Object.fromEntries(
    Object.entries(properties as Record<string, TSchema>).map(([name, schema]) => [
      name,
      plain(orZero(schema)),
    ]),
  ),
  [],
) as unknown as ReturnType<typeof Type.Unsafe<HealthCheckPatch>>
export type HealthCheckPatch = { readonly [Key in keyof Fields]?: Fields[Key] | null }

/** The one field whose zero says something: it ignores the status. */
const zeroCounts: ReadonlySet<string> = new Set(['httpExpectedStatus'])

export function specOfHealthCheck(fields: HealthCheckBody): JsonObject {
  const said = Object.entries(fields).filter(([name, value]) => !isZero(name, value))
  return withoutDefaults(Object.fromEntries(said), HealthCheckInFile)
}

/** For the group in the file: null removes a field. */
export function patchOfHealthCheck(fields: HealthCheckPatch): JsonObject {
  const said = Object.entries(fields).map(([name, value]) => [
    name,
    isZero(name, value) ? null : value,
  ])
  return patchOf(Object.fromEntries(said) as JsonObject, HealthCheckInFile)
}

function isZero(name: string, value: unknown): boolean {
  return value === '' || (value === 0 && !zeroCounts.has(name))
}

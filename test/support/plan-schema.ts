// The JSON Schema of a plan: the contract of the API and of `gslbd plan --format json`.
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Static } from '#lib/schema/type.ts'
import { Plan as ApiPlan } from '#api/resources/answers/plan.ts'
import type { Plan } from '#judge/document/model.ts'

export const planSchemaPath = 'schemas/json/gslbd-plan.schema.json'

/** Fields of the API only. */
const ofApi = ['diagnostics', 'files', 'guardrail'] as const

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T
type Promised = Frozen<Static<typeof ApiPlan>>
type Printed = Omit<Promised, (typeof ofApi)[number]>

/** Assignments in both directions, for the type checker: both types must have the same fields. */
export const asPrinted = (plan: Plan): Printed => plan
export const asPlan = (plan: Printed): Plan => plan

interface ObjectSchema {
  readonly required: readonly string[]
}

export type JsonSchema = Readonly<Record<string, unknown>>

export function planJsonSchema(): JsonSchema {
  const schema = JSON.parse(JSON.stringify(ApiPlan)) as ObjectSchema
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'gslbd-plan.schema.json',
    description:
      'What `gslbd plan --format json` prints, and POST /api/v1/plan answers. With the same ' +
      '`format` fields may come, and none goes.',
    ...schema,
    required: schema.required.filter((name) => !isOfApi(name)),
  }
}

const isOfApi = (name: string): boolean => ofApi.some((one) => one === name)

/** Faults of a plan as JSON; unknown fields are faults, so that each must be in the schema. */
export function planFaults(value: unknown): string {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  return ajv.validate(closed(planJsonSchema()), value) ? '' : ajv.errorsText()
}

function closed(schema: unknown): object {
  const close = (_: string, value: unknown): unknown =>
    value instanceof Object && 'properties' in value && 'type' in value
      ? { ...value, additionalProperties: false }
      : value
  return JSON.parse(JSON.stringify(schema), close) as object
}

// Checks an object against the schema of its kind, fills in defaults, and reports every error.
import type { ErrorObject, ValidateFunction } from 'ajv'
import { checkOf } from './checks.ts'
import { jsonSchemaOf } from './json-schema.ts'
import type { JsonSchema } from './json-schema.ts'
import type { Kind } from './kinds.ts'

export interface SchemaFault {
  readonly keyword: string
  /** Keys and indexes from the top of the object to the faulty value. */
  readonly path: readonly (string | number)[]
  /** Name of the missing or unknown field. */
  readonly name?: string
  /** The schema of the faulty value. */
  readonly schema: JsonSchema
  readonly value: unknown
}

const checks = new Map<Kind, ValidateFunction>()

/** Checks `value` and fills in its defaults in place. @returns faults, empty when it is valid */
export function validate(kind: Kind, value: unknown): readonly SchemaFault[] {
  let check = checks.get(kind)
  if (check === undefined) {
    check = checkOf('kind', kind, () => jsonSchemaOf(kind))
    checks.set(kind, check)
  }
  if (check(value)) return []
  return (check.errors ?? []).map((error) => faultOf(error, value))
}

function faultOf({ keyword, instancePath, params, ...error }: ErrorObject, root: unknown) {
  const name = (params['missingProperty'] ?? params['additionalProperty']) as string | undefined
  return {
    keyword,
    path: pathOf(instancePath, root),
    ...(name === undefined ? {} : { name }),
    schema: error.parentSchema as JsonSchema,
    value: error.data,
  }
}

/** Splits a JSON pointer into keys; array indexes become numbers. */
function pathOf(pointer: string, root: unknown): (string | number)[] {
  if (pointer === '') return []
  let here: unknown = root
  return pointer
    .slice(1)
    .split('/')
    .map((part) => {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      const step = Array.isArray(here) ? Number(key) : key
      here = (here as Record<string | number, unknown> | undefined)?.[step]
      return step
    })
}

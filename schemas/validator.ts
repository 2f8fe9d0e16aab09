// Compiles one validator per kind, which fills in defaults and reports every error.
import { Ajv } from 'ajv'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { plannedKeyword } from './forms/annotations.ts'
import { jsonSchemaOf } from './json-schema.ts'
import type { JsonSchema } from './json-schema.ts'
import type { Kind } from './kinds.ts'

export interface SchemaFault {
  readonly keyword: string
  /** Keys and positions from the top of the object to the faulty value. */
  readonly path: readonly (string | number)[]
  readonly params: Readonly<Record<string, unknown>>
  /** The schema of the faulty value. */
  readonly schema: JsonSchema
  readonly value: unknown
}

const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  verbose: true,
  strict: true,
  allowUnionTypes: true,
  strictRequired: false,
  // A test checks that ours are schemas: here it would take half of the time of compiling them.
  validateSchema: false,
})
ajv.addVocabulary([plannedKeyword])

const compiled = new Map<Kind, ValidateFunction>()

/** Checks `value` and fills in its defaults in place. @returns faults, empty when it is right. */
export function validate(kind: Kind, value: unknown): readonly SchemaFault[] {
  let check = compiled.get(kind)
  if (check === undefined) {
    check = ajv.compile(jsonSchemaOf(kind))
    compiled.set(kind, check)
  }
  if (check(value)) return []
  return (check.errors ?? []).map((error) => faultOf(error, value))
}

function faultOf(error: ErrorObject, root: unknown): SchemaFault {
  return {
    keyword: error.keyword,
    path: pathOf(error.instancePath, root),
    params: error.params,
    schema: error.parentSchema as JsonSchema,
    value: error.data,
  }
}

/** A JSON pointer as keys; a step into an array becomes a number. */
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

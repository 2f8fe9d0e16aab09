// Checks an object against the schema of its kind, fills in defaults, and reports every error.
import { checkOf } from '#lib/schema/check.ts'
import type { SchemaFault } from '#lib/schema/check.ts'
import { jsonSchemaOf } from './json-schema.ts'
import type { Kind } from './kinds.ts'

const checks = new Map<Kind, ReturnType<typeof checkOf>>()

/** Checks `value` and fills in its defaults in place. @returns faults, empty when it is right. */
export function validate(kind: Kind, value: unknown): readonly SchemaFault[] {
  let check = checks.get(kind)
  if (check === undefined) {
    check = checkOf(jsonSchemaOf(kind), 'fill')
    checks.set(kind, check)
  }
  return check(value)
}

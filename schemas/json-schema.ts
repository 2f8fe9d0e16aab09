// Builds the JSON Schema of each kind, for editors and for the validator.
import { kinds } from './kinds.ts'
import type { Kind } from './kinds.ts'

type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue }
export interface JsonSchema {
  readonly [keyword: string]: JsonValue
}

/**
 * A field with a default may be left out, so writers need not give it. The types always have it,
 * because the validator fills it in.
 */
export function jsonSchemaOf(kind: Kind): JsonSchema {
  const schema = withoutDefaultedRequired(
    JSON.parse(JSON.stringify(kinds[kind].schema)) as JsonValue,
  )
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `gslbd ${kind}`,
    ...(schema as JsonSchema),
  }
}

/** File name under `schemas/json/`. */
export function jsonSchemaFile(kind: Kind): string {
  return `${kind.toLowerCase()}.json`
}

function withoutDefaultedRequired(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutDefaultedRequired(item))
  if (typeof value !== 'object' || value === null) return value
  const result: Record<string, JsonValue> = {}
  for (const [key, inner] of Object.entries(value)) result[key] = withoutDefaultedRequired(inner)
  const properties = result['properties'] as Record<string, JsonSchema> | undefined
  if (properties !== undefined && Array.isArray(result['required'])) {
    const required = result['required'].filter(
      (name) => properties[String(name)]?.['default'] === undefined,
    )
    result['required'] = required
    if (required.length === 0) delete result['required']
  }
  return result
}

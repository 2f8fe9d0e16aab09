// An example of what a schema takes, for a field that is written as JSON.
import { typesOf, withoutNull } from '../api/schema.ts'
import type { Schema } from '../api/schema.ts'

const depthMax = 4

/** Returns an example with the required fields, from the schema's defaults and examples. */
export function exampleOf(schema: Schema, depth = 0): unknown {
  const plain = withoutNull(schema)
  const { default: usual, examples, enum: values, items, properties = {}, minimum = 0 } = plain
  const known = plain.const ?? usual ?? examples?.[0] ?? values?.[0]
  if (known !== undefined) return known
  const [type] = typesOf(plain)
  if (depth === depthMax) return null
  if (type === 'array') return [exampleOf(items ?? {}, depth + 1)]
  if (type === 'object') {
    const required = new Set(plain.required)
    const names = Object.keys(properties).filter(
      (name) => required.size === 0 || required.has(name),
    )
    return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name]!, depth + 1)]))
  }
  if (type === 'integer' || type === 'number') return Math.max(1, minimum)
  return type === 'boolean' ? true : '…'
}

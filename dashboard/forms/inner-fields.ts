// Describes a field with fields of its own to a form: its shape, its rows, its refusals.
import { typesOf, withoutNull } from '../api/schema.ts'
import type { Schema } from '../api/schema.ts'
import type { FieldRefusal } from '../yaml/refusal.ts'

export type Draft = Readonly<Record<string, unknown>>

/** Properties of the form of an object's fields. */
export interface FieldsProps {
  readonly schema: Schema
  readonly draft: Draft
  readonly refusals: readonly FieldRefusal[]
  /** Where the object may be left out, so may all of its fields. */
  readonly isNeeded: boolean
  readonly onChange: (draft: Draft) => void
}

/** Undefined: the field is left out. */
export function withField(draft: Draft, name: string, value: unknown): Draft {
  const { [name]: _old, ...others } = draft
  return value === undefined ? others : { ...others, [name]: value }
}

/** An object whose fields are known; a list of such objects, a row each; a list of steps. */
type InnerKind = 'object' | 'rows' | 'steps' | 'other'

const columnsMax = 5

export function innerKindOf(schema: Schema): InnerKind {
  const [type] = typesOf(schema)
  if (type === 'object') return fieldsOf(schema).length > 0 ? 'object' : 'other'
  if (type !== 'array') return 'other'
  if (schema.items?.['x-steps'] !== undefined) return 'steps'
  const columns = fieldsOf(withoutNull(schema.items ?? {}))
  const isPlain = columns.every(([, part]) => !hasParts(part))
  return columns.length > 0 && columns.length <= columnsMax && isPlain ? 'rows' : 'other'
}

const hasParts = (schema: Schema): boolean =>
  ['object', 'array'].includes(typesOf(withoutNull(schema))[0] ?? '')

/** Required fields come first. */
export function fieldsOf({ properties = {}, required = [] }: Schema): [string, Schema][] {
  const rank = (name: string): number => Number(!required.includes(name))
  return Object.entries(properties).toSorted(([a], [b]) => rank(a) - rank(b))
}

/** `steps` → `step`. */
export const oneOf = (name: string): string => name.replace(/s$/, '')

export const rowsOf = (value: unknown): readonly Draft[] =>
  Array.isArray(value) ? (value as readonly Draft[]) : []

export const withRow = (rows: readonly Draft[], at: number, row: Draft): Draft[] =>
  rows.map((one, i) => (i === at ? row : one))

export const withoutRow = (rows: readonly Draft[], at: number): Draft[] =>
  rows.filter((_one, i) => i !== at)

/** Returns the refusals of a field itself, and of its own fields, by their names within it. */
export function refusalsWithin(
  refusals: readonly FieldRefusal[],
  name: string,
): { readonly sentence: string; readonly inner: readonly FieldRefusal[] } {
  const own = refusals.filter(({ field }) => field === name).map(({ sentence }) => sentence)
  const inner = refusals
    .filter(({ field }) => field.startsWith(`${name}.`))
    .map(({ field, sentence }) => ({ field: field.slice(name.length + 1), sentence }))
  return { sentence: own.join(' '), inner }
}

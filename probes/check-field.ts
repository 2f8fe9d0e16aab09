// A field of health checks as data: how people write it, and how a bundle has it.

/** Plain JSON Schema, draft 7: threads that load bundles have no library for schemas. */
interface FieldSchema<Written> {
  readonly [keyword: string]: unknown
  readonly default: Written
  readonly description: string
}

export interface CheckField<Written = unknown, Model = unknown> {
  readonly schema: FieldSchema<Written>
  /** May a bundle hold it? One of a newer compiler may have values that this node does not know. */
  readonly fits: (value: unknown) => boolean
  /** Left out: a bundle has it as it is written. */
  readonly lower?: (written: unknown) => Model
}

export type CheckFields = Readonly<Record<string, CheckField>>

/** Fields as people write them, with defaults filled in. */
export type WrittenOf<Fields extends CheckFields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends CheckField<infer Written> ? Written : never
}

/** Fields as a bundle has them. */
export type ModelOf<Fields extends CheckFields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends CheckField<unknown, infer Model>
    ? Model
    : never
}

interface Described<Value> {
  readonly default: Value
  readonly description: string
}

interface TextBounds extends Described<string> {
  readonly maxLength: number
  readonly pattern?: string
}

export function text(bounds: TextBounds): CheckField<string, string> {
  return { schema: { type: 'string', ...bounds }, fits: isText }
}

interface CountBounds extends Described<number> {
  readonly minimum: number
  readonly maximum: number
}

export function count(bounds: CountBounds): CheckField<number, number> {
  const fits = (value: unknown): boolean =>
    isCount(value) && (value as number) >= bounds.minimum && (value as number) <= bounds.maximum
  return { schema: { type: 'integer', ...bounds }, fits }
}

export function flag(description: string): CheckField<boolean, boolean> {
  const fits = (value: unknown): boolean => typeof value === 'boolean'
  return { schema: { type: 'boolean', default: false, description }, fits }
}

/** Defines a field with one of a fixed list of values. */
export function choice<const Value extends string>(
  values: readonly Value[],
  words: Described<NoInfer<Value>>,
): CheckField<Value, Value> {
  const fits = (value: unknown): boolean => (values as readonly unknown[]).includes(value)
  const { description, default: standard } = words
  return { schema: { type: 'string', enum: [...values], description, default: standard }, fits }
}

export const isCount = (value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 0
export const isText = (value: unknown): boolean => typeof value === 'string'

// Defines a schema of the API's document, and the values that it permits.

/** A possible step of a list: `name`, or `name:VALUE` when it has an option. */
export interface StepKind {
  readonly name: string
  readonly aliases: readonly string[]
  readonly description: string
  /** Where its data is configured; empty: nowhere. */
  readonly settings: string
  /** True: later steps are never reached. */
  readonly isLast: boolean
  /** An object whose first field follows the colon. */
  readonly options?: Schema
}

export interface Schema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly pattern?: string
  readonly examples?: readonly unknown[]
  readonly additionalProperties?: boolean | Schema
  /** Accepted, and never shown. */
  readonly writeOnly?: boolean
  /** Set when the text is a program. */
  readonly contentMediaType?: string
  readonly 'x-steps'?: readonly StepKind[]
}

/** Types of a value, except null. */
export function typesOf({ type, enum: values, anyOf, oneOf }: Schema): readonly string[] {
  if (type !== undefined) return [type].flat().filter((one) => one !== 'null')
  if (values !== undefined) return ['string']
  return (anyOf ?? oneOf ?? []).flatMap(typesOf)
}

/** The schema without its union with null. */
export function withoutNull(schema: Schema): Schema {
  const parts = (schema.anyOf ?? schema.oneOf ?? []).filter((part) => part.type !== 'null')
  const [only] = parts
  return parts.length === 1 && only !== undefined ? { ...schema, ...only } : schema
}

export const isNullable = (schema: Schema): boolean =>
  [schema.type ?? []].flat().includes('null') ||
  (schema.anyOf ?? schema.oneOf ?? []).some(({ type }) => type === 'null')

// A schema of the API's document, and what its values may be.

/** What one step of a list of steps may be: `name`, or `name:VALUE` where it has an option. */
export interface StepKind {
  readonly name: string
  readonly aliases: readonly string[]
  readonly description: string
  /** Where what it goes by is set; empty: nowhere. */
  readonly settings: string
  /** What stands behind it is never reached. */
  readonly isLast: boolean
  /** An object whose first field is what stands behind the colon. */
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
  /** What is taken, and never shown. */
  readonly writeOnly?: boolean
  /** Set where the text is a program. */
  readonly contentMediaType?: string
  readonly 'x-steps'?: readonly StepKind[]
}

/** The types that a value may have; null is not one of them. */
export function typesOf({ type, enum: values, anyOf, oneOf }: Schema): readonly string[] {
  if (type !== undefined) return [type].flat().filter((one) => one !== 'null')
  if (values !== undefined) return ['string']
  return (anyOf ?? oneOf ?? []).flatMap(typesOf)
}

/** Without the union with null around it. */
export function withoutNull(schema: Schema): Schema {
  const parts = (schema.anyOf ?? schema.oneOf ?? []).filter((part) => part.type !== 'null')
  const [only] = parts
  return parts.length === 1 && only !== undefined ? { ...schema, ...only } : schema
}

export const isNullable = (schema: Schema): boolean =>
  [schema.type ?? []].flat().includes('null') ||
  (schema.anyOf ?? schema.oneOf ?? []).some(({ type }) => type === 'null')

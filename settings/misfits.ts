// Finds what in a setting does not fit its schema: which entry of a list or mapping, or all of it.
import type { Place, YamlPath } from '#diagnostics/diagnostic.ts'
import { isFields } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'

/** What Ajv says of one fault. */
interface CheckError {
  readonly instancePath: string
  readonly schemaPath: string
  readonly keyword: string
  readonly params: object
}

export interface Misfit extends Place {
  /** Begins at the setting; empty: the setting itself. */
  readonly path: YamlPath
  /** What is wrong there; `value`: it is of another form. */
  readonly fault:
    | { readonly is: 'value' }
    | { readonly is: 'unknown key' | 'missing key'; readonly key: string }
    | { readonly is: 'too many' | 'too few'; readonly limit: number }
}

/** @param errors all that a check of the whole value has found; one for each place is returned */
export function misfitsOf(value: unknown, errors: readonly CheckError[]): readonly Misfit[] {
  const found = new Map<string, Misfit>()
  for (const error of errors) {
    // A list that must contain an entry lacks it as a whole: its entries may all be right.
    if (error.schemaPath.includes('/contains/')) continue
    const misfit = misfitOf(value, error)
    const id = JSON.stringify(misfit.path)
    if (!found.has(id)) found.set(id, misfit)
  }
  // What has an entry with a fault is of the right form itself.
  const all = [...found.values()]
  const isAbove = (one: YamlPath, other: YamlPath): boolean =>
    one.length < other.length && one.every((step, i) => step === other[i])
  return all.filter(
    ({ path, fault }) => fault.is !== 'value' || !all.some((other) => isAbove(path, other.path)),
  )
}

function misfitOf(value: unknown, { instancePath, keyword, params }: CheckError): Misfit {
  const path = pathOf(value, instancePath)
  const { additionalProperty, missingProperty, limit } = params as Fields
  switch (keyword) {
    case 'additionalProperties': {
      const key = String(additionalProperty)
      return { path: [...path, key], at: 'key', fault: { is: 'unknown key', key } }
    }
    case 'required':
      return { path, at: 'key', fault: { is: 'missing key', key: String(missingProperty) } }
    case 'maxItems':
    case 'maxProperties':
      return { path, at: 'value', fault: { is: 'too many', limit: Number(limit) } }
    case 'minItems':
      return { path, at: 'value', fault: { is: 'too few', limit: Number(limit) } }
    default:
      return { path, at: 'value', fault: { is: 'value' } }
  }
}

/** @param pointer of RFC 6901 */
function pathOf(value: unknown, pointer: string): YamlPath {
  let inner = value
  return pointer
    .split('/')
    .slice(1)
    .map((step) => {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      const key = Array.isArray(inner) ? Number(name) : name
      inner = entryAt(inner, [key])
      return key
    })
}

export function entryAt(value: unknown, path: YamlPath): unknown {
  let inner = value
  for (const step of path) {
    if (Array.isArray(inner)) inner = inner[Number(step)] as unknown
    else inner = isFields(inner) ? inner[String(step)] : undefined
  }
  return inner
}

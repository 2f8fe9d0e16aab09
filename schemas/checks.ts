// Compiles the checks of schemas with Ajv. In dist/ this file is replaced by checks generated at
// the build (bin/ready-checks.ts).
import { createRequire } from 'node:module'
import type { Ajv, Options, ValidateFunction } from 'ajv'
import { plannedKeyword } from './forms/annotations.ts'

/** What a schema describes: an object of the configuration, or the value of a setting. */
type Use = 'kind' | 'setting'

// A test validates our schemas; doing it here would take half of the compile time.
const common: Options = { messages: false, validateSchema: false }

export const optionsOf: Readonly<Record<Use, Options>> = Object.freeze({
  kind: {
    ...common,
    allErrors: true,
    useDefaults: true,
    verbose: true,
    strict: true,
    allowUnionTypes: true,
    strictRequired: false,
    keywords: [plannedKeyword],
  },
  // Settings have keywords beyond JSON Schema, such as `x-default`.
  setting: { ...common, allErrors: true, strict: false, strictNumbers: true },
})

const makers = new Map<Use, Ajv>()

/** @param name a kind, or the key of a setting; the build generates the check of each */
export function checkOf(use: Use, name: string, schemaOf: () => object): ValidateFunction {
  void name
  let maker = makers.get(use)
  if (maker === undefined) {
    // Loaded on first use: processes that check nothing do without Ajv.
    const ajv = createRequire(import.meta.url)('ajv') as { readonly Ajv: typeof Ajv }
    maker = new ajv.Ajv(optionsOf[use])
    makers.set(use, maker)
  }
  // Compiled on first use, once for each schema.
  return maker.compile(schemaOf())
}

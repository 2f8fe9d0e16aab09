// Writes the checks that Ajv generates from the schemas into dist/, so that no start generates
// them; a file is loaded at the first call of a check in it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import type { Plugin } from 'rolldown'
import { optionsOf } from '#schemas/checks.ts'
import { jsonSchemaOf } from '#schemas/json-schema.ts'
import { kindNames } from '#schemas/kinds.ts'
import { settingRows } from '#settings/schema.ts'

/** Replaces schemas/checks.ts in the program; its callers give the name of a check. */
const loader = `
import { createRequire } from 'node:module'
const load = createRequire(import.meta.url)
export const checkOf = (use, name) =>
  load('./checks/' + (use === 'kind' ? name : 'of-settings') + '.cjs')[name]
`

export const readyChecks: Plugin = {
  name: 'ready-checks',
  load: (id) => (id === join(import.meta.dirname, '../schemas/checks.ts') ? loader : null),
  generateBundle() {
    for (const [name, source] of filesOfChecks()) {
      this.emitFile({ type: 'asset', fileName: `schemas/checks/${name}.cjs`, source })
    }
  },
}

function filesOfChecks(): Map<string, string> {
  const files = new Map<string, string>()
  const { resolve } = createRequire(import.meta.url)
  const write = (file: string, ajv: Ajv, names: readonly string[]): void => {
    const code = standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name])))
    // Runtime modules of Ajv that the code needs are included.
    const needs = /require\("(ajv\/dist\/runtime\/(\w+))"\)/g
    for (const [, path = '', word = ''] of code.matchAll(needs)) {
      files.set(word, readFileSync(resolve(path), 'utf8'))
    }
    files.set(file, code.replaceAll(needs, 'require("./$2.cjs")'))
  }
  const code = { source: true }
  for (const kind of kindNames) {
    const schemas = { [kind]: jsonSchemaOf(kind) }
    write(kind, new Ajv({ ...optionsOf.kind, code, schemas }), [kind])
  }
  const schemas = Object.fromEntries(settingRows.map(({ key, leaf }) => [key, leaf]))
  write('of-settings', new Ajv({ ...optionsOf.setting, code, schemas }), Object.keys(schemas))
  return files
}

// The page of the chart's values is made of its schema and its defaults.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'prettier'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../../..')
const chart = join(root, 'deploy/helm/gslbd')
const path = join(root, 'docs/reference/chart.md')

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
  readonly description?: string
  readonly enum?: readonly unknown[]
}

const intro = `# Values of the Helm chart

<!-- Generated from deploy/helm/gslbd/values.schema.json and values.yaml.
     Rewrite with: GSLBD_UPDATE=1 npx vitest run test/unit/deploy -->

[The chart](../../deploy/helm/gslbd) makes what [production](../operations/production.md#kubernetes)
describes. A value that it does not know is refused. Secrets are referred to by name and never made.

| value | default | what it says |
| --- | --- | --- |
`

function* rowsOf(schema: Schema, value: unknown, name: string): Generator<string> {
  // What is a mapping with names of its own, such as annotations, is one value.
  if (schema.properties !== undefined && schema.additionalProperties === false) {
    for (const [key, inner] of Object.entries(schema.properties)) {
      if (key === 'global') continue
      const within = (value as Readonly<Record<string, unknown>> | undefined)?.[key]
      yield* rowsOf(inner, within, name === '' ? key : `${name}.${key}`)
    }
    return
  }
  const known = schema.enum?.filter((one) => one !== '').map((one) => `\`${String(one)}\``)
  const choice = known === undefined ? '' : `: ${known.join(', ')}`
  const standard = value === '' ? '' : `\`${JSON.stringify(value)}\``
  const says = schema.description ?? `${name} has no description`
  yield `| \`${name}\` | ${standard} | ${says}${choice} |`
}

test('the page is up to date, with a sentence for each value (GSLBD_UPDATE=1)', async () => {
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema
  const values: unknown = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
  const rows = [...rowsOf(schema, values, '')]
  expect(rows.filter((row) => row.includes('has no description'))).toEqual([])
  expect(rows.length).toBeGreaterThan(50)
  const page = await format(`${intro}${rows.join('\n')}\n`, { parser: 'markdown' })
  if (process.env['GSLBD_UPDATE'] === '1') writeFileSync(path, page)
  expect(readFileSync(path, 'utf8')).toBe(page)
})

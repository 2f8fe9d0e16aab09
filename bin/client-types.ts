// Writes clients/typescript/openapi.d.ts, what each operation of the API takes and answers.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiOf } from '#api/reference/openapi.ts'
import { routes } from '#api/routes.ts'
import { typeOf } from './response-types.ts'
import type { Schema } from './response-types.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: Schema
}
type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Operation {
  readonly summary: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const head =
  "// Types of the API's operations, written by `node bin/client-types.ts` " +
  'from its OpenAPI document.\n'

export function clientTypes(): string {
  const { paths, components } = JSON.parse(JSON.stringify(openApiOf(routes))) as OpenApi
  const shared = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)}\n`,
  )
  const rows = Object.entries(paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(operationLines).join('')
    return `  '${path}': {\n${operations}  }\n`
  })
  return `${head}\n${shared.join('')}\nexport interface paths {\n${rows.join('')}}\n`
}

function operationLines([method, operation]: [string, Operation]): string {
  const { summary, parameters, requestBody, responses } = operation
  const given = (place: string): string =>
    fieldsOf(parameters.filter((parameter) => parameter.in === place))
  const bodies = Object.values(requestBody?.content ?? {})
  const [body = 'undefined'] = bodies.map(({ schema }) => typeOf(schema, false))
  return (
    `    /** ${summary} */\n    ${method}: {\n` +
    `      params: ${given('path')}\n      query: ${given('query')}\n` +
    `      body: ${body}\n      answer: ${answerType(responses)}\n    }\n`
  )
}

function fieldsOf(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return 'Record<string, never>'
  const fields = parameters.map(
    ({ name, required, schema }) => `${name}${required ? '' : '?'}: ${typeOf(schema)}`,
  )
  return `{ ${fields.join('; ')} }`
}

/** Everything but JSON is given as text. */
function answerType(responses: Operation['responses']): string {
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const types = good.map(([, { content }]) => {
    if (content === undefined) return 'null'
    const json = content['application/json']
    return json === undefined ? 'string' : typeOf(json.schema)
  })
  const different = [...new Set(types)]
  return different.length === 0 ? 'null' : different.join(' | ')
}

if (import.meta.main) {
  const path = join(import.meta.dirname, '../clients/typescript/openapi.d.ts')
  writeFileSync(path, clientTypes())
}

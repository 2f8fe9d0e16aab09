// The reference page of the configuration files, written from the schemas.
import { plannedKeyword } from '#schemas/forms/annotations.ts'
import { jsonSchemaOf } from '#schemas/json-schema.ts'
import type { JsonSchema } from '#schemas/json-schema.ts'
import { kindNames, kinds } from '#schemas/kinds.ts'
import type { Kind } from '#schemas/kinds.ts'

const introduction = `# Configuration files

Written from the schemas by \`GSLBD_UPDATE=1 npx vitest run test/unit/schemas\`; do not edit.

Each YAML file declares one object: \`apiVersion: gslb/v1\`, a \`kind\`, \`metadata\`, a \`spec\`.
Files are YAML 1.2, at most 1 MiB each and 256 MiB together (three million records), without
anchors, aliases, tags, merge keys and duplicate keys.
Unknown fields are refused. Editors check while you type with a first line such as
\`# yaml-language-server: $schema=…/schemas/json/pool.json\`.

A field marked *later* has a meaning in a later version; until then only the value shown is
accepted.
`

export function configurationReference(): string {
  return [introduction, ...kindNames.map(section)].join('\n')
}

function section(kind: Kind): string {
  const schema = jsonSchemaOf(kind)
  const spec = propertiesOf(schema)['spec']!
  const rows = [...rowsOf(propertiesOf(schema)['metadata']!, 'metadata.'), ...rowsOf(spec, 'spec.')]
  return [
    `## ${kind}`,
    '',
    `${text(spec['description'])} File: \`${kinds[kind].path}\`.`,
    '',
    '| Field | Type | Default | Limits | Meaning |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

function rowsOf(schema: JsonSchema, prefix: string): string[] {
  const required = (schema['required'] ?? []) as readonly string[]
  return Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    const path = `${prefix}${name}`
    const row = rowOf(path, property, required.includes(name))
    if (property[plannedKeyword] === true) return [row]
    const items = property['items'] as JsonSchema | undefined
    if (items !== undefined) return [row, ...rowsOf(items, `${path}[].`)]
    const values = property['additionalProperties']
    if (typeof values === 'object') return [row, ...rowsOf(values as JsonSchema, `${path}.KEY.`)]
    return [row, ...rowsOf(property, `${path}.`)]
  })
}

function rowOf(path: string, schema: JsonSchema, isRequired: boolean): string {
  const isLater = schema[plannedKeyword] === true
  const fallback = schema['default'] === undefined ? schema['const'] : schema['default']
  const shown = fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``
  const cells = [
    `\`${path}\``,
    isLater ? '*later*' : typeOf(schema),
    isRequired ? 'required' : shown,
    limitsOf(schema),
    text(schema['description']),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function typeOf(schema: JsonSchema): string {
  const type = schema['type']
  if (type === 'array') return `list of ${typeOf((schema['items'] ?? {}) as JsonSchema)}`
  if (Array.isArray(type)) return type.map(String).join(' or ')
  return text(type)
}

function limitsOf(schema: JsonSchema): string {
  if (schema[plannedKeyword] === true) return ''
  const limits: string[] = []
  if (Array.isArray(schema['enum']))
    limits.push(schema['enum'].map((value) => `\`${String(value)}\``).join(', '))
  if (schema['minimum'] !== undefined)
    limits.push(`${text(schema['minimum'])} to ${text(schema['maximum'])}`)
  const least = schema['minLength'] ?? schema['minItems']
  const most = schema['maxLength'] ?? schema['maxItems']
  const unit = schema['type'] === 'array' ? 'entries' : 'characters'
  if (most !== undefined) limits.push(`${text(least ?? 0)} to ${text(most)} ${unit}`)
  else if (least !== undefined) limits.push('not empty')
  return limits.join('; ')
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return (schema['properties'] ?? {}) as Record<string, JsonSchema>
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
}

// Writes a curl command line for a route, with its required fields.
import type { TSchema } from '#lib/schema/type.ts'
import { paramNames } from '#api/route/route.ts'
import type { Route } from '#api/route/route.ts'
import { sampleOrigin } from './script.ts'

/** Stands for a credential in samples; docs/operations/first-zone.md sets the same variable. */
const credential = 'Authorization: Bearer $token'

export function curlSampleOf(row: Route): string {
  const { method, path, needs, body } = row
  const words = ['curl -s']
  if (method !== 'GET') words.push(`-X ${method}`)
  words.push(quotedUrl(sampleOrigin + pathOf(path) + requiredQuery(row)))
  if (needs !== 'public') words.push(`-H "${credential}"`)
  const shown = row.shownBody ?? body
  if (shown !== undefined) {
    words.push("-H 'Content-Type: application/json'")
    words.push(`-d '${JSON.stringify(sampleBodyOf(shown)).replaceAll("'", String.raw`'\''`)}'`)
  }
  return words
    .join(' \\\n  ')
    .replace(' \\\n  -X', ' -X')
    .replace(/ \\\n {2}('?http)/, ' $1')
}

/** Quoted, since braces and question marks mean something to curl and to the shell. */
function quotedUrl(url: string): string {
  return /[?&$]/.test(url) ? `'${url}'` : url
}

/** Replaces `{id}` by a variable that the reader sets. */
function pathOf(path: string): string {
  return paramNames(path).reduce((text, name) => text.replace(`{${name}}`, placeholder(name)), path)
}

/** Turns `poolId` into `POOL_ID`. */
const placeholder = (name: string): string => name.replaceAll(/([A-Z])/g, '_$1').toUpperCase()

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly items?: TSchema
  readonly minItems?: number
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly TSchema[]
  readonly examples?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly minLength?: number
}

function requiredQuery({ query }: Route): string {
  const { properties = {}, required = [] } = (query ?? {}) as Schema
  const pairs = required.map((name) => [name, String(sampleOf(properties[name]!, name))])
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`
}

/**
 * The required fields; if there are none, the first field with a sample value. The body is valid.
 */
export function sampleBodyOf(schema: TSchema): unknown {
  return sampleOf(schema, '')
}

/** Sample values by name, for fields whose schema yields none. */
const byName: Readonly<Record<string, unknown>> = Object.freeze({
  name: 'web',
  displayName: 'Ann',
  domain: 'shop.example.com.',
  email: 'ann@example.com',
  username: 'ann',
  password: 'correct horse',
  currentPassword: 'correct horse',
  newPassword: 'correct horse battery',
  ipAddress: '192.0.2.10',
  cidr: '10.0.0.0/8',
  endpoint: '192.0.2.10',
  port: 443,
  code: '123456',
  ip: '192.0.2.10',
  role: 'viewer',
  startAt: '2027-01-31T22:00:00Z',
  endAt: '2027-01-31T23:00:00Z',
  weightPct: 10,
  holdSeconds: 300,
  permissions: ['pool:read'],
})

function sampleOf(schema: TSchema, name: string): unknown {
  const { type, properties, examples, enum: choices, anyOf, ...rest } = schema as Schema
  if (examples?.[0] !== undefined) return examples[0]
  if (rest.const !== undefined) return rest.const
  if (choices?.[0] !== undefined) return choices[0]
  if (Object.hasOwn(byName, name)) return byName[name]
  if (rest.default !== undefined) return rest.default
  if (anyOf?.[0] !== undefined) return sampleOf(anyOf[0], name)
  const plain = typeof type === 'string' ? type : type?.[0]
  if (plain === 'object') return sampleObject(properties ?? {}, rest)
  if (plain === 'array') return (rest.minItems ?? 0) > 0 ? [sampleOf(rest.items!, name)] : []
  if (plain === 'boolean') return true
  if (plain === 'integer' || plain === 'number') return Math.max(1, rest.minimum ?? 1)
  return plain === 'null' ? null : placeholder(name)
}

function sampleObject(
  properties: Readonly<Record<string, TSchema>>,
  { required = [], minProperties = 0 }: Schema,
): Record<string, unknown> {
  const optional = Object.keys(properties).filter((name) => !required.includes(name))
  const more = required.length === 0 ? Math.max(1, minProperties) : 0
  const telling = optional.toSorted((a, b) => Number(b in byName) - Number(a in byName))
  const names = [...required, ...telling.slice(0, more)]
  return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name]!, name)]))
}

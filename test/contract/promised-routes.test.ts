// The routes that clients are promised, and OpenAPI: neither has one that the other does not know.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openApiOf } from '#api/reference/openapi.ts'
import { routes } from '#api/routes.ts'

/**
 * Method, path, permission and status of success; what a request takes, with `?` where it may be
 * left out; what the answer has, of a list each element. `-`: nothing, or nothing that is promised.
 */
const promised = readFileSync(join(import.meta.dirname, '../fixtures/promised-routes'), 'utf8')

/** Routes beyond the promised ones in their areas: a new one is named here. Others are free. */
const ours = `
GET /ready
PATCH /pools/{id}
PATCH /members/{id}
PATCH /services/{id}
PATCH /pools/{id}/healthcheck
GET /gitops/status
GET /metrics
POST /commits
POST /plan
GET /unused
POST /sync
POST /why
GET /pools/{id}/health-history
GET /client-regions
GET /rum/networks
GET /health/members
GET /audit
GET /simulate/clients/{country}
GET /dns/written-records
DELETE /dns/written-records/{id}
GET /discovery/sources
POST /discovery/sources/{name}/accept
POST /tenants/{id}/key
DELETE /tenants/{id}/key
GET /zone-transfers
POST /zone-transfers/{zone}/accept
`

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
  readonly items?: Schema
}
type Content = { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
interface Operation {
  readonly tags: readonly string[]
  readonly 'x-permission': string
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content | undefined>>
}

const { paths } = openApiOf(routes) as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
const schemaIn = (content: Content | undefined): Schema => {
  const [first] = Object.values(content?.content ?? {})
  return first?.schema.items ?? first?.schema ?? {}
}
const linesOf = (text: string): readonly (readonly string[])[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '))
const namesIn = (field = '-'): readonly string[] => (field === '-' ? [] : field.split(','))

test.each(linesOf(promised))(
  '%s %s',
  (method = '', path = '', permission, status = '', ...fields) => {
    const operation = paths[`/api/v1${path}`]?.[method.toLowerCase()]
    expect(operation?.['x-permission']).toBe(permission)
    expect(Object.keys(operation!.responses)).toContain(status)
    const [takes, has] = fields.map(namesIn)
    const asked = schemaIn(operation!.requestBody)
    const told = Object.keys(asked.properties ?? {}).map(
      (name) => name + (asked.required?.includes(name) === true ? '' : '?'),
    )
    expect(told).toEqual(expect.arrayContaining([...takes!]))
    const answered = Object.keys(schemaIn(operation!.responses[status]).properties ?? {})
    expect(answered).toEqual(expect.arrayContaining([...has!]))
  },
)

test('a secret of a key is in the answer that makes it alone', () => {
  const { get } = paths['/api/v1/dns/tsig-keys']!
  expect(Object.keys(schemaIn(get!.responses['200']).properties!)).not.toContain('secret')
})

test('no route is among those that were promised which is not, or named as our own', () => {
  const known = [...linesOf(promised), ...linesOf(ours)].map(
    ([method, path]) => `${method} ${path}`,
  )
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path.replace('/api/v1', '')}`
      return { name, tags: operation.tags }
    }),
  )
  const areas = new Set(all.flatMap(({ name, tags }) => (known.includes(name) ? tags : [])))
  const there = all.filter(({ tags }) => tags.some((tag) => areas.has(tag)))
  expect(there.map(({ name }) => name).toSorted()).toEqual(known.toSorted())
})

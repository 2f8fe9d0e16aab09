import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { createApp } from '#api/server/app.ts'
import { sampleBodyOf } from '#api/reference/curl-sample.ts'
import { operationId } from '#api/reference/openapi.ts'
import { paramNames } from '#api/route/route.ts'
import { routes } from '#api/routes.ts'
import { createCheck } from '#http/validation.ts'
import { portsOf } from '#test/support/api-ports.ts'

interface Operation {
  readonly operationId: string
  readonly 'x-permission': string
  readonly description: string
  readonly 'x-codeSamples': readonly { readonly source: string }[]
  readonly parameters: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> }
  readonly responses: Record<
    string,
    {
      readonly description: string
      readonly headers?: object
      readonly content?: Record<string, { schema: object }>
    }
  >
}
interface Document {
  readonly openapi: string
  readonly paths: Record<string, Record<string, Operation>>
}

const guard = 'X-Gslb-Override'
const ofWrites = [guard, 'X-Gslb-Subject', 'X-Gslb-Effect']
const app = createApp(portsOf({}), [])
async function load(): Promise<Document> {
  const answer = await app.inject('/api/v1/openapi.json')
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  return answer.json()
}

describe('the OpenAPI document', () => {
  test('has every route, and no other', async () => {
    const { openapi, paths } = await load()
    const inDocument = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const inTable = routes.map(({ method, path }) => `${method} ${path}`)
    expect(openapi).toBe('3.1.0')
    expect(inDocument.toSorted()).toEqual(inTable.toSorted())
  })

  test('has only routes that the server has', async () => {
    const { paths } = await load()
    const absent = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).filter((method) => {
        const url = path.replaceAll(/\{(\w+)\}/g, ':$1')
        return !app.hasRoute({ method: method.toUpperCase(), url })
      }),
    )
    expect(absent).toEqual([])
  })

  test.each([
    ['/pools/{id}/members', 'post', '0 or less is taken as 1'],
    ['/members/{id}', 'put', 'below 0 is taken as 0'],
  ])('describes for %s a weight below its limit', async (path, method, words) => {
    const { paths } = await load()
    const { content } = paths[`/api/v1${path}`]?.[method]?.requestBody ?? {}
    const schema = content?.['application/json']?.schema as { properties: { weight: object } }
    expect(schema.properties.weight).toMatchObject({
      description: expect.stringContaining(words) as string,
    })
  })

  test.each([
    ['/pools', 'post', ofWrites, ['201']],
    ['/pools/{id}', 'get', [], ['200']],
    ['/pools/{id}', 'put', ['If-Match', ...ofWrites], ['200']],
    ['/pools/{id}', 'delete', ['If-Match', ...ofWrites], []],
    ['/members/{id}/status', 'get', [], []],
  ])('has for %s %s the fields of conditional changes', async (path, method, asked, tagged) => {
    const { paths } = await load()
    const { parameters = [], responses = {} } = paths[`/api/v1${path}`]?.[method] ?? {}
    const names = parameters.flatMap((one) => (one.in === 'header' ? [one.name] : []))
    const withTag = Object.keys(responses).filter(
      (status) => 'ETag' in (responses[status]?.headers ?? {}),
    )
    expect(names).toEqual(asked)
    expect(withTag).toEqual(tagged)
    expect('412' in responses).toBe(asked.includes('If-Match'))
  })

  test('says of each write to Git how guardrails refuse it, and who may go past them', async () => {
    const { paths } = await load()
    const { parameters = [], responses = {} } = paths['/api/v1/services/{id}']?.['delete'] ?? {}
    const header = parameters.find(({ name }) => name === guard)
    expect(header).toMatchObject({
      required: false,
      description: expect.stringContaining('For system administrators') as string,
      schema: { maxLength: 200 },
    })
    expect(responses['409']?.description).toContain(guard)
    const without = paths['/api/v1/users']?.['post']?.parameters.map(({ name }) => name)
    expect(without).not.toContain(guard)
  })

  test('has the fields of refusals that have more than a sentence', async () => {
    const { paths } = await load()
    const schemaOf = (path: string, method: string, status: string): unknown =>
      paths[`/api/v1${path}`]?.[method]?.responses[status]?.content?.['application/json']?.schema
    const conflict = { $ref: '#/components/schemas/Conflict' }
    expect(schemaOf('/auth/login', 'post', '401')).toHaveProperty('properties.mfaRequired')
    for (const path of ['/pools', '/services', '/rollouts']) {
      expect(schemaOf(path, 'post', '409')).toEqual(conflict)
    }
    expect(schemaOf('/pools/{id}', 'delete', '409')).toEqual(conflict)
    expect(schemaOf('/tenants', 'post', '409')).toHaveProperty('properties.diagnostics')
    expect(schemaOf('/users', 'post', '409')).toEqual({ $ref: '#/components/schemas/Error' })
  })

  test('says of each 429 and 503, and of nothing else, that it has Retry-After', async () => {
    const { paths } = await load()
    for (const { responses } of Object.values(paths).flatMap((path) => Object.values(path))) {
      for (const [status, { headers = {} }] of Object.entries(responses)) {
        expect('Retry-After' in headers).toBe(['429', '503'].includes(status))
      }
    }
  })

  test('shows the defaults of what a body may leave out', async () => {
    const { paths } = await load()
    const defaultsOf = (path: string, method: string): object => {
      const { content } = paths[`/api/v1${path}`]?.[method]?.requestBody ?? {}
      const { properties } = content?.['application/json']?.schema as {
        readonly properties: Readonly<Record<string, { readonly default?: unknown }>>
      }
      const known = Object.entries(properties).filter(([, schema]) => 'default' in schema)
      return Object.fromEntries(known.map(([name, schema]) => [name, schema.default]))
    }
    expect(defaultsOf('/services', 'post')).toMatchObject({ ttl: 60, algorithm: 'round-robin' })
    expect(defaultsOf('/tenants', 'post')).toEqual({ rpsLimit: 1_000 })
    expect(defaultsOf('/pools/{id}/members', 'post')).toMatchObject({
      weight: 1,
      region: 'unknown',
    })
    expect(defaultsOf('/pools/{id}/healthcheck', 'put')).toMatchObject({ type: 'tcp', port: 80 })
    // Fields that a change leaves out keep their values.
    expect(defaultsOf('/members/{id}', 'put')).toEqual({})
  })

  test.each([
    ['/pools/{id}', 'Services that use it stay'],
    ['/tenants/{id}', 'Nothing is deleted with it'],
  ])('says what goes with a deleted %s', async (path, words) => {
    const { paths } = await load()
    expect(paths[`/api/v1${path}`]?.['delete']?.description).toContain(words)
  })

  test('names each operation once, with its permission and its parameters', async () => {
    const { paths } = await load()
    const ids = routes.map(operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { method, path, needs } of routes) {
      const operation = paths[path]?.[method.toLowerCase()]
      expect(operation?.['x-permission']).toBe(needs)
      const inPath = operation?.parameters.filter((parameter) => parameter.in === 'path')
      expect(inPath?.map(({ name }) => name)).toEqual(paramNames(path))
    }
  })

  test('has schemas of JSON Schema 2020-12 and no others', async () => {
    const { paths } = await load()
    const ajv = new Ajv2020({ strict: false })
    const operations = Object.values(paths).flatMap((path) => Object.values(path))
    const contents = operations.flatMap(({ requestBody, responses }) => [
      requestBody?.content,
      ...Object.values(responses).map(({ content }) => content),
    ])
    const schemas = contents.flatMap((content) => Object.values(content ?? {}))
    expect(schemas.length).toBeGreaterThan(routes.length)
    for (const { schema } of schemas) expect(ajv.validateSchema(schema)).toBe(true)
  })
})

describe('a curl sample', () => {
  test('names method, path and, where needed, a credential for each route', async () => {
    const { paths } = await load()
    for (const { method, path, needs } of routes) {
      const sample = paths[path]?.[method.toLowerCase()]?.['x-codeSamples'][0]?.source ?? ''
      const [start = ''] = path.split('{')
      expect(sample).toContain(`http://127.0.0.1:8080${start}`)
      expect(sample).not.toMatch(/[{}](?!.*')/)
      expect(sample.includes(`-X ${method} `)).toBe(method !== 'GET')
      expect(sample.includes('Authorization')).toBe(needs !== 'public')
    }
  })

  test('has a body that the route takes', () => {
    for (const row of routes) {
      const schema = row.shownBody ?? row.body
      if (schema === undefined) continue
      const faults = createCheck(schema, 'body')(sampleBodyOf(schema))
      expect(faults, `${row.method} ${row.path}`).toEqual([])
    }
  })
})

describe('the page', () => {
  test('has no script or style in it, and names no other host', async () => {
    const answer = await app.inject('/api/v1/docs')
    const policy = String(answer.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).not.toMatch(/unsafe|https?:/)
    expect(answer.payload).not.toMatch(/<style|<script>|https?:\/\/|\son\w+=|\sstyle=/)
  })

  test.each([
    ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8', 1_000_000],
    ['swagger-ui.css', 'text/css; charset=utf-8', 100_000],
    ['page.js', 'text/javascript; charset=utf-8', 1_000],
    ['page.css', 'text/css; charset=utf-8', 100],
  ])('has the file %s, which is sent again only when it is another', async (name, type, bytes) => {
    const url = `/api/v1/docs/${name}`
    const answer = await app.inject(url)
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, type])
    expect(answer.rawPayload.length).toBeGreaterThan(bytes)
    const { etag } = answer.headers
    const again = await app.inject({ url, headers: { 'if-none-match': String(etag) } })
    expect([again.statusCode, again.payload]).toEqual([304, ''])
    expect((await app.inject('/api/v1/docs')).payload).toContain(`"${url}"`)
  })

  test.each(['LICENSE', 'constructor', '..%2fpackage.json', 'index.html'])(
    'has no file %s',
    async (name) => {
      expect((await app.inject(`/api/v1/docs/${name}`)).statusCode).toBe(404)
    },
  )
})

// Compares the OpenAPI document with the server, field by field: which fields of a body may be left
// out, and their values.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApiOf, operationId } from '#api/reference/openapi.ts'
import type { Route } from '#api/route/route.ts'
import { routes } from '#api/routes.ts'
import { rootKey } from '#test/support/config-world.ts'
import { laneRows } from '#test/support/lane.ts'
import { routeCases } from '#test/support/route-cases.ts'
import type { Params } from '#test/support/route-cases.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'

type Fields = Readonly<Record<string, unknown>>

interface BodySchema {
  readonly properties: Readonly<Record<string, Fields>>
  readonly required?: readonly string[]
  /** Left out where clients of other programs send more: those of acme-dns. */
  readonly additionalProperties?: boolean
}

/** Gone once there is an account: test/unit/api/logins.test.ts has its bodies. */
const withoutBody = new Set(['postAuthSetup'])

const document = JSON.parse(JSON.stringify(openApiOf(routes))) as {
  readonly paths: Record<string, Record<string, { requestBody?: { content: Fields } }>>
}

function schemaOf({ path, method }: Route): BodySchema {
  const content = document.paths[path]?.[method.toLowerCase()]?.requestBody?.content
  return (content?.['application/json'] as { readonly schema: BodySchema }).schema
}

const rows = routes
  .filter((row) => row.body !== undefined && !withoutBody.has(operationId(row)))
  .map((row) => [`${row.method} ${row.path}`, row] as const)

let whole: WholeWorld
/** For bodies that name a member. */
let memberId = ''
beforeAll(async () => {
  whole = await startWholeWorld()
  memberId = (await routeCases['getMembersById']?.make?.(whole.world, 'acme'))?.['id'] ?? ''
})
afterAll(() => whole.stop())

let requests = 0

/** Objects that the case of each route made; made again when a request has removed one. */
const made = new Map<Route, Params>()

async function paramsOf(row: Route): Promise<Params> {
  const params = made.get(row) ?? (await routeCases[operationId(row)]?.make?.(whole.world, 'acme'))
  made.set(row, params ?? {})
  return params ?? {}
}

/** @returns the sentence of a 400; '' for any other answer */
async function faultOf(row: Route, body: unknown): Promise<string> {
  const params = await paramsOf(row)
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? '')
  const { needs } = routeCases[operationId(row)]!
  const bearer = needs === 'session' ? await whole.bearerOf('default tenant_admin') : rootKey
  const answer = await whole.world.app.inject({
    method: row.method,
    url: path,
    headers: { authorization: `Bearer ${bearer}` },
    payload: JSON.stringify(body),
    // There is a limit for each.
    remoteAddress: `10.0.${++requests >> 8}.${requests & 255}`,
  })
  if (answer.statusCode === 404 && path !== row.path) {
    made.delete(row)
    return ''
  }
  return answer.statusCode === 400 ? answer.json<{ readonly error: string }>().error : ''
}

function exampleOf(row: Route): Fields {
  const example = routeCases[operationId(row)]?.body?.() as Fields
  const named = ['memberId', 'resourceId'].filter((name) => name in example)
  return { ...example, ...Object.fromEntries(named.map((name) => [name, memberId])) }
}

/** Values of every type, beyond every limit, and in no form that is asked for. */
const values = [null, true, -7, 0.5, 3, 1e12, '', 'x\0', 'x'.repeat(3_000), [], [null], {}]
const hostile = laneRows(values, (_, i) => [1, 2, 8, 10].includes(i))

describe.each(rows)('%s', (_name, row) => {
  const { properties, required = [], additionalProperties } = schemaOf(row)

  test('demands what the document calls required, and nothing else', async () => {
    const names = new Set([...Object.keys(exampleOf(row)), ...Object.keys(properties)])
    const demanded: string[] = []
    for (const name of names) {
      const rest = Object.entries(exampleOf(row)).filter(([key]) => key !== name)
      const fault = await faultOf(row, Object.fromEntries(rest))
      if (fault.split('; ').includes(`${name}: is required`)) demanded.push(name)
    }
    expect(required.toSorted()).toEqual(demanded.toSorted())
    for (const name of required) expect(properties[name]).not.toHaveProperty('default')
  })

  test.each(Object.keys(properties))('a wrong %s is refused by its name, once', async (name) => {
    let refusals = 0
    for (const value of hostile) {
      const fault = await faultOf(row, { ...exampleOf(row), [name]: value })
      if (fault === '') continue
      refusals++
      expect(fault).toMatch(new RegExp(`^${name}(\\.\\w+)*: (?!${name}\\b)`))
    }
    expect(refusals).toBeGreaterThan(0)
  })

  const unknown = additionalProperties === false ? ['nosuch'] : []
  test.each(unknown)('the unknown field %s is refused by its name', async (name) => {
    const fault = await faultOf(row, { ...exampleOf(row), [name]: 1 })
    const fields = Object.keys(properties)
    const list = fields.length > 12 ? '' : `; there are ${fields.join(', ')}`
    expect(fault).toBe(`${name}: there is no such field${list}`)
  })
})

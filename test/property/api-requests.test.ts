import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operationId } from '#api/reference/openapi.ts'
import { paramNames } from '#api/route.ts'
import type { Route } from '#api/route.ts'
import { routes } from '#api/routes.ts'
import { keyOf } from '#test/support/config-world.ts'
import { routeCases } from '#test/support/route-cases.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'

let whole: WholeWorld
/** Words that stand in what belongs to the tenant `zenith` and nowhere else. */
const secretWords = /zenith|top-?secret/i

beforeAll(async () => {
  whole = await startWholeWorld()
  const { world } = whole
  const zenith = keyOf('zenith')
  const pool = await world.call(zenith, 'POST', '/pools', { name: 'topsecret' })
  const service = { name: 'topsecret', domain: 'topsecret.example.com.', poolId: pool.body.id }
  await world.call(zenith, 'POST', '/services', service)
}, 60_000)
afterAll(() => whole.stop())

const hostile = ['', '\0', '__proto__', '../../etc', 'a'.repeat(300), '%00', '💥', '\ud800', '-1']
const text = fc.oneof(fc.constantFrom(...hostile), fc.string({ maxLength: 40 }))
const value: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(text, text, { maxKeys: 3 }),
)
const credential = fc.constantFrom('nobody', 'junk', 'acme key', 'acme tenant_admin', 'acme viewer')
const row = fc.constantFrom(...routes)

/** The body of the route's case with some fields changed, left out or added; or anything. */
function bodyOf(route: Route): fc.Arbitrary<string> {
  const example = (routeCases[operationId(route)]?.body?.() ?? {}) as Record<string, unknown>
  const mutated = fc
    .tuple(fc.dictionary(fc.constantFrom(...Object.keys(example), 'x'), value), fc.boolean())
    .map(([changes, isPartial]) => JSON.stringify(isPartial ? changes : { ...example, ...changes }))
  const deep = fc.integer({ min: 1, max: 20_000 }).map((depth) => '['.repeat(depth))
  const nested = fc.integer({ min: 1, max: 5_000 }).map((n) => '['.repeat(n) + ']'.repeat(n))
  return fc.oneof(
    { arbitrary: mutated, weight: 8 },
    value.map((any) => JSON.stringify(any) ?? ''),
    text,
    deep,
    nested,
  )
}

/** null in three of four requests. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ arbitrary: fc.constant(null), weight: 3 }, { arbitrary, weight: 1 })

const request = row.chain((route) =>
  fc.record({
    route: fc.constant(route),
    actor: credential,
    params: fc.array(text, { minLength: 2, maxLength: 2 }),
    query: rarely(fc.dictionary(text, text, { maxKeys: 2 })),
    body: fc.option(bodyOf(route), { freq: 4 }),
    cookie: fc.option(text),
    type: rarely(fc.constantFrom('text/plain', 'application/json; charset=x', ';')),
    method: rarely(fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD')),
  }),
)

const statuses = [200, 201, 204, 400, 401, 403, 404, 405, 409, 412, 413, 414, 415, 429, 503]

test('no request of 5,000 makes a 500, a stack trace, or shows another tenant', async () => {
  const seen = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(
      request,
      async ({ route, actor, params, query, body, cookie, type, method }) => {
        const names = paramNames(route.path)
        const path = names.reduce(
          (filled, name, i) => filled.replace(`{${name}}`, encoded(params[i] ?? '')),
          route.path,
        )
        const search = query === null ? '' : `?${new URLSearchParams(query).toString()}`
        const bearer = await whole.bearerOf(actor)
        const answer = await whole.world.app.inject({
          method: method ?? route.method,
          url: path + search,
          headers: {
            ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
            ...(cookie === null ? {} : { cookie: `gslb_session=${encoded(cookie)}; ;=;a` }),
            ...(body === null ? {} : { 'content-type': type ?? 'application/json' }),
          },
          ...(body === null ? {} : { payload: body }),
        })
        const { statusCode, payload } = answer
        seen.set(statusCode, (seen.get(statusCode) ?? 0) + 1)
        expect(statuses, payload).toContain(statusCode)
        expect(payload).not.toMatch(/\bat .*\.ts:\d+|node_modules|Error: /)
        expect(payload.replaceAll(path, '')).not.toMatch(secretWords)
        if (statusCode >= 400 && answer.headers['content-type'] !== undefined && payload !== '') {
          expect(typeof (JSON.parse(payload) as { error?: unknown }).error).toBe('string')
        }
      },
    ),
    { numRuns: 5_000 },
  )
  // What never gets past the first check proves nothing.
  for (const status of [200, 201, 400, 401, 403, 404, 405, 415]) {
    expect(seen.get(status) ?? 0, `answers with ${status}`).toBeGreaterThan(0)
  }
}, 300_000)

/** Lone surrogates have no encoding. */
function encoded(plain: string): string {
  return encodeURIComponent(plain.toWellFormed())
}

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operationId } from '#api/reference/openapi.ts'
import { paramNames } from '#api/route/route.ts'
import type { Route } from '#api/route/route.ts'
import { routes } from '#api/routes.ts'
import { keyOf } from '#test/support/config-world.ts'
import {
  authorizations,
  damaged,
  forgedBearers,
  hostileHeaders,
  hostilePath,
  hostileTexts,
} from '#test/support/hostile-requests.ts'
import type { Header } from '#test/support/hostile-requests.ts'
import { laneCount } from '#test/support/lane.ts'
import { countFrom } from '#test/support/random.ts'
import { routeCases } from '#test/support/route-cases.ts'
import type { Params } from '#test/support/route-cases.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'

/** Requests; others of them: GSLB_SEED. */
const count = countFrom('GSLB_REQUEST_COUNT', laneCount(10_000, 1_000))

let whole: WholeWorld
let forged: ReadonlyMap<string, string>
/** By operation, an object of `acme` that the route is about; later requests may delete it. */
const own = new Map<string, Params>()
/** Words that stand in what belongs to the tenant `zenith` and nowhere else. */
const secretWords = /zenith|top-?secret/i

/** Traces of internal faults, which no answer may show. */
const traces = /\bat .*\.ts:\d+|node_modules|Error: /

beforeAll(async () => {
  whole = await startWholeWorld()
  const { world } = whole
  const zenith = keyOf('zenith')
  const pool = await world.call(zenith, 'POST', '/pools', { name: 'topsecret' })
  const service = { name: 'topsecret', domain: 'topsecret.example.com.', poolId: pool.body.id }
  await world.call(zenith, 'POST', '/services', service)
  forged = await forgedBearers(whole)
  for (const [operation, { make }] of Object.entries(routeCases)) {
    if (make !== undefined) own.set(operation, await make(world, 'acme'))
  }
})
afterAll(() => whole.stop())

const text = fc.oneof(fc.constantFrom(...hostileTexts), fc.string({ maxLength: 40 }))
const value: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(text, text, { maxKeys: 3 }),
)
/** 'forged': one of the many, by the number beside it. */
const actor = fc.constantFrom('nobody', 'forged', 'acme key', 'acme tenant_admin', 'acme viewer')
const row = fc.constantFrom(...routes)

/** As the route's case has it: what is to be unique is. */
const exampleOf = (route: Route): object => routeCases[operationId(route)]?.body?.() ?? {}

/** That, or with some fields changed, left out or added; or anything. */
function bodyOf(route: Route): fc.Arbitrary<string | Buffer> {
  const example = exampleOf(route)
  const whole = fc.constant(route).map((one) => JSON.stringify(exampleOf(one)))
  const mutated = fc
    .tuple(fc.dictionary(fc.constantFrom(...Object.keys(example), 'x'), value), fc.boolean())
    .map(([changes, isPartial]) => JSON.stringify(isPartial ? changes : { ...example, ...changes }))
  const deep = fc.integer({ min: 1, max: 20_000 }).map((depth) => '['.repeat(depth))
  const nested = fc.integer({ min: 1, max: 5_000 }).map((n) => '['.repeat(n) + ']'.repeat(n))
  return fc.oneof(
    { arbitrary: whole, weight: 4 },
    { arbitrary: mutated, weight: 8 },
    value.map((any) => JSON.stringify(any) ?? ''),
    text,
    deep,
    nested,
    { arbitrary: damaged(JSON.stringify(example)), weight: 2 },
  )
}

/** null in three of four requests. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ arbitrary: fc.constant(null), weight: 3 }, { arbitrary, weight: 1 })

interface Request {
  readonly route: Route
  /** Instead of the path of the route. */
  readonly path: string | null
  readonly actor: string
  readonly forgery: number
  /** Which form of the header; null: the right one. */
  readonly authorization: number | null
  readonly headers: readonly Header[] | null
  /** null: of an object that was there at first. */
  readonly params: readonly string[] | null
  readonly query: Record<string, string> | null
  readonly body: string | Buffer | null
  readonly cookie: string | null
  readonly type: string | null
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS' | 'HEAD' | null
}

const request: fc.Arbitrary<Request> = row.chain((route) =>
  fc.record({
    route: fc.constant(route),
    // Others only a socket takes: test/property/api-bytes.test.ts.
    path: rarely(hostilePath.filter((path) => URL.canParse(path, 'http://localhost'))),
    actor,
    forgery: fc.nat(100),
    authorization: rarely(fc.nat(authorizations.length - 1)),
    headers: rarely(hostileHeaders),
    params: fc.option(fc.array(text, { minLength: 2, maxLength: 2 }), { freq: 1 }),
    query: rarely(fc.dictionary(text, text, { maxKeys: 2 })),
    body: fc.option(bodyOf(route), { freq: 4 }),
    cookie: fc.option(text),
    type: rarely(fc.constantFrom('text/plain', 'application/json; charset=x', ';')),
    method: rarely(fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD')),
  }),
)

/** An allowed request for each route, with its example, so that no status hangs on luck. */
const examples = routes.map((route): [Request] => [
  {
    route,
    path: null,
    actor: 'acme tenant_admin',
    forgery: 0,
    authorization: null,
    headers: null,
    params: null,
    query: null,
    body: route.method === 'GET' ? null : JSON.stringify(exampleOf(route)),
    cookie: null,
    type: null,
    method: null,
  },
])

const statuses = [200, 201, 204, 302, 400, 401, 403, 404, 405, 409, 412, 413, 414, 415, 429, 503]

async function answerTo(given: Request) {
  const { route, query, body, cookie, type, method } = given
  const path = given.path ?? pathOf(given)
  const search = query === null ? '' : `?${new URLSearchParams(query).toString()}`
  const authorization = await authorizationOf(given)
  const answer = await whole.world.app.inject({
    method: method ?? route.method,
    url: given.path ?? path + search,
    headers: {
      ...Object.fromEntries(given.headers ?? []),
      ...(authorization === '' ? {} : { authorization }),
      ...(cookie === null ? {} : { cookie: `gslb_session=${encoded(cookie)}; ;=;a` }),
      ...(body === null ? {} : { 'content-type': type ?? 'application/json' }),
    },
    ...(body === null ? {} : { payload: body }),
  })
  return { path, answer }
}

function pathOf({ route, params }: Request): string {
  const objects = own.get(operationId(route))
  const words = paramNames(route.path).map((name, i) => [
    name,
    (params === null ? objects?.[name] : params[i]) ?? '',
  ])
  return words.reduce(
    (filled, [name, word]) => filled.replace(`{${name}}`, encoded(word!)),
    route.path,
  )
}

async function authorizationOf({ actor, forgery, authorization }: Request): Promise<string> {
  const bearers = [...forged.values()]
  const isForged = actor === 'forged'
  const bearer = isForged ? bearers[forgery % bearers.length]! : await whole.bearerOf(actor)
  if (authorization !== null) return authorizations[authorization]!(bearer)
  return bearer === '' ? '' : `Bearer ${bearer}`
}

const title = 'no request makes a 500, a stack trace, or shows another tenant'
test(title, { timeout: 240_000 + count * 100 }, async () => {
  const seen = new Map<number, number>()
  const property = fc.asyncProperty(request, async (given) => {
    const { path, answer } = await answerTo(given)
    const { statusCode, payload } = answer
    seen.set(statusCode, (seen.get(statusCode) ?? 0) + 1)
    expect(statuses, payload).toContain(statusCode)
    expect(payload).not.toMatch(traces)
    // Nobody is led elsewhere.
    expect(answer.headers.location ?? '/').toMatch(/^\/(?![/\\])/)
    const said = `${payload}${JSON.stringify(answer.headers)}`
    expect(said.replaceAll(path, '')).not.toMatch(secretWords)
    const isOpen = given.path !== null || given.route.needs === 'public'
    if (given.actor === 'forged' && !isOpen) expect(statusCode).toBeGreaterThanOrEqual(400)
    if (statusCode >= 400 && answer.headers['content-type'] !== undefined && payload !== '') {
      expect(typeof (JSON.parse(payload) as { error?: unknown }).error).toBe('string')
    }
  })
  await fc.assert(property, { numRuns: count, examples })
  // What never gets past the first check proves nothing.
  for (const status of [200, 201, 400, 401, 403, 404, 405, 415]) {
    expect(seen.get(status) ?? 0, `answers with ${status}`).toBeGreaterThan(0)
  }
})

/** Lone surrogates have no encoding. */
function encoded(plain: string): string {
  return encodeURIComponent(plain.toWellFormed())
}

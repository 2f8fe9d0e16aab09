import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApiOf, operationId } from '#api/reference/openapi.ts'
import type { Route } from '#api/route/route.ts'
import { routes } from '#api/routes.ts'
import type { Answered } from '#test/support/config-world.ts'
import { laneRows } from '#test/support/lane.ts'
import { routeCases } from '#test/support/route-cases.ts'
import type { Params } from '#test/support/route-cases.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'

let whole: WholeWorld
beforeAll(async () => {
  whole = await startWholeWorld()
})
afterAll(() => whole.stop())

const everythingOf = (names: string, ...verbs: string[]): string[] =>
  names.split(' ').flatMap((name) => verbs.map((verb) => `${name}:${verb}`))
const managed = 'pool member service hc geo'
/** Deleting the objects is a write as well. */
const written = 'rollout maintenance record tsig txt redirect alert domain'
const viewing = [
  ...everythingOf(`${managed} ${written}`, 'read'),
  'rrl:read',
  'dnssec:read',
  'role:read',
  'settings:read',
  'snapshot:read',
  'cluster:status',
  'bgp:status',
  'delivery:read',
  'usage:read_own',
  'license:read',
  'history:read',
]
const operating = [
  ...everythingOf(managed, 'read', 'write', 'delete'),
  ...everythingOf(written, 'write'),
  ...viewing,
  'user:read',
]
const administering = [
  ...operating,
  ...everythingOf('user', 'write', 'delete'),
  'role:write',
  'dnssec:write',
  'license:write',
  'history:write',
]

interface Actor {
  /** Permissions, as routes name them. */
  readonly may: readonly string[]
  readonly session: boolean
}
/** Permissions for the whole node: no role of a tenant has them. */
const governing = [
  ...everythingOf('rpz', 'read', 'write'),
  'rrl:write',
  'settings:write',
  'cluster:restart',
  'delivery:write',
]
const actors: Readonly<Record<string, Actor>> = {
  nobody: { may: [], session: false },
  junk: { may: [], session: false },
  'acme none': { may: ['any'], session: true },
  'acme viewer': { may: ['any', ...viewing], session: true },
  'acme operator': { may: ['any', ...operating], session: true },
  'acme key': { may: ['any', ...operating], session: false },
  'acme tenant_admin': { may: ['any', ...administering], session: true },
  'default tenant_admin': {
    may: ['any', 'system', ...administering, ...governing],
    session: true,
  },
  root: { may: ['any', 'system', ...administering, ...governing], session: false },
}

/** As `world.call` takes it, which puts `/api/v1` before it. */
function pathOf({ path }: Route, params: Params): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? '')
  return filled.startsWith('/api/v1') ? filled.slice('/api/v1'.length) : `/../..${filled}`
}

const noSuchId = '01976c1e-7e5c-7000-8000-00000000ffff'
const noSuchCommit = '0'.repeat(40)
const missing: Params = {
  ...{ name: 'none', digest: 'b'.repeat(64), from: 'c'.repeat(64) },
  ...{ channel: 'none', zone: 'none.example.' },
  commit: noSuchCommit,
  id: noSuchId,
  poolId: noSuchId,
  name: 'another',
  code: 'pool-unknown',
}

const document = openApiOf(routes) as unknown as {
  readonly paths: Record<
    string,
    Record<string, { responses: Record<string, { headers?: object } | undefined> }>
  >
}

function headersIn({ path, method }: Route, status: number): readonly string[] {
  const { responses } = document.paths[path]![method.toLowerCase()]!
  return Object.keys(responses[String(status)]?.headers ?? {}).map((name) => name.toLowerCase())
}

const cursorHeader = 'x-next-cursor'
/** Headers for which the document says of each answer whether it has them. */
const certain = ['etag', 'x-gslb-revision', 'set-cookie', 'location']
const documented = (row: Route, status: number): readonly string[] =>
  headersIn(row, status)
    .filter((name) => certain.includes(name))
    .toSorted()
const told = (headers: Answered['headers']): readonly string[] =>
  certain.filter((name) => name in headers).toSorted()

/** A route without a case is the first test's matter. */
const rows = routes.flatMap((row) => {
  const example = routeCases[operationId(row)]
  return example === undefined ? [] : [[`${row.method} ${row.path}`, row, example] as const]
})

test('every route has a case, and every case a route', () => {
  expect(Object.keys(routeCases).toSorted()).toEqual(routes.map(operationId).toSorted())
})

test('every route asks for the permission that its case says', () => {
  const named = rows.map(([name, row]) => [name, row.needs])
  const expected = rows.map(([name, , { needs }]) => [name, needs])
  expect(named).toEqual(expected)
})

describe.each(rows)('%s', (_name, row, { needs, ofPlatform, make, body, statuses }) => {
  const successes = statuses ?? Object.keys(row.responses).map(Number)
  let ofZenith: Params | undefined
  let own: Params | undefined
  const ask = (bearer: string, params: Params): Promise<Answered> =>
    whole.world.call(bearer, row.method, pathOf(row, params), body?.())

  const isPermitted = ({ may, session }: Actor): boolean =>
    (ofPlatform !== true || may.includes('system')) &&
    (needs === 'session' ? session : needs === 'public' || may.includes(needs))
  const all = Object.entries(actors)
  const acme = all.filter(([name]) => name.startsWith('acme'))
  // Nobody, the most that may not, and the least that may; of what is read, all, too.
  const bounds = [
    'nobody',
    ...(row.method === 'GET' ? ['root'] : []),
    acme.findLast(([, actor]) => !isPermitted(actor))?.[0],
    acme.find(([, actor]) => isPermitted(actor))?.[0] ?? 'default tenant_admin',
  ]
  const someActors = laneRows(all, ([name]) => bounds.includes(name))

  test.each(someActors)('by %s', async (actor, { may, session }) => {
    const isAllowed = isPermitted({ may, session })
    // Objects that are only read stay for the next case.
    const isRead = row.method === 'GET' && own !== undefined
    if (isAllowed && !isRead) own = await make?.(whole.world, 'acme')
    const given = isAllowed ? (own ?? missing) : missing
    const answer = await ask(await whole.bearerOf(actor), given)
    if (isAllowed) expect(successes, answer.text).toContain(answer.status)
    else expect(answer.status).toBe(may.length === 0 ? 401 : 403)
    expect(told(answer.headers)).toEqual(documented(row, answer.status))
    if (make === undefined || !isAllowed) return
    const absent = await ask(await whole.bearerOf(actor), missing)
    expect(absent.status).toBe(404)
    const mayOthers = may.includes('system')
    // An actor without rights on it cannot change it, so that the next one finds it as it is.
    if (mayOthers || ofZenith === undefined) ofZenith = await make(whole.world, 'zenith')
    const others = await ask(await whole.bearerOf(actor), ofZenith)
    if (mayOthers) expect(successes, others.text).toContain(others.status)
    // Not even the sentence tells that it exists.
    else expect([others.status, others.text]).toEqual([404, absent.text])
  })
})

test.each([
  ['getPools', 'getPoolsById'],
  ['getServices', 'getServicesById'],
  ['getRollouts', 'getRolloutsById'],
  ['getMaintenanceWindows', 'deleteMaintenanceWindowsById'],
  ['getDomains', 'deleteDomainsById'],
  ['getHistory', 'getPoolsById'],
])('%s has X-Next-Cursor, as the document says, while there is more', async (list, maker) => {
  const row = routes.find((one) => operationId(one) === list)!
  for (let i = 0; i < 2; i++) await routeCases[maker]?.make?.(whole.world, 'acme')
  const root = await whole.bearerOf('root')
  const answer = await whole.world.call(root, 'GET', `${pathOf(row, {})}?limit=1`)
  expect([answer.status, headersIn(row, 200).includes(cursorHeader)]).toEqual([200, true])
  expect(answer.headers).toHaveProperty(cursorHeader)
})

/** Others, such as a logout, take the session away that asks. */
const ofObjects = rows.filter(([, , { needs }]) => needs.includes(':'))

test.each(ofObjects)('%s reads If-Match and sends ETag as it says', async (...args) => {
  const [, row, { make, body }] = args
  const path = pathOf(row, (await make?.(whole.world, 'acme')) ?? missing)
  const bearer = await whole.bearerOf('default tenant_admin')
  const ask = (headers: Readonly<Record<string, string>>): Promise<Answered> =>
    whole.world.call(bearer, row.method, path, body?.(), headers)
  const odd = await ask({ 'if-match': 'nonsense' })
  const isRead = odd.status === 400 && odd.text.includes('If-Match: must be entity tags')
  expect(isRead, odd.text).toBe(row.ifMatch !== undefined)
  const answer = isRead ? await ask({}) : odd
  expect(told(answer.headers)).toEqual(documented(row, answer.status))
})

test('a method that a path does not take is refused with those that it takes', async () => {
  const root = await whole.bearerOf('root')
  const paths = [...Map.groupBy(routes, ({ path }) => path).values()]
  const refused = paths.map(async ([row, ...more]) => {
    const taken = [row!, ...more].map(({ method }) => method as string)
    const allow = taken.includes('GET') ? [...taken, 'HEAD'] : taken
    const others = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter((one) => !taken.includes(one))
    for (const method of others) {
      const answer = await whole.world.call(root, method, pathOf(row!, missing))
      const listed = String(answer.headers['allow']).split(', ')
      const place = `${method} ${row!.path}`
      expect([place, answer.status, listed.toSorted()]).toEqual([place, 405, allow.toSorted()])
    }
  })
  await Promise.all(refused)
})

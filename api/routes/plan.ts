// /api/v1/plan: which clients would get another answer after writes that are not made.
import { Type } from 'typebox'
import { fullName } from '#compiler/values/record-sets.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { refusalOf } from '#api/access/access.ts'
import { visibleTenant } from '#api/access/caller.ts'
import { createConfigTenants } from '#api/config/tenants.ts'
import { PlannedWrites } from '#api/config/planned-writes.ts'
import { seenWarnings } from '#api/config/writes.ts'
import { apiLimits } from '#api/http/limits.ts'
import { invalid, refused, success } from '#api/http/reply.ts'
import type { Reply } from '#api/http/reply.ts'
import { paramNames, route } from '#api/http/route.ts'
import type { Route, RouteContext } from '#api/http/route.ts'
import { createCheck } from '#api/http/validation.ts'
import type { PlanFault, PlanQuestion } from '#api/ports/planner.ts'
import { takesDryRun } from '#api/reference/answer-headers.ts'
import { NewPlan, Plan } from '../resources/plan.ts'

type Context = RouteContext<unknown, unknown, NewPlan>
type Planned = NewPlan['requests'][number]

const bodyBytesMax = 256 * 1024

/** @param table all routes, these among them; asked when the first request comes */
export function planRoutes(table: () => readonly Route[]): readonly Route[] {
  let writes: RouteTable | undefined
  const plan = route({
    method: 'POST',
    path: '/api/v1/plan',
    needs: 'any',
    tag: 'Explanations',
    summary: 'Which clients would get another answer after writes, of which none is made',
    details:
      'Each request is one that another route takes, with its permission, its checks and its ' +
      'refusals, and is tried on top of those before it. What would answer then is compared ' +
      'with what this node answers. Names, pools and regions of other tenants are not shown. A ' +
      'tenant has one plan at a time.',
    body: NewPlan,
    bodyBytesMax,
    responses: { 200: { description: 'The plan', schema: Plan } },
    refusals: [404, 409, 412, 429, 503],
    handle: async (context) => {
      const leave = context.ports.plansUnderWay.enter(context.caller.tenant)
      if (leave === undefined) return later(429, 'your tenant has a plan under way: wait for it')
      try {
        return await answer(context, (writes ??= new RouteTable(table())))
      } finally {
        leave()
      }
    },
  })
  return Object.freeze([plan])
}

async function answer(context: Context, table: RouteTable): Promise<Reply> {
  const { caller, ports, body } = context
  const { at = [], health = 'all-up', limit = 100 } = body
  const writes = new PlannedWrites(ports.configWriter, ports.config, ports.clock)
  const refusal = await tryAll(context, table, writes)
  if (refusal !== undefined) return refusal
  const question = { bundle: writes.bundle, at, limit, withHealth: health === 'now' }
  const done = await ports.planner.plan({ ...question, viewer: viewerOf(context, writes) })
  if (!done.ok) return replyOf(done.error)
  return success({ ...done.value, diagnostics: seenWarnings(writes.warnings, caller) })
}

/** @returns the refusal of the first that is refused */
async function tryAll(
  context: Context,
  table: RouteTable,
  writes: PlannedWrites,
): Promise<Reply | undefined> {
  const { requests } = context.body
  const ids: string[] = []
  for (const [i, planned] of requests.entries()) {
    const tried = await tryOne(context, table, writes, filled(planned, ids))
    if (!tried.ok) return named(tried.error, `requests.${i}`)
    ids.push(tried.value)
  }
  return undefined
}

/** @returns the id of what it would make or change; '': none. Errors: its refusal */
async function tryOne(
  context: Context,
  table: RouteTable,
  writes: PlannedWrites,
  planned: Planned,
): Promise<Result<string, Reply>> {
  const { caller, ports, request } = context
  const found = table.find(planned.method, planned.path)
  if (found === undefined) {
    const what = `${planned.method} ${planned.path.slice(0, pathShownMax)}`
    return err(
      refused(404, `${what} is no write of the configuration, or none that can be planned`),
    )
  }
  const { row, params } = found
  const refusal = refusalOf(row, caller) ?? table.faultOf(row, params, planned.body)
  if (refusal !== null) return err(refusal)
  const header = (name: string): string | undefined =>
    name === 'if-match' ? planned.ifMatch : request.header(name)
  const facts = { ...request, header }
  const { config } = writes
  const tenants = createConfigTenants(config, writes, ports.clock)
  const within = { ...ports, configWriter: writes, config, tenants }
  const early = (await row.precheck?.(facts, within)) ?? null
  if (early !== null) return err(early)
  const own = { params, query: {}, body: planned.body, request: facts }
  const reply = await row.handle({ ...context, ...own, isDryRun: true, ports: within })
  if (reply.status >= 300) return err(reply)
  return ok(((reply.body ?? {}) as { readonly id?: string }).id ?? '')
}

const pathShownMax = 200

/** `$0` is the id of what the first request would make. */
function filled(planned: Planned, ids: readonly string[]): Planned {
  const idOf = (text: string): string => {
    const [, position] = /^\$(\d{1,2})$/.exec(text) ?? []
    return position === undefined ? text : (ids[Number(position)] ?? text)
  }
  const path = planned.path.split('/').map(idOf).join('/')
  const { body } = planned
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { ...planned, path }
  const fields = Object.entries(body).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? idOf(value) : value,
  ])
  return { ...planned, path, body: Object.fromEntries(fields) as unknown }
}

function named(reply: Reply, place: string): Reply {
  const { error, ...more } = reply.body as { readonly error: string }
  return { ...reply, body: { error: `${place}: ${error}`, ...more } }
}

/** Whose names are shown, with those that it would have. */
function viewerOf({ caller, ports }: Context, writes: PlannedWrites): PlanQuestion['viewer'] {
  const tenant = visibleTenant(caller)
  if (tenant === null) return null
  const names = new Set<string>()
  for (const snapshot of [ports.config.snapshot(), writes.config.snapshot()]) {
    for (const file of snapshot.list('Records')) {
      if (file.tenant === tenant) for (const name of namesIn(file)) names.add(name)
    }
  }
  return { tenant, names }
}

function namesIn(file: ConfigEntry<'Records'>): readonly string[] {
  const { zone } = file.object.spec
  return partsIn('RecordSet', file).flatMap(({ name }) => fullName(zone, name) ?? [])
}

function replyOf(fault: PlanFault): Reply {
  switch (fault.code) {
    case 'invalid':
      return invalid(fault.field, fault.reason)
    case 'busy':
      return later(503, 'other plans are waiting: try again')
    case 'no-bundle':
      return later(503, 'this node answers nothing yet', apiLimits.retryAfter.readingSeconds)
    case 'too-slow':
    case 'failed':
      return later(503, 'the plan took too much time or memory and was ended: use `gslbd plan`')
  }
}

function later(status: number, sentence: string, seconds = 1): Reply {
  return { ...refused(status, sentence), headers: { 'retry-after': String(seconds) } }
}

interface Found {
  readonly row: Route
  readonly params: Readonly<Record<string, string>>
}

type Check = (value: unknown) => string[]
const anyId = Type.Object(
  {},
  { additionalProperties: Type.String({ minLength: 1, maxLength: 255 }) },
)

/** The routes that take dry runs, and what they take. */
class RouteTable {
  readonly #rows: readonly Route[]
  readonly #checks = new Map<Route, { readonly params: Check; readonly body: Check | null }>()

  constructor(rows: readonly Route[]) {
    this.#rows = rows.filter(takesDryRun)
  }

  find(method: string, path: string): Found | undefined {
    const segments = path.split('/')
    for (const row of this.#rows) {
      if (row.method !== method) continue
      const params = paramsOf(row, segments)
      if (params !== undefined) return { row, params }
    }
    return undefined
  }

  /** What its own route would refuse with 400 before it is handled; null: nothing. */
  faultOf(row: Route, params: Found['params'], body: unknown): Reply | null {
    let checks = this.#checks.get(row)
    if (checks === undefined) {
      checks = {
        params: createCheck(row.params ?? anyId, 'params'),
        body: row.body === undefined ? null : createCheck(row.body, 'body'),
      }
      this.#checks.set(row, checks)
    }
    if (checks.body === null && body !== undefined)
      return invalid('body', 'this request takes none')
    const faults = [...checks.params({ ...params }), ...(checks.body?.(body ?? null) ?? [])]
    return faults.length === 0 ? null : refused(400, faults.join('; '))
  }
}

function paramsOf({ path }: Route, segments: readonly string[]): Found['params'] | undefined {
  const wanted = path.split('/')
  if (wanted.length !== segments.length) return undefined
  const names = paramNames(path)
  const values: string[] = []
  for (const [i, part] of wanted.entries()) {
    const given = segments[i]!
    if (!part.startsWith('{')) {
      if (part !== given) return undefined
      continue
    }
    const value = decoded(given)
    if (value === undefined) return undefined
    values.push(value)
  }
  return Object.fromEntries(names.map((name, i) => [name, values[i]!]))
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

// Checks and tries requests that stand for those of other routes, each as its own route does.
import { unescapedPercent } from '#lib/text/percent.ts'
import { Type } from '#lib/schema/type.ts'
import { isFields } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { refusalOf } from '#access/admit/admit.ts'
import { invalid, refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { ApiPorts, PortName } from '#ports/ports.ts'
import { earlyRefusal, paramNames, portsFor } from '#api/route/route.ts'
import type { Route, RouteContext } from '#api/route/route.ts'
import { createCheck } from '#http/validation.ts'
import type { TrialWriter } from './trial-writer.ts'
import { createConfigTenants } from './tenants.ts'

interface PlannedRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly ifMatch?: string
}

/** Has the ports of each row that may be tried. */
type Context = RouteContext<
  PortName,
  unknown,
  unknown,
  { readonly requests: readonly PlannedRequest[] }
>

/**
 * @returns ids of the objects they would create or change, '' for none. Errors: the first refusal
 */
export async function tryRequests(
  context: Context,
  table: WriteRoutes,
  trial: TrialWriter,
): Promise<Result<readonly string[], Reply>> {
  const ids: string[] = []
  for (const [i, planned] of context.body.requests.entries()) {
    const whole = filled(planned, ids)
    const tried = whole.ok ? await tryOne(context, table, trial, whole.value) : whole
    if (!tried.ok) return err(named(tried.error, `requests.${i}`))
    ids.push(tried.value)
  }
  return ok(ids)
}

/** @returns id of the object it would create or change; '': none. Errors: its refusal */
async function tryOne(
  context: Context,
  table: WriteRoutes,
  trial: TrialWriter,
  planned: PlannedRequest,
): Promise<Result<string, Reply>> {
  const { caller, ports, request } = context
  const found = table.find(planned.method, planned.path)
  if (found === undefined) {
    const what = `${planned.method} ${planned.path.slice(0, pathShownMax)}`
    return err(refused(404, `${what} is no write of the configuration, or none that fits here`))
  }
  const { row, params } = found
  const refusal = refusalOf(row, caller) ?? table.faultOf(row, params, planned.body)
  if (refusal !== null) return err(refusal)
  const header = (name: string): string | undefined =>
    name === 'if-match' ? planned.ifMatch : request.header(name)
  const facts = { ...request, header }
  const { config } = trial
  const tenants = createConfigTenants(config, trial, ports.clock)
  const within: ApiPorts = { ...ports, configWriter: trial, config, tenants }
  const early = await earlyRefusal(row, facts, within)
  if (early !== null) return err(early)
  const own = { params, query: {}, body: planned.body, request: facts }
  const reply = await row.handle({
    ...context,
    ...own,
    isDryRun: true,
    ports: portsFor(row, within),
  })
  if (reply.status >= 300) return err(reply)
  return ok(((reply.body ?? {}) as { readonly id?: string }).id ?? '')
}

const pathShownMax = 200

/**
 * Fills in `$0`, in a path or a field that holds an id: the id of what the first request creates.
 */
function filled(planned: PlannedRequest, ids: readonly string[]): Result<PlannedRequest, Reply> {
  const faults: string[] = []
  const idOf = (text: string, place: string): string => {
    const [, position] = /^\$(\d{1,2})$/.exec(text) ?? []
    if (position === undefined) return text
    const id = ids[Number(position)] ?? ''
    if (id === '') faults.push(`${place}: ${danglingReason(Number(position), ids)}`)
    return id
  }
  const filledIn = (body: object): unknown =>
    Object.fromEntries(
      Object.entries(body).map(([name, value]: [string, unknown]) => [
        name,
        typeof value === 'string' && name.endsWith('Id') ? idOf(value, `body.${name}`) : value,
      ]),
    )
  const parts = planned.path.split('/')
  const path = parts.map((part) => idOf(part, 'path')).join('/')
  const { body } = planned
  const whole = isFields(body) ? { ...planned, path, body: filledIn(body) } : { ...planned, path }
  const [fault] = faults
  return fault === undefined ? ok(whole) : err(refused(400, fault))
}

/** @param ids of the earlier requests */
function danglingReason(position: number, ids: readonly string[]): string {
  const what = `"$${position}" stands for the id of what requests.${position} makes`
  if (position < ids.length) return `${what}, and it makes nothing that has one`
  if (ids.length === 0) return `${what}, and no request comes before this one`
  const known = ids.length === 1 ? 'requests.0 comes' : `requests.0 to ${ids.length - 1} come`
  return `${what}, and only ${known} before this one`
}

function named(reply: Reply, place: string): Reply {
  const { error, ...more } = reply.body as { readonly error: string }
  return { ...reply, body: { error: `${place}: ${error}`, ...more } }
}

interface Found {
  readonly row: Route
  readonly params: Readonly<Record<string, string>>
}

type Check = (value: unknown) => string[]
const noParams = Type.Object({})

/** Finds the routes that write the configuration, and the schemas of their requests. */
export class WriteRoutes {
  readonly #rows: readonly Route[]
  readonly #checks = new Map<Route, { readonly params: Check; readonly body: Check | null }>()

  constructor(rows: readonly Route[]) {
    this.#rows = rows
  }

  /** Ports of all these rows, and of their licence. */
  get ports(): readonly PortName[] {
    return [...new Set(['licence' as const, ...this.#rows.flatMap(({ ports = [] }) => ports)])]
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

  /** The fault for which its own route would answer 400; null: there is none. */
  faultOf(row: Route, params: Found['params'], body: unknown): Reply | null {
    let checks = this.#checks.get(row)
    if (checks === undefined) {
      checks = {
        params: createCheck(row.params ?? noParams, 'params'),
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
    const value = unescapedPercent(given)
    if (value === undefined) return undefined
    values.push(value)
  }
  return Object.fromEntries(names.map((name, i) => [name, values[i]!]))
}

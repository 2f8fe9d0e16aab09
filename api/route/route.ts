// Defines the type of a route: one row of the table in routes.ts, by which requests are checked and
// the OpenAPI document is written. A resource has one file in routes/, named after its first path
// segment.
import { Type } from '#lib/schema/type.ts'
import type { Static, TSchema } from '#lib/schema/type.ts'
import type { Caller } from '#access/caller.ts'
import type { Needs } from '#access/admit/admit.ts'
import type { LicensedFeature } from '#licence/gate.ts'
import type { ApiPorts, PortName, Ports } from '#ports/ports.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { RequestFacts } from '#http/request-facts.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface RouteResponse {
  readonly description: string
  /** null: no body. Fields that are not in the schema are not sent. */
  readonly schema: TSchema | null
  /** Default: JSON. A body of any other type is text or octets, sent as it is. */
  readonly contentType?: string
  /** The response has an `ETag`, for `ifMatch` of this or another route. */
  readonly isTagged?: true
  /**
   * The response names the commit in `X-Gslb-Revision`; a write of the configuration always does.
   */
  readonly hasRevision?: true
  /** The response has a `Set-Cookie` for every caller. */
  readonly setsCookie?: true
}

export interface Route {
  readonly method: Method
  /** Path in the form of OpenAPI: `/api/v1/pools/{id}`. */
  readonly path: string
  readonly needs: Needs
  /** Needs no accepted configuration; other routes get 503 until it was read. */
  readonly withoutConfig?: true
  /** The token of pulling nodes is accepted as well. */
  readonly withBundleToken?: true
  /**
   * A forge's webhook is accepted as well: it signs the body by GSLB_WEBHOOK_SECRET. The body is
   * octets, and is not parsed.
   */
  readonly withWebhook?: true
  /** GSLB_METRICS_TOKEN is accepted as well. */
  readonly withMetricsToken?: true
  /**
   * Concerns the whole installation: beside the permission, the caller has to be of the tenant
   * `default`, or a system administrator.
   */
  readonly ofPlatform?: true
  /**
   * For scripts in pages of any site: they may read the response, no origin is refused, a body of
   * any type is parsed as JSON, and calls are not in the audit log, since no operator makes them.
   */
  readonly forPages?: true
  /** For clients of others: a body of any type is parsed as JSON, and none is an empty object. */
  readonly takesAnyType?: true
  /** Called by nodes all the time, so calls are not in the audit log. */
  readonly fromNodes?: true
  /** Heading in the reference. */
  readonly tag: string
  /** Summary of one line, in the present tense, without a full stop. */
  readonly summary: string
  /** Sentences about further effects. */
  readonly details?: string
  /** Default: text of 1 to 255 characters for each `{name}` of the path, if there is one. */
  readonly params?: TSchema
  /** Left out: no query parameter is accepted. Texts are converted to numbers and booleans. */
  readonly query?: TSchema
  /** Left out: a body is refused. */
  readonly body?: TSchema
  /** Shown in the document in place of `body`, when the handler parses the body. */
  readonly shownBody?: TSchema
  /** Default: `apiLimits.bodyBytesMax`. */
  readonly bodyBytesMax?: number
  /** By status. */
  readonly responses: Readonly<Record<number, RouteResponse>>
  /** Statuses of refusals that do not follow from other columns; see `refusalsOf`. */
  readonly refusals?: readonly number[]
  /** By status, when a refusal has more than `error`. */
  readonly refusalBodies?: Readonly<Record<number, TSchema>>
  /** Has dry runs: it writes the configuration, though it has no entity tag. */
  readonly takesDryRun?: true
  /**
   * Noun for the object that `If-Match` is compared with, such as `the pool`; left out: the header
   * is ignored.
   */
  readonly ifMatch?: string
  /** Without this feature in the licence it is 403, before the body is read. */
  readonly licensed?: LicensedFeature
  /** Ports of its handler, which gets no others. Default: none. */
  readonly ports?: readonly PortName[]
  /**
   * Runs for every permitted caller, before the body is read.
   *
   * @returns a refusal, or null
   */
  readonly precheck?: (
    request: RequestFacts,
    ports: Ports<never>,
  ) => Reply | null | Promise<Reply | null>
  readonly handle: (context: RouteContext) => Reply | Promise<Reply>
}

export interface RouteContext<
  Name extends PortName = never,
  Params = unknown,
  Query = unknown,
  Body = unknown,
> {
  /** A public route has a caller, too: one without any permission. */
  readonly caller: Caller
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** Also in the response, as `X-Request-Id`, and in the trailer of a commit. */
  readonly requestId: string
  /** True: a write makes all checks, and changes nothing. */
  readonly isDryRun: boolean
  readonly request: RequestFacts
  readonly ports: Ports<Name>
}

/** Method and path, such as `GET /api/v1/pools/{id}`. */
type Line = `${Method} /${string}`

/** Parameters of a path: `{id}` becomes `id`. */
type ParamsOf<L extends string> = L extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : unknown

type FromLine = 'method' | 'path'
type Typed = 'query' | 'body' | 'ports' | 'precheck' | 'handle'

interface RouteSpec<
  L extends Line,
  Q extends TSchema,
  B extends TSchema,
  Name extends PortName,
> extends Omit<Route, FromLine | Typed | 'tag'> {
  readonly query?: Q
  readonly body?: B
  readonly ports?: readonly Name[]
  readonly precheck?: (
    request: RequestFacts,
    ports: Ports<NoInfer<Name>>,
  ) => ReturnType<NonNullable<Route['precheck']>>
  readonly handle: (
    context: RouteContext<NoInfer<Name>, ParamsOf<L>, Static<Q>, Static<B>>,
  ) => ReturnType<Route['handle']>
}

/**
 * Makes a row whose handler gets the types of its path and schemas, and the ports that it names.
 */
export function route<
  L extends Line,
  Q extends TSchema,
  B extends TSchema,
  Name extends PortName = never,
>(line: L, spec: RouteSpec<L, Q, B, Name> & Pick<Route, 'tag'>): Route {
  const [method, path = ''] = line.split(' ')
  const names = paramNames(path)
  const params = Type.Object(Object.fromEntries(names.map((name) => [name, textId])))
  const own = { method, path, ...(names.length === 0 ? {} : { params }), ...spec }
  return Object.freeze(own) as unknown as Route
}

const textId = Type.String({ minLength: 1, maxLength: 255 })

/** Makes the rows of a resource, which share these columns. */
export function routesOf(
  shared: Pick<Route, 'tag' | 'withoutConfig' | 'ofPlatform' | 'withBundleToken'>,
) {
  return <L extends Line, Q extends TSchema, B extends TSchema, Name extends PortName = never>(
    line: L,
    spec: RouteSpec<L, Q, B, Name>,
  ): Route => route(line, { ...shared, ...spec })
}

/** Selects the ports that a row names. */
export function portsFor({ ports: names = [] }: Route, all: ApiPorts): Ports<never> {
  return Object.freeze(Object.fromEntries(names.map((name) => [name, all[name]])))
}

/** What a permitted caller is told before the body is read; null: nothing stands in the way. */
export async function earlyRefusal(
  row: Route,
  request: RequestFacts,
  all: ApiPorts,
): Promise<Reply | null> {
  const lack = row.licensed === undefined ? undefined : all.licence.refusal(row.licensed)
  if (lack !== undefined) return refused(403, lack)
  return (await row.precheck?.(request, portsFor(row, all))) ?? null
}

/** Names in a path: `/pools/{id}/members/{member}` has `id` and `member`. */
export function paramNames(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

// The type of a route: one row of the table in routes.ts, from which requests are checked and the
// OpenAPI document is written. A resource has one file in routes/, named after its first path
// segment.
import { Type } from '#lib/schema/type.ts'
import type { Static, TSchema } from '#lib/schema/type.ts'
import type { Caller } from '#access/caller.ts'
import type { Needs } from '#access/admit/admit.ts'
import type { LicensedFeature } from '#licence/gate.ts'
import type { ApiPorts, PortName, Ports } from '#api/ports/ports.ts'
import type { Reply } from '#http/reply.ts'
import type { RequestFacts } from '#http/request-facts.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface RouteResponse {
  readonly description: string
  /** null: no body. What the schema does not name is not sent. */
  readonly schema: TSchema | null
  /** Default: JSON. A body of any other type is text or bytes, sent as it is. */
  readonly contentType?: string
  /** It has an `ETag`, which `ifMatch` of this or another route takes. */
  readonly isTagged?: true
  /** It names the commit in `X-Gslb-Revision`; a write of the configuration does in any case. */
  readonly hasRevision?: true
  /** It has a `Set-Cookie` for every caller. */
  readonly setsCookie?: true
}

export interface Route {
  readonly method: Method
  /** In the form of OpenAPI: `/api/v1/pools/{id}`. */
  readonly path: string
  readonly needs: Needs
  /**
   * It says nothing of the accepted configuration; without this a route is 503 until that was read.
   */
  readonly withoutConfig?: true
  /** The token of nodes that pull bundles opens it as well. */
  readonly withBundleToken?: true
  /**
   * A webhook of a forge opens it, too: its signature of the body, by GSLB_WEBHOOK_SECRET. The body
   * is bytes, and is not parsed.
   */
  readonly withWebhook?: true
  /** GSLB_METRICS_TOKEN opens it, too. */
  readonly withMetricsToken?: true
  /**
   * It is of the whole installation, and no business of its tenants: besides the permission the
   * caller is of the tenant `default`, or a system administrator.
   */
  readonly ofPlatform?: true
  /**
   * For scripts in pages of any site: they may read the answer, no origin is refused, a body of any
   * type is read as JSON, and no call is in the audit log, since it is no operator's.
   */
  readonly forPages?: true
  /** Nodes call it all the time: no call is in the audit log. */
  readonly fromNodes?: true
  /** Heading in the reference. */
  readonly tag: string
  /** One line, present tense, without a full stop. */
  readonly summary: string
  /** Sentences: what else it does, or does not. */
  readonly details?: string
  /** Default: text of 1 to 255 characters for each `{name}` of the path. None: it has no name. */
  readonly params?: TSchema
  /** None: no query parameter is accepted. Texts become numbers and booleans. */
  readonly query?: TSchema
  /** None: a body is refused. */
  readonly body?: TSchema
  /** In the document, in the place of `body`, where the handler is the one that reads it. */
  readonly shownBody?: TSchema
  /** Default: `apiLimits.bodyBytesMax`. */
  readonly bodyBytesMax?: number
  /** By status. */
  readonly responses: Readonly<Record<number, RouteResponse>>
  /** Statuses of refusals that do not follow from the other columns, as `refusalsOf` says. */
  readonly refusals?: readonly number[]
  /** By status, where a refusal may have more than `error`. */
  readonly refusalBodies?: Readonly<Record<number, TSchema>>
  /** It writes the configuration, though it has no entity tag: it has dry runs. */
  readonly takesDryRun?: true
  /** What `If-Match` is compared with, such as `the pool`; none: the header is not looked at. */
  readonly ifMatch?: string
  /** Without it in the licence every call is refused with 403; the handler sees to it. */
  readonly licensed?: LicensedFeature
  /** What its handler gets: these ports, and no others. Default: none. */
  readonly ports?: readonly PortName[]
  /** Runs for every caller who may call, before a body is read. @returns a refusal, or null */
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
  /** Also in the answer, as `X-Request-Id`, and in the trailer of a commit. */
  readonly requestId: string
  /** A write of the configuration makes all checks, and changes nothing. */
  readonly isDryRun: boolean
  readonly request: RequestFacts
  readonly ports: Ports<Name>
}

/** Method and path, such as `GET /api/v1/pools/{id}`. */
type Line = `${Method} /${string}`

/** The texts of a path: `{id}` is `id`. */
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

/** A row whose handler sees the types of its path and its schemas, and the ports that it names. */
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

/** For the rows of a resource, which have this in common. */
export function routesOf(
  shared: Pick<Route, 'tag' | 'withoutConfig' | 'ofPlatform' | 'withBundleToken'>,
) {
  return <L extends Line, Q extends TSchema, B extends TSchema, Name extends PortName = never>(
    line: L,
    spec: RouteSpec<L, Q, B, Name>,
  ): Route => route(line, { ...shared, ...spec })
}

/** The ports that a row names, for its handler. */
export function portsFor({ ports: names = [] }: Route, all: ApiPorts): Ports<never> {
  return Object.freeze(Object.fromEntries(names.map((name) => [name, all[name]])))
}

/** `/pools/{id}/members/{member}` has `id` and `member`. */
export function paramNames(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

// Makes the routes that each kind of object or part has: list, read by id, create, change, delete.
import { Type } from '#lib/schema/type.ts'
import type { Static, TSchema } from '#lib/schema/type.ts'
import type { ConfigEntry, ConfigPart } from '#config/entry.ts'
import { isPartKind } from '#config/parts.ts'
import type { PartKind } from '#config/parts.ts'
import type { Operation, PartTarget } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Kind } from '#schemas/kinds.ts'
import { conditional, preconditionOf } from '#api/route/if-match.ts'
import type { Precondition } from '#api/route/if-match.ts'
import type { Needs } from '#access/admit/admit.ts'
import type { Viewer } from '#access/caller.ts'
import { NamedPaging, pageByName } from '#http/paging.ts'
import { created, missing, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { PortName } from '#ports/ports.ts'
import { routesOf } from '#api/route/route.ts'
import type { Route, RouteContext } from '#api/route/route.ts'
import { findObject, findPart, listObjects, partIn, targetOf } from './reads.ts'
import { remove, tagged, write } from './writes.ts'
import type { Written } from './writes.ts'

type Context<Name extends PortName> = Pick<RouteContext<Name>, 'caller' | 'ports' | 'request'>

/** An object of a kind, or a part with the object that holds it. */
type Item<K extends Kind | PartKind> = K extends Kind
  ? ConfigEntry<K>
  : K extends PartKind
    ? ConfigPart<K>
    : never

interface Resource<K extends Kind | PartKind, Name extends PortName> extends Pick<
  Route,
  'tag' | 'ofPlatform'
> {
  readonly kind: K
  /** Path of the list, such as `/api/v1/pools`. */
  readonly path: `/api/v1/${string}`
  /** Word for one object, such as `pool`. */
  readonly noun: string
  /** Word in an error that there is none; default: the same. */
  readonly absent?: string
  readonly reads: Needs
  readonly writes: Needs
  /** It belongs to no tenant: every caller with the permission may see and change it. */
  readonly isCommon?: true
  /** Permission to delete; default: as `writes`. */
  readonly deletes?: Needs
  readonly schema: TSchema
  /** Ports for `show`, and for every write. */
  readonly ports?: readonly Name[]
  readonly show: (context: Pick<RouteContext<NoInfer<Name>>, 'ports'>, item: Item<K>) => object
}

interface Deletion<K extends Kind | PartKind, Name extends PortName> extends Pick<
  Route,
  'summary' | 'details'
> {
  /** Description of the response. */
  readonly description?: string
  /** Runs before the operation, in the same commit. */
  readonly first?: (context: Context<Name>, item: Item<K>) => readonly Operation[]
}

/** An operation, and what it acts on. */
export interface On<K> {
  readonly kind: K
  readonly target: PartTarget
}

interface Write<Body extends TSchema, More extends PortName> extends Pick<
  Route,
  'summary' | 'details' | 'licensed'
> {
  readonly body: Body
  /** Ports beside those of the resource. */
  readonly ports?: readonly More[]
}

type WriteContext<Name extends PortName, Body extends TSchema> = RouteContext<
  Name,
  unknown,
  unknown,
  Static<Body>
>

interface Creation<
  Name extends PortName,
  Body extends TSchema,
  More extends PortName,
> extends Write<Body, More> {
  /** The operation that creates the object, or a refusal. */
  readonly operation: (
    context: WriteContext<Name | NoInfer<More>, Body>,
  ) => Operation | Reply | Promise<Operation | Reply>
}

type Changes = readonly Operation[] | Reply

interface Change<
  K extends Kind | PartKind,
  Name extends PortName,
  Body extends TSchema,
  More extends PortName,
> extends Write<Body, More> {
  /** The operations of the change, of which the first has the precondition; or a refusal. */
  readonly operations: (
    context: WriteContext<'config' | Name | NoInfer<More>, Body>,
    item: Item<K>,
    on: On<K>,
  ) => Changes | Promise<Changes>
}

export function objectRoutes<K extends Kind | PartKind, Name extends PortName = never>(
  resource: Resource<K, Name>,
) {
  return {
    one: answerOf(resource),
    /** Makes rows that are like no other. */
    route: routeOf(resource),
    /** What a request changes; see `itemToChange`. */
    toChange: (context: Context<'config'>, id: string) => itemToChange(resource, context, id),
    ...readingRoutes(resource),
    ...writingRoutes(resource),
    /** Answers a write that created an object. */
    created: answerTo(resource, created),
    /** Answers a write that changed an object. */
    changed: answerTo(resource, success),
  }
}

const routeOf = ({ tag, ofPlatform }: Pick<Route, 'tag' | 'ofPlatform'>) =>
  routesOf(ofPlatform === undefined ? { tag } : { tag, ofPlatform })

function answerOf({ noun, schema }: { readonly noun: string; readonly schema: TSchema }) {
  return { description: `The ${noun}`, schema, isTagged: true } as const
}

function readingRoutes<K extends Kind | PartKind, Name extends PortName>(
  resource: Resource<K, Name>,
) {
  const { kind, path, tag, noun, absent = noun, reads: needs, schema, ports = [], show } = resource
  const route = routeOf(resource)
  return {
    list: (description = tag): Route =>
      route(`GET ${path}`, {
        needs,
        summary: `All ${tag.toLowerCase()}, by name`,
        query: NamedPaging,
        responses: { 200: { description, schema: Type.Array(schema) } },
        ports: ['config', ...ports],
        handle: (context) =>
          pageByName(listObjects(context, kind as Kind), context.query, (entry) =>
            show(context, entry as Item<K>),
          ),
      }),
    get: (): Route =>
      route(`GET ${path}/{id}`, {
        needs,
        summary: `One ${noun}`,
        responses: { 200: answerOf(resource) },
        ports: ['config', ...ports],
        handle: (context) => {
          const item = find(resource, context, context.params.id)
          if (item === undefined) return missing(absent)
          return success(show(context, item), { etag: tagged(stateOf(item)) })
        },
      }),
  }
}

function writingRoutes<K extends Kind | PartKind, Name extends PortName>(
  resource: Resource<K, Name>,
) {
  const { path, noun, absent = noun, writes, deletes = writes, ports = [] } = resource
  const route = routeOf(resource)
  const ifMatch = `the ${noun}`
  return {
    create: <Body extends TSchema, More extends PortName = never>({
      operation,
      ports: more = [],
      ...row
    }: Creation<Name, Body, More>): Route =>
      route(`POST ${path}`, {
        ...row,
        needs: writes,
        responses: { 201: answerOf(resource) },
        ports: ['configWriter', 'log', ...ports, ...more],
        handle: async (context) => {
          const asked = await operation(context)
          if ('status' in asked) return asked
          return answerTo(resource, created)(context, await write(context, asked))
        },
      }),
    change: <Body extends TSchema, More extends PortName = never>(
      method: 'PUT' | 'PATCH',
      { operations, ports: more = [], ...row }: Change<K, Name, Body, More>,
    ): Route =>
      route(`${method} ${path}/{id}`, {
        ...row,
        needs: writes,
        responses: { 200: answerOf(resource) },
        ifMatch,
        ports: ['config', 'configWriter', 'log', ...ports, ...more],
        handle: async (context) => {
          const item = find(resource, context, context.params.id)
          if (item === undefined) return missing(absent)
          const asked = await operations(context, item, onOf(resource, context, item))
          if ('status' in asked) return asked
          const condition = preconditionOf(context, stateOf(item))
          if (!condition.ok) return condition.error
          const done = await write(context, ...conditional(asked, condition.value))
          return answerTo(resource, success)(context, done)
        },
      }),
    remove: ({ description = 'It is gone', first, ...row }: Deletion<K, Name>): Route =>
      route(`DELETE ${path}/{id}`, {
        ...row,
        needs: deletes,
        responses: { 204: { description, schema: null } },
        ifMatch,
        ports: ['config', 'configWriter', 'log', ...(first === undefined ? [] : ports)],
        handle: async (context) => {
          const found = itemToChange(resource, context, context.params.id)
          if (!found.ok) return found.error
          const { item, on, condition } = found.value
          const before = first?.(context, item) ?? []
          const operation = { verb: 'delete', ...on, ...condition } as Operation
          return remove(context, ...before, operation)
        },
      }),
  }
}

/** Answers a write with the object written, as the resource shows it. */
function answerTo<K extends Kind | PartKind, Name extends PortName>(
  { kind, show }: Resource<K, Name>,
  reply: typeof created,
) {
  return (context: Pick<RouteContext<Name>, 'ports'>, done: Result<Written, Reply>): Reply => {
    if (!done.ok) return done.error
    const { entry, partId, headers } = done.value
    const item = isPartKind(kind) ? { owner: entry, part: partIn(kind, entry, partId) } : entry
    return reply(show(context, item as Item<K>), headers)
  }
}

type Found<K extends Kind | PartKind> = Pick<
  Resource<K, never>,
  'kind' | 'noun' | 'absent' | 'isCommon'
>

function find<K extends Kind | PartKind>(
  { kind, isCommon }: Found<K>,
  { caller, ports }: Context<'config'>,
  id: string,
): Item<K> | undefined {
  const context = { caller: isCommon === true ? everybody : caller, ports }
  const found = isPartKind(kind) ? findPart(context, kind, id) : findObject(context, kind, id)
  return found as Item<K> | undefined
}

/** Sees the objects of all tenants, and those of none. */
const everybody: Viewer = { tenant: '', isSystemAdmin: true }

/** The state that the entity tag stands for. */
function stateOf(item: ConfigEntry | ConfigPart): object {
  return 'part' in item ? item.part : item.object
}

function onOf<K extends Kind | PartKind>(
  { kind, isCommon }: Found<K>,
  { caller }: Context<never>,
  item: ConfigEntry | ConfigPart,
): On<K> {
  const uid = 'part' in item ? item.part.uid : item.uid
  return { kind, target: isCommon === true ? { uid } : targetOf(caller, uid) }
}

interface ItemToChange<K extends Kind | PartKind> {
  readonly item: Item<K>
  readonly on: On<K>
  readonly condition: Precondition
}

/** Finds the object or part to change. Errors: it does not exist, or If-Match is malformed. */
function itemToChange<K extends Kind | PartKind>(
  resource: Found<K>,
  context: Context<'config'>,
  id: string,
): Result<ItemToChange<K>, Reply> {
  const item = find(resource, context, id)
  if (item === undefined) return err(missing(resource.absent ?? resource.noun))
  const condition = preconditionOf(context, stateOf(item))
  if (!condition.ok) return condition
  return ok({ item, on: onOf(resource, context, item), condition: condition.value })
}

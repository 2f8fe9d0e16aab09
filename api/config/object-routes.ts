// The routes that objects of a kind have in common: their list, one by its id, its deletion.
import { Type } from 'typebox'
import type { TSchema } from 'typebox'
import type { ConfigEntry } from '#config/entry.ts'
import type { Operation, Target } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Kind } from '#schemas/kinds.ts'
import { preconditionOf } from '#api/route/if-match.ts'
import type { Precondition } from '#api/route/if-match.ts'
import type { Needs } from '#access/admit/admit.ts'
import { NamedPaging, pageByName } from '#http/paging.ts'
import { created, missing, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { PortName } from '#api/ports/ports.ts'
import { route } from '#api/route/route.ts'
import type { Route, RouteContext } from '#api/route/route.ts'
import { findObject, listObjects, targetOf } from './reads.ts'
import { remove, tagged } from './writes.ts'
import type { Written } from './writes.ts'

type Context<Name extends PortName> = Pick<RouteContext<Name>, 'caller' | 'ports' | 'request'>

interface ObjectResource<K extends Kind, Name extends PortName> {
  readonly kind: K
  /** `/api/v1/pools` */
  readonly path: `/api/v1/${string}`
  /** Heading in the reference, such as `Pools`. */
  readonly tag: string
  /** What one is called, such as `pool`; in short its last word. */
  readonly noun: string
  readonly reads: Needs
  readonly deletes: Needs
  readonly schema: TSchema
  /** For `show`, and for `first` of a deletion. */
  readonly ports?: readonly Name[]
  readonly show: (
    context: Pick<RouteContext<NoInfer<Name>>, 'ports'>,
    entry: ConfigEntry<K>,
  ) => object
}

interface Deletion<K extends Kind, Name extends PortName> extends Pick<
  Route,
  'summary' | 'details'
> {
  /** What the answer says. */
  readonly description?: string
  /** What is done before, in the same commit. */
  readonly first?: (context: Context<Name>, entry: ConfigEntry<K>) => readonly Operation[]
}

export function objectRoutes<K extends Kind, Name extends PortName = never>(
  resource: ObjectResource<K, Name>,
) {
  const { kind, path, tag, noun, reads, deletes, schema, ports = [], show } = resource
  const short = noun.split(' ').at(-1)
  const one = { description: `The ${short}`, schema, isTagged: true } as const
  return {
    one,
    list: (description = tag): Route =>
      route(`GET ${path}`, {
        needs: reads,
        tag,
        summary: `All ${tag.toLowerCase()}, by name`,
        query: NamedPaging,
        responses: { 200: { description, schema: Type.Array(schema) } },
        ports: ['config', ...ports],
        handle: (context) =>
          pageByName(listObjects(context, kind), context.query, (entry) => show(context, entry)),
      }),
    get: (): Route =>
      route(`GET ${path}/{id}`, {
        needs: reads,
        tag,
        summary: `One ${noun}`,
        responses: { 200: one },
        ports: ['config', ...ports],
        handle: (context) => {
          const entry = findObject(context, kind, context.params.id)
          if (entry === undefined) return missing(noun)
          return success(show(context, entry), { etag: tagged(entry.object) })
        },
      }),
    remove: ({ description = 'It is gone', first, ...words }: Deletion<K, Name>): Route =>
      route(`DELETE ${path}/{id}`, {
        needs: deletes,
        tag,
        ...words,
        responses: { 204: { description, schema: null } },
        ifMatch: `the ${short}`,
        ports: ['config', 'configWriter', 'log', ...ports],
        handle: async (context) => {
          const found = objectToChange(context, kind, context.params.id, noun)
          if (!found.ok) return found.error
          const { entry, on, condition } = found.value
          const before = first?.(context, entry) ?? []
          return remove(context, ...before, { verb: 'delete', ...on, ...condition })
        },
      }),
    /** The answer to a write that has made one. */
    created: (context: Pick<RouteContext<Name>, 'ports'>, done: Result<Written, Reply>): Reply =>
      done.ok ? created(...shown(resource, context, done.value)) : done.error,
    /** The answer to a write that has changed one. */
    changed: (context: Pick<RouteContext<Name>, 'ports'>, done: Result<Written, Reply>): Reply =>
      done.ok ? success(...shown(resource, context, done.value)) : done.error,
  }
}

function shown<K extends Kind, Name extends PortName>(
  { show }: ObjectResource<K, Name>,
  context: Pick<RouteContext<Name>, 'ports'>,
  { entry, headers }: Written,
): [body: object, headers: Written['headers']] {
  return [show(context, entry as ConfigEntry<K>), headers]
}

interface ObjectToChange<K extends Kind> {
  readonly entry: ConfigEntry<K>
  /** For the operation. */
  readonly on: { readonly kind: K; readonly target: Target }
  readonly condition: Precondition
}

/** The object that a change is about. Errors: there is none, or its If-Match is none. */
export function objectToChange<K extends Kind>(
  context: Context<'config'>,
  kind: K,
  id: string,
  noun: string,
): Result<ObjectToChange<K>, Reply> {
  const entry = findObject(context, kind, id)
  if (entry === undefined) return err(missing(noun))
  const condition = preconditionOf(context, entry.object)
  if (!condition.ok) return condition
  const on = { kind, target: targetOf(context.caller, entry.uid) }
  return ok({ entry, on, condition: condition.value })
}

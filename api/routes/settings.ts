// /api/v1/settings: the settings of this node's process, and those of the repository, gslb.yaml.
import { Type } from '#lib/schema/type.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import { SettingsSpec } from '#schemas/objects/settings.ts'
import { etagOf } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Operation } from '#config/operation.ts'
import { tagged, write } from '#api/config/writes.ts'
import { preconditionOf } from '#api/route/if-match.ts'
import { refused, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'
import { closed, nullable } from '#http/shapes.ts'
import { NodeSetting } from '#ports/node-settings.ts'

const route = routesOf({ tag: 'Settings', ofPlatform: true })

/** The compiler checks what a group holds: its messages name the field. */
const group = (type: 'object' | 'array', name: string) =>
  Type.Unsafe<JsonObject>({
    type,
    description: `As \`spec.${name}\` of gslb.yaml; defaults are filled in`,
    ...(type === 'object' ? { additionalProperties: true } : { items: {} }),
  })

const names = Object.keys(SettingsSpec.properties) as (keyof typeof SettingsSpec.properties)[]
const lists: ReadonlySet<string> = new Set(['zones', 'rateLimitExempt'])
const groups = Object.fromEntries(
  names.map((name) => [name, group(lists.has(name) ? 'array' : 'object', name)]),
)

const Repository = Type.Object(
  Object.fromEntries(names.map((name) => [name, Type.Optional(groups[name]!)])),
)

const ServerSettings = Type.Object(
  {
    node: Type.Array(NodeSetting, { description: 'Of the node that answers: gslbd.yaml' }),
    repository: Type.Unsafe<JsonObject | null>({
      ...nullable(Repository),
      description: 'Of all nodes, in Git: gslb.yaml; null: there is no such file',
    }),
  },
  { title: 'Settings' },
)

const get = route('GET /api/v1/settings', {
  needs: 'settings:read',
  summary: 'All settings: of this node with where each comes from, and of the repository',
  details:
    'Only for the tenant `default`. Secrets and passwords in addresses are `***`. Entity tag and ' +
    'PUT are about `repository`.',
  responses: {
    200: { description: 'The settings', schema: ServerSettings, isTagged: true, hasRevision: true },
  },
  ports: ['config', 'nodeSettings'],
  handle: (context) => {
    const entry = settingsIn(context)
    const { revision } = context.ports.config.snapshot()
    return success(shown(context, entry), {
      etag: tagged(entry?.object ?? {}),
      'x-gslb-revision': revision,
    })
  },
})

const replace = route('PUT /api/v1/settings', {
  needs: 'settings:write',
  summary: 'Replace groups of the settings of the repository, by a commit',
  details:
    'Each group of the body is replaced whole, null removes one, and one that is left out stays. ' +
    'Settings of a node are in its file alone, which this does not write. A repository without ' +
    'gslb.yaml gets one.',
  body: closed(
    Object.fromEntries(names.map((name) => [name, Type.Optional(nullable(groups[name]!))])),
  ),
  responses: { 200: { description: 'The settings', schema: ServerSettings, isTagged: true } },
  ifMatch: 'the settings of the repository',
  ports: ['config', 'configWriter', 'nodeSettings', 'log'],
  handle: async (context) => {
    const entry = settingsIn(context)
    const condition = preconditionOf(context, entry?.object ?? {})
    if (!condition.ok) return condition.error
    const { ifMatch } = condition.value
    const isOther = ifMatch !== undefined && ifMatch !== etagOf({})
    if (entry === undefined && isOther) return refused(412, noFile)
    const patch = context.body as JsonObject
    const done = await write(
      context,
      entry === undefined ? first(patch) : change(entry, patch, ifMatch),
    )
    if (!done.ok) return done.error
    return success(shown(context, done.value.entry as ConfigEntry<'Settings'>), done.value.headers)
  },
})

const noFile = 'the repository has no gslb.yaml yet'

/** The first settings of a repository, which create the file. */
function first(patch: JsonObject): Operation {
  const said = Object.entries(patch).filter(([, value]) => value !== null)
  const spec: JsonObject = Object.fromEntries<JsonValue>(said)
  return { verb: 'create', kind: 'Settings', tenant: '', name: 'settings', spec }
}

function change(
  { uid }: ConfigEntry<'Settings'>,
  patch: JsonObject,
  ifMatch: string | undefined,
): Operation {
  const condition = ifMatch === undefined ? {} : { ifMatch }
  return { verb: 'update', kind: 'Settings', target: { uid }, patch, ...condition }
}

type Context = Pick<RouteContext<'config' | 'nodeSettings'>, 'ports'>

function settingsIn({ ports }: Context): ConfigEntry<'Settings'> | undefined {
  return ports.config.snapshot().list('Settings')[0]
}

function shown({ ports }: Context, entry: ConfigEntry<'Settings'> | undefined) {
  return { node: ports.nodeSettings.list(), repository: entry?.object.spec ?? null }
}

export const settingsRoutes = Object.freeze([get, replace])

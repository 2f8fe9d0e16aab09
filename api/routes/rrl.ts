// /api/v1/rrl/allowlist: networks of clients that no node limits, stored in gslb.yaml.
import { Type } from '#lib/schema/type.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { ExemptNetwork } from '#schemas/objects/settings.ts'
import { partIn } from '#api/config/reads.ts'
import { remove, write } from '#api/config/writes.ts'
import { preconditionOf } from '#api/route/if-match.ts'
import { routesOf } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'
import { Paging, pageInOrder } from '#http/paging.ts'
import { created, missing, refused } from '#http/reply.ts'
import { body } from '#http/shapes.ts'
import { defaulted, plain } from '../resources/fields.ts'

const route = routesOf({ tag: 'Response rate limiting', ofPlatform: true })
const { cidr, comment } = ExemptNetwork.properties

const Shown = Type.Object(
  { id: Type.String(), cidr: Type.String(), comment: Type.String() },
  { title: 'RateLimitExemption' },
)

const NewExemption = body({
  cidr: plain(cidr, { examples: ['203.0.113.0/24'] }),
  comment: defaulted(comment, { default: '' }),
})

type Part = ReturnType<typeof partIn<'ExemptNetwork'>>
const shown = ({ uid, cidr: network, comment: why = '' }: Part) => ({
  ...{ id: uid, cidr: network, comment: why },
})

const settingsIn = ({ ports }: Pick<RouteContext<'config'>, 'ports'>) =>
  ports.config.snapshot().list('Settings')[0]

const list = route('GET /api/v1/rrl/allowlist', {
  needs: 'rrl:read',
  summary: 'Networks of clients that no node limits, in the order of gslb.yaml',
  details: 'A node may have more of its own, `dns.rrl.exempt` of its settings.',
  query: Paging,
  responses: { 200: { description: 'Networks', schema: Type.Array(Shown) } },
  ports: ['config'],
  handle: (context) => {
    const entry = settingsIn(context)
    const parts = entry === undefined ? [] : partsIn('ExemptNetwork', entry)
    return pageInOrder(parts, context.query, shown)
  },
})

const create = route('POST /api/v1/rrl/allowlist', {
  needs: 'rrl:write',
  summary: 'Add a network that no node limits, by a commit',
  details: 'A repository without gslb.yaml gets one. There is no change: delete, and add another.',
  body: NewExemption,
  responses: { 201: { description: 'The network', schema: Shown, isTagged: true } },
  refusals: [409],
  ports: ['config', 'configWriter', 'log'],
  handle: async (context) => {
    const entry = settingsIn(context)
    const { cidr: network, comment: why = '' } = context.body
    const parts = entry === undefined ? [] : partsIn('ExemptNetwork', entry)
    if (parts.some((part) => part.cidr === network)) {
      return refused(409, 'cidr: the list has it already')
    }
    const most = bundleLimits.rateLimitExemptMax
    const done = await write(context, {
      verb: 'create',
      kind: 'ExemptNetwork',
      owner: entry === undefined ? { tenant: '', name: 'settings' } : { uid: entry.uid },
      ownerSpec: {},
      spec: why === '' ? { cidr: network } : { cidr: network, comment: why },
      limit: { partsMax: most, message: `The list has ${most} networks already.` },
    })
    if (!done.ok) return done.error
    const { entry: owner, partId, headers } = done.value
    return created(
      shown(partIn('ExemptNetwork', owner as ConfigEntry<'Settings'>, partId)),
      headers,
    )
  },
})

const removeNetwork = route('DELETE /api/v1/rrl/allowlist/{id}', {
  needs: 'rrl:write',
  summary: 'Remove a network from the list: its clients are limited as all others',
  responses: { 204: { description: 'It is gone', schema: null } },
  ifMatch: 'the network',
  ports: ['config', 'configWriter', 'log'],
  handle: async (context) => {
    const found = context.ports.config.snapshot().part('ExemptNetwork', context.params.id)
    if (found === undefined) return missing('network')
    const condition = preconditionOf(context, found.part)
    if (!condition.ok) return condition.error
    const target = { uid: found.part.uid }
    return remove(context, { verb: 'delete', kind: 'ExemptNetwork', target, ...condition.value })
  },
})

export const rateLimitRoutes = Object.freeze([list, create, removeNetwork])

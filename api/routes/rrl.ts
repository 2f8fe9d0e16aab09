// /api/v1/rrl/allowlist: networks of clients that no node limits, stored in gslb.yaml.
import { Type } from '#lib/schema/type.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigPart } from '#config/entry.ts'
import { ExemptNetwork } from '#schemas/objects/settings.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import type { RouteContext } from '#api/route/route.ts'
import { Paging, pageInOrder } from '#http/paging.ts'
import { refused } from '#http/reply.ts'
import { closed } from '#http/shapes.ts'
import { defaulted, plain } from '../resources/fields.ts'

const { cidr, comment } = ExemptNetwork.properties

const Shown = Type.Object(
  { id: Type.String(), cidr: Type.String(), comment: Type.String() },
  { title: 'RateLimitExemption' },
)

const NewExemption = closed({
  cidr: plain(cidr, { examples: ['203.0.113.0/24'] }),
  comment: defaulted(comment, { default: '' }),
})

type Part = ConfigPart<'ExemptNetwork'>['part']
const shown = ({ uid, cidr: network, comment: why = '' }: Part) => ({
  ...{ id: uid, cidr: network, comment: why },
})

const networks = objectRoutes({
  kind: 'ExemptNetwork',
  path: '/api/v1/rrl/allowlist',
  tag: 'Response rate limiting',
  ofPlatform: true,
  noun: 'network',
  isCommon: true,
  reads: 'rrl:read',
  writes: 'rrl:write',
  schema: Shown,
  show: (_, { part }) => shown(part),
})

const settingsIn = ({ ports }: Pick<RouteContext<'config'>, 'ports'>) =>
  ports.config.snapshot().list('Settings')[0]

const list = networks.route('GET /api/v1/rrl/allowlist', {
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

const create = networks.create({
  summary: 'Add a network that no node limits, by a commit',
  details: 'A repository without gslb.yaml gets one. There is no change: delete, and add another.',
  body: NewExemption,
  ports: ['config'],
  operation: (context) => {
    const entry = settingsIn(context)
    const { cidr: network, comment: why = '' } = context.body
    const parts = entry === undefined ? [] : partsIn('ExemptNetwork', entry)
    if (parts.some((part) => part.cidr === network)) {
      return refused(409, 'cidr: the list has it already')
    }
    const most = bundleLimits.rateLimitExemptMax
    return {
      verb: 'create',
      kind: 'ExemptNetwork',
      owner: entry === undefined ? { tenant: '', name: 'settings' } : { uid: entry.uid },
      ownerSpec: {},
      spec: why === '' ? { cidr: network } : { cidr: network, comment: why },
      limit: { partsMax: most, message: `The list has ${most} networks already.` },
    }
  },
})

const removeNetwork = networks.remove({
  summary: 'Remove a network from the list: its clients are limited as all others',
})

export const rateLimitRoutes = Object.freeze([list, create, removeNetwork])

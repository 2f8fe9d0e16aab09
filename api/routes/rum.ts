// /api/v1/rum.js and /api/v1/rum/…: the RUM beacon, its measurements and their statistics.
import { Type } from '#lib/schema/type.ts'
import { findPart } from '#api/config/reads.ts'
import { apiLimits } from '#http/limits.ts'
import { invalid, later, success } from '#http/reply.ts'
import { canonical } from '../resources/member.ts'
import { routesOf } from '#api/route/route.ts'
import { rumScript } from '#api/resources/rum-script.ts'
import { closed } from '#http/shapes.ts'

const route = routesOf({ tag: 'Real-user measurement' })
const { bodyBytesMax, samplesMax, scriptCacheSeconds } = apiLimits.rum

/** Long enough for labels of 63 octets with dots and escapes. */
const Domain = Type.String({ minLength: 1, maxLength: 1_024 })

const script = route('GET /api/v1/rum.js', {
  needs: 'public',
  withoutConfig: true,
  forPages: true,
  summary: 'The beacon: a script for pages, which says by data-domain what to measure',
  responses: {
    200: {
      description: 'The script',
      schema: Type.String(),
      contentType: 'text/javascript; charset=utf-8',
    },
  },
  handle: () =>
    success(rumScript, {
      'cache-control': `public, max-age=${scriptCacheSeconds}`,
      'cross-origin-resource-policy': 'cross-origin',
    }),
})

const config = route('GET /api/v1/rum/config', {
  needs: 'public',
  withoutConfig: true,
  forPages: true,
  summary: 'What a browser may measure for a domain; of many members some, others each time',
  query: closed({ domain: Domain }),
  responses: {
    200: {
      description: 'Members of the pool that have a rumUrl; none for a domain that has no service',
      schema: Type.Object({
        domain: Type.String(),
        targets: Type.Array(Type.Object({ ip: Type.String(), rumUrl: Type.String() })),
      }),
    },
  },
  ports: ['rum'],
  handle: ({ ports, query: { domain } }) =>
    success({ domain, targets: ports.rum.targets(domain, samplesMax) }),
})

const Sample = closed({
  ip: Type.String({ minLength: 1, maxLength: 45, description: 'Address of the member' }),
  latencyMs: Type.Number({ description: 'Above 0, at most 60000; otherwise it is rejected' }),
})

const ingest = route('POST /api/v1/rum/ingest', {
  needs: 'public',
  withoutConfig: true,
  forPages: true,
  bodyBytesMax,
  summary: 'What a browser has measured; its network is that of the address it comes from',
  body: closed({
    domain: Domain,
    samples: Type.Array(Sample, { minItems: 1, maxItems: samplesMax }),
  }),
  responses: {
    200: {
      description:
        'How many samples count. Rejected: no member of the pool of that domain that has a ' +
        'rumUrl, or a latency that cannot be',
      schema: Type.Object({ accepted: Type.Integer(), rejected: Type.Integer() }),
    },
  },
  refusals: [429],
  ports: ['rum', 'rumSources'],
  precheck: ({ address }, { rumSources }) => {
    const waitMs = rumSources.take(address)
    if (waitMs === 0) return null
    return later(429, 'too many measurements from this address; wait a moment', waitMs / 1_000)
  },
  handle: ({ ports, request, body: { domain, samples } }) => {
    const accepted = ports.rum.ingest(domain, request.address, samples)
    if (accepted === null) {
      return invalid('X-Forwarded-For', 'must end in the address of the client, without a port')
    }
    return success({ accepted, rejected: samples.length - accepted })
  },
})

const status = route('GET /api/v1/rum/status', {
  needs: 'pool:read',
  summary: 'How much of what this node was told is fresh, about the members of the tenant',
  responses: {
    200: {
      description: 'Counts',
      schema: Type.Object({
        subnets: Type.Integer({ description: 'That have measured any of the members' }),
        measurements: Type.Integer({ description: 'One for each subnet and member' }),
        members: Type.Array(
          Type.Object({
            memberId: Type.String(),
            poolId: Type.String(),
            ipAddress: Type.String(),
            subnets: Type.Integer(),
          }),
        ),
      }),
    },
  },
  ports: ['config', 'rum'],
  handle: (context) => {
    const find = (id: string) => findPart(context, 'Member', id)
    const { rum } = context.ports
    const { subnets, measurements, subnetsByMember } = rum.coverage((id) => find(id) !== undefined)
    const members = [...subnetsByMember].flatMap(([memberId, count]) => {
      const found = find(memberId)
      if (found === undefined) return []
      const ipAddress = canonical(found.part.ipAddress)
      return [{ memberId, poolId: found.owner.uid, ipAddress, subnets: count }]
    })
    const byId = (a: { memberId: string }, b: { memberId: string }) =>
      a.memberId < b.memberId ? -1 : 1
    return success({ subnets, measurements, members: members.toSorted(byId) })
  },
})

const networks = route('GET /api/v1/rum/networks', {
  needs: 'pool:read',
  summary: 'From which networks browsers report to this node, about the members of the tenant',
  details:
    'As gslbd plan --traffic reads it. A report counts 1 when it comes, half ten minutes later, ' +
    'and so on; a network that nobody has measured from for half an hour is left out.',
  responses: {
    200: {
      description: 'Counts',
      schema: Type.Object({
        sampled: Type.Integer({ description: 'The sum of the counts, rounded' }),
        networks: Type.Record(Type.String(), Type.Number(), {
          description: 'By network: a /24 of IPv4, a /48 of IPv6; at most 50,000',
        }),
      }),
    },
  },
  ports: ['config', 'rum'],
  handle: (context) => {
    const reports = context.ports.rum.reports((id) => findPart(context, 'Member', id) !== undefined)
    const sum = reports.values().reduce((all, count) => all + count, 0)
    // At least 1, so that a small count is not shown as none.
    const rounded = (count: number): number => Math.max(1, Math.round(count * 1_000)) / 1_000
    const counts = Array.from(reports, ([network, count]) => [network, rounded(count)] as const)
    return success({ sampled: Math.round(sum), networks: Object.fromEntries(counts) })
  },
})

export const rumRoutes = Object.freeze([script, config, ingest, status, networks])

// GET /api/v1/client-regions: countries of the queries of the last hour.
import { Type } from '#lib/schema/type.ts'
import { refused, success } from '#http/reply.ts'
import { route } from '#api/route/route.ts'

const Regions = Type.Object(
  {
    hasDatabase: Type.Boolean({
      description: 'Whether a database of countries is loaded: without one nothing is counted',
    }),
    seconds: Type.Integer({ description: 'How long was counted: an hour at most' }),
    sampled: Type.Integer({ description: 'Queries that were looked at' }),
    countries: Type.Array(
      Type.Object({
        country: Type.String({ description: 'Two letters; empty: the database does not know' }),
        queries: Type.Integer({ description: 'About as many: computed from those looked at' }),
      }),
      { description: 'The most first' },
    ),
  },
  { title: 'ClientRegions' },
)

export const getClientRegions = route('GET /api/v1/client-regions', {
  needs: 'cluster:status',
  withoutConfig: true,
  tag: 'Node',
  summary: 'Where the queries of the last hour came from, by country',
  details:
    'Of a sample of the queries over UDP to this node, by the client subnet that a resolver ' +
    'names, or the address of who asks. No address is kept. 404: geoip.countClients is off, or ' +
    'the node answers no DNS.',
  responses: { 200: { description: 'Countries', schema: Regions } },
  refusals: [404],
  ports: ['node'],
  handle: ({ ports }) => {
    const regions = ports.node.clientRegions()
    return regions === null ? refused(404, countsNobody) : success(regions)
  },
})

const countsNobody =
  'this node does not count where clients are: geoip.countClients is off, or it answers no DNS'

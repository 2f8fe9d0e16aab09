// GET /api/v1/client-regions: countries of the queries of the last hour.
import { refused, success } from '#http/reply.ts'
import { route } from '#api/route/route.ts'
import { ClientRegions } from '#ports/node-facts.ts'

export const getClientRegions = route('GET /api/v1/client-regions', {
  needs: 'cluster:status',
  withoutConfig: true,
  tag: 'Node',
  summary: 'Where the queries of the last hour came from, by country',
  details:
    'Of a sample of the queries over UDP to this node, by the client subnet that a resolver ' +
    'names, or the address of who asks. No address is kept. 404: geoip.countClients is off, or ' +
    'the node answers no DNS.',
  responses: { 200: { description: 'Countries', schema: ClientRegions } },
  refusals: [404],
  ports: ['node'],
  handle: ({ ports }) => {
    const regions = ports.node.clientRegions()
    return regions === null ? refused(404, countsNobody) : success(regions)
  },
})

const countsNobody =
  'this node does not count where clients are: geoip.countClients is off, or it answers no DNS'

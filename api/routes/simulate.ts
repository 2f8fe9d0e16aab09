// /api/v1/simulate and /api/v1/explain/{code}: why a query is answered as it is, and what a code
// means.
import { Type } from '#lib/schema/type.ts'
import { visibleTenant } from '#access/caller.ts'
import { later, missing, refused, success } from '#http/reply.ts'
import { notFoundOut } from '../resources/answers/faults.ts'
import { Explanation } from '#ports/simulator.ts'
import { Question, Simulation } from '../resources/answers/simulation.ts'
import { routesOf } from '#api/route/route.ts'

const route = routesOf({ tag: 'Explanations' })

const simulate = route('POST /api/v1/simulate', {
  needs: 'service:read',
  summary: 'What this node would answer to a query, and which step led to it',
  details:
    'It is the answer path that is asked, with a copy of the health, weights and turns of this ' +
    'node: nothing changes. Other names than those of the tenant do not exist.',
  body: Question,
  responses: { 200: { description: 'The answer, and the way to it', schema: Simulation } },
  refusals: [404, 429],
  ports: ['simulator', 'simulationSources'],
  handle: async ({ caller, body, ports, request }) => {
    const waitMs = ports.simulationSources.take(request.address)
    if (waitMs > 0) return later(429, 'too many simulations: wait', waitMs / 1_000)
    const { type = 'A', seed = 1, ...others } = body
    const done = await ports.simulator.simulate({ type, seed, ...others }, visibleTenant(caller))
    return done.ok ? success(done.value) : notFoundOut(done.error, words)
  },
})

const words = {
  others: 'simulations',
  tooSlow: 'the simulation took too long and was ended',
} as const

const clientOf = route('GET /api/v1/simulate/clients/{country}', {
  needs: 'service:read',
  summary: 'A network of clients in a country, to simulate one of them',
  details: 'The largest of the geo database of this node, which 404 says where it has none.',
  params: Type.Object({
    country: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Two letters (ISO 3166-1)',
      examples: ['DE'],
    }),
  }),
  responses: {
    200: {
      description: 'The network',
      schema: Type.Object(
        { country: Type.String(), subnet: Type.String({ examples: ['192.0.2.0/24'] }) },
        { title: 'ClientNetwork' },
      ),
    },
  },
  ports: ['simulator'],
  handle: ({ params: { country }, ports }) => {
    const subnet = ports.simulator.clientOf(country)
    if (subnet.ok) return success({ country, subnet: subnet.value })
    const isKnown = subnet.error === 'none'
    return refused(404, isKnown ? `the geo database has no clients of ${country}` : noDatabase)
  },
})

const noDatabase =
  'this node has no geo database that says where clients are: geoip.dbPath of its settings'

const explain = route('GET /api/v1/explain/{code}', {
  needs: 'any',
  withoutConfig: true,
  summary: 'What a code of a diagnostic, or of a commit that is not taken, means',
  params: Type.Object({ code: Type.String({ minLength: 1, maxLength: 64 }) }),
  responses: { 200: { description: 'Cause, help and examples', schema: Explanation } },
  ports: ['simulator'],
  handle: ({ params, ports }) => {
    const found = ports.simulator.explain(params.code)
    return found === undefined ? missing('code') : success(found)
  },
})

export const simulateRoutes = Object.freeze([simulate, clientOf, explain])

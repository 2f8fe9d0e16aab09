// /api/v1/why: what a query was answered at a past instant, and why.
import { visibleTenant } from '#access/caller.ts'
import { later, success } from '#http/reply.ts'
import { route } from '#api/route/route.ts'
import { notFoundOut } from '../resources/answers/faults.ts'
import { PastAnswer, PastQuestion } from '../resources/answers/past.ts'

const why = route('POST /api/v1/why', {
  needs: 'service:read',
  tag: 'Explanations',
  summary: 'What a node answered to a query at an instant of the past, and why',
  details:
    'From the journal of the node: of this one, or of `node`, where its journal is in the ' +
    'database. A name that is not known is 400, and says which are, and for which time. ' +
    'Where dice or turns chose, `shares` has what may have come. ' +
    'Names that were another tenant’s then do not exist. Who made the commit is told to system ' +
    'administrators.',
  body: PastQuestion,
  responses: { 200: { description: 'The answer of then', schema: PastAnswer } },
  refusals: [404, 429],
  ports: ['past', 'simulationSources'],
  handle: async ({ caller, body, ports, request }) => {
    const waitMs = ports.simulationSources.take(request.address)
    if (waitMs > 0) return later(429, 'too many explanations: wait', waitMs / 1_000)
    const { type = 'A', ...others } = body
    const done = await ports.past.why({ type, ...others }, visibleTenant(caller))
    return done.ok ? success(done.value) : notFoundOut(done.error, words)
  },
})

const words = {
  others: 'explanations',
  tooSlow: 'the explanation took too long and was ended',
} as const

export const whyRoutes = Object.freeze([why])

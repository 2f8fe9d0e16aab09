// /api/v1/pools/{id}/health-history: health of the members, as answered by, over hours and days.
import { visibleTenant } from '#access/caller.ts'
import { findObject } from '#api/config/reads.ts'
import { later, missing, success } from '#http/reply.ts'
import { route } from '#api/route/route.ts'
import { notFoundOut } from '../resources/answers/faults.ts'
import { partsIn } from '#config/entry.ts'
import {
  HealthHistory,
  HealthHistoryQuery,
  historyLimits,
  showHistory,
} from '../resources/answers/health-history.ts'

const history = route('GET /api/v1/pools/{id}/health-history', {
  needs: 'pool:read',
  tag: 'Pools',
  summary: 'The members of a pool over time: up, not probed, down or kept out, as nodes answered',
  details:
    'From the journal of this node and, for system administrators, those in its database ' +
    '(eight nodes at most). Journals are kept as long as journal.maxAge and ' +
    'journal.maxMegabytes say. What no journal has is `unknown`, with a reason.',
  query: HealthHistoryQuery,
  responses: { 200: { description: 'Stretches of each member', schema: HealthHistory } },
  refusals: [429],
  ports: ['config', 'past', 'simulationSources'],
  handle: async (context) => {
    const { ports, params, query, request } = context
    const pool = findObject(context, 'Pool', params.id)
    if (pool === undefined) return missing('pool')
    const { hours = 24, member, node } = query
    const all = partsIn('Member', pool).map(({ uid }) => uid)
    const members = member === undefined ? all : all.filter((uid) => uid === member)
    if (member !== undefined && members.length === 0) return missing('member')
    const waitMs = ports.simulationSources.take(request.address)
    if (waitMs > 0) return later(429, 'too many looks back: wait', waitMs / 1_000)
    const found = await ports.past.health({
      tenant: pool.tenant,
      members: members.slice(0, historyLimits.membersMax),
      rangeMs: hours * 3_600_000,
      ofAll: visibleTenant(context.caller) === null,
      ...(node === undefined ? {} : { node }),
    })
    return found.ok ? success(showHistory(found.value)) : notFoundOut(found.error, words)
  },
})

const words = {
  others: 'explanations',
  tooSlow: 'the look back took too long and was ended',
} as const

export const healthHistoryRoutes = Object.freeze([history])

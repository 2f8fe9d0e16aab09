// GET /api/v1/health/members: the health of all members, in the form for `gslbd plan --health`.
import { Type } from '#lib/schema/type.ts'
import { partsIn } from '#config/entry.ts'
import { listObjects } from '#api/config/reads.ts'
import { success } from '#http/reply.ts'
import { route } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'
import type { KnownHealth } from '#ports/member-health.ts'
import { targetOf } from '#compiler/values/member-target.ts'
import { healthOf } from '../resources/health-status.ts'

const MemberHealth = Type.Object({
  healthy: Type.Boolean({ description: 'May be answered: healthy, and warmed up' }),
  score: Type.Number(),
  rttMs: Type.Number({ description: 'The least of all nodes; 0: not measured often enough' }),
})

const MembersHealth = Type.Record(Type.String(), MemberHealth, {
  title: 'MembersHealth',
  description: 'By `TENANT/POOL/ADDRESS`; of two members with one address, the first',
})

export const getMembersHealth = route('GET /api/v1/health/members', {
  needs: 'pool:read',
  tag: 'Health',
  summary: 'The health by which this node answers, of all members that are not simply well',
  details:
    'Left out is who is healthy, of full score and without a round trip time. `gslbd plan ' +
    '--health` and `gslbd simulate --health` read the same from a file.',
  responses: { 200: { description: 'Members by name', schema: MembersHealth } },
  ports: ['config', 'memberHealth'],
  handle: (context) => success(Object.fromEntries(notableHealth(context))),
})

function notableHealth(
  context: RouteContext<'config' | 'memberHealth'>,
): ReadonlyMap<string, ReturnType<typeof shown>> {
  const notable = new Map<string, ReturnType<typeof shown>>()
  const seen = new Set<string>()
  for (const pool of listObjects(context, 'Pool')) {
    for (const member of partsIn('Member', pool)) {
      const key = `${pool.tenant}/${pool.name}/${targetOf(member)}`
      if (seen.has(key)) continue
      seen.add(key)
      const one = shown(healthOf(context.ports.memberHealth, member, pool.tenant))
      if (!one.healthy || one.score !== 1 || one.rttMs !== 0) notable.set(key, one)
    }
  }
  return notable
}

function shown({ healthy, isWarming, score, rttMs, globalRttMs }: KnownHealth) {
  return { healthy: healthy && !isWarming, score, rttMs: globalRttMs ?? rttMs }
}

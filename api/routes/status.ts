// /api/v1/pools/{id}/status and /api/v1/members/{id}/status: the health of members in the view of
// each node.
import { Type } from '#lib/schema/type.ts'
import { partsIn } from '#config/entry.ts'
import { effectiveNow } from '#api/config/effective.ts'
import { findObject, findPart } from '#api/config/reads.ts'
import { missing, success } from '#http/reply.ts'
import { HealthStatus, byAddress, healthOf, showHealth } from '../resources/health-status.ts'
import { routesOf } from '#api/route/route.ts'

const route = routesOf({ tag: 'Health status' })

const pool = route('GET /api/v1/pools/{id}/status', {
  needs: 'pool:read',
  summary: 'The health of the members of a pool, by address',
  responses: {
    200: {
      description: 'Of two members with one address, the first',
      schema: Type.Object({
        poolId: Type.String(),
        members: Type.Record(Type.String(), HealthStatus),
      }),
    },
  },
  ports: ['config', 'memberHealth', 'overlays', 'clock'],
  handle: (context) => {
    const found = findObject(context, 'Pool', context.params.id)
    if (found === undefined) return missing('pool')
    const { memberHealth } = context.ports
    const now = effectiveNow(context.ports)
    const members = byAddress(partsIn('Member', found), (member) =>
      showHealth(healthOf(memberHealth, member, found.tenant), member, now.of(found.uid, member)),
    )
    return success({ poolId: found.uid, members })
  },
})

const member = route('GET /api/v1/members/{id}/status', {
  needs: 'member:read',
  summary: 'The health of one member',
  responses: { 200: { description: 'The health', schema: HealthStatus } },
  ports: ['config', 'memberHealth', 'overlays', 'clock'],
  handle: (context) => {
    const found = findPart(context, 'Member', context.params.id)
    if (found === undefined) return missing('member')
    const { owner, part } = found
    const known = healthOf(context.ports.memberHealth, part, owner.tenant)
    return success(showHealth(known, part, effectiveNow(context.ports).of(owner.uid, part)))
  },
})

export const statusRoutes = Object.freeze([pool, member])

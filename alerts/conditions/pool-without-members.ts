// Condition: a pool of a service has no member that may answer.
import type { Condition } from '#alerts/condition.ts'

export const poolWithoutMembers: Condition = {
  name: 'pool-without-members',
  severity: 'critical',
  audience: 'tenant',
  isOfNode: false,
  holdMs: 0,
  clearMs: 15_000,
  says: 'No member of a pool that a service uses may answer: unhealthy, disabled, or none there',
  find: (facts) =>
    facts.emptyPools().map(({ uid, name, tenant, members }) => ({
      tenantId: tenant,
      subject: uid,
      title: `pool ${name} has no member that may answer`,
      detail:
        members === 0
          ? 'It has no members. Add one.'
          : `None of its ${members} members is healthy, enabled and, where it counts, of weight.`,
    })),
}

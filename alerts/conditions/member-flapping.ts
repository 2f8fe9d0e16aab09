// Condition: a member goes up and down again and again.
import type { Condition } from '#alerts/condition.ts'

export const memberFlapping: Condition = {
  name: 'member-flapping',
  severity: 'warning',
  audience: 'tenant',
  isOfNode: false,
  holdMs: 0,
  clearMs: 60_000,
  says: 'The health of a member changed six times or more within ten minutes',
  find: (facts) =>
    facts.flapping().map(({ uid, address, pool, tenant, changes, windowMs }) => ({
      tenantId: tenant,
      subject: uid,
      title: `member ${address} of pool ${pool} is flapping`,
      detail:
        `Its health changed ${changes} times within ${windowMs / 60_000} minutes. Look at the ` +
        'backend, or raise the thresholds of the health check.',
    })),
}

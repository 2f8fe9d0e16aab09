// Condition: a rollout was taken back because of measurements.
import type { Condition } from '#alerts/condition.ts'

export const rolloutRegression: Condition = {
  name: 'rollout-regression',
  severity: 'error',
  audience: 'tenant',
  isOfNode: false,
  holdMs: 0,
  clearMs: 0,
  says:
    'A rollout was rolled back because of what was measured; it ends after 24 hours, or when the ' +
    'member has another rollout',
  find: (facts) =>
    facts.regressions().map(({ uid, name, tenant, pool, reason }) => ({
      tenantId: tenant,
      subject: uid,
      title: `rollout ${name} of pool ${pool} was rolled back`,
      detail:
        `${reason}. The weight from before is in force again: look at the member; a new rollout ` +
        'tries again.',
    })),
}

// Condition: a member is down.
import type { Condition } from '#alerts/condition.ts'

export const memberDown: Condition = {
  name: 'member-down',
  severity: 'warning',
  audience: 'tenant',
  isOfNode: false,
  holdMs: 30_000,
  clearMs: 15_000,
  says: 'An enabled member was not healthy for half a minute, by the probes of a node',
  find: (facts) =>
    facts.downMembers().map(({ uid, address, pool, tenant }) => ({
      tenantId: tenant,
      subject: uid,
      title: `member ${address} of pool ${pool} is down`,
      detail:
        'It gets no clients while others of its pool are up. GET /api/v1/pools/{id}/status says ' +
        'what the probes found.',
    })),
}

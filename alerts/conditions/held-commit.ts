// Condition: the newest commit is held, and the one accepted before goes on serving.
import type { Condition } from '#alerts/condition.ts'
import { operatorId } from '#state/ports/alerts.ts'

export const heldCommit: Condition = {
  name: 'held-commit',
  severity: 'error',
  audience: 'operator',
  isOfNode: false,
  holdMs: 0,
  clearMs: 0,
  says: 'The head of the branch is held, as `GET /api/v1/gitops/status` says',
  find: (facts) => {
    const held = facts.held()
    if (held === null) return []
    return [
      {
        tenantId: operatorId,
        subject: 'configuration',
        title: `the newest commit is held: ${held.code}`,
        detail: held.reason,
      },
    ]
  },
}

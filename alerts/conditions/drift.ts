// Nodes of the cluster answer from different commits for longer than a change takes.
import type { Condition } from '#alerts/condition.ts'
import { operatorId } from '#state/ports/alerts.ts'

const shownMax = 20

export const drift: Condition = {
  name: 'drift',
  severity: 'warning',
  audience: 'operator',
  isOfNode: false,
  holdMs: 5 * 60_000,
  clearMs: 0,
  says: 'Nodes that share the database answer from different commits for five minutes',
  find: (facts) => {
    const commits = facts.commits()
    if (new Set(commits.values()).size < 2) return []
    const list = [...commits]
      .slice(0, shownMax)
      .map(([node, commit]) => `${node}: ${commit === '' ? 'none' : commit.slice(0, 10)}`)
    return [
      {
        tenantId: operatorId,
        subject: 'configuration',
        title: 'nodes answer from different commits',
        detail: `${list.join(', ')}. GET /api/v1/gitops/status of each node says why.`,
      },
    ]
  },
}

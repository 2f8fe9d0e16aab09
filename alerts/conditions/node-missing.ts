// Condition: a node of the cluster is silent.
import type { Condition } from '#alerts/condition.ts'
import { operatorId } from '#state/ports/alerts.ts'

export const nodeMissing: Condition = {
  name: 'node-missing',
  severity: 'error',
  audience: 'operator',
  isOfNode: false,
  holdMs: 0,
  clearMs: 0,
  says:
    'A node that shares the database was not heard of for 30 s; one that was stopped is not ' +
    'missed, and after a day none is',
  find: (facts) =>
    facts.missing().map(({ node, sinceMs }) => ({
      tenantId: operatorId,
      subject: node,
      title: `node ${node} is missing`,
      detail:
        `It was last heard of at ${new Date(sinceMs).toISOString()}. Look whether its process ` +
        'runs and reaches the database.',
    })),
}

// Condition: a node that pulls bundles is silent, behind or refusing, or has a wrong clock.
import type { Condition } from '#alerts/condition.ts'
import type { DriftedNodeFacts } from '#alerts/facts.ts'
import { operatorId } from '#state/ports/alerts.ts'
import type { Severity } from '#state/ports/alerts.ts'

interface Kind {
  readonly severity: Severity
  readonly title: (node: string) => string
  readonly detail: (facts: DriftedNodeFacts) => string
}

const kinds: Readonly<Record<DriftedNodeFacts['kind'], Kind>> = {
  missing: {
    severity: 'error',
    title: (node) => `node ${node} does not ask for bundles any more`,
    detail: ({ ageSeconds }) =>
      `Last heard: ${Math.round(ageSeconds)} s ago. Look whether its process runs and ` +
      'reaches this node.',
  },
  behind: {
    severity: 'warning',
    title: (node) => `node ${node} serves an old bundle`,
    detail: ({ seq }) => `It serves seq ${seq}, and a newer one has been there for five minutes.`,
  },
  'split-seq': {
    severity: 'critical',
    title: (node) => `node ${node} serves another bundle under the same seq`,
    detail: ({ seq }) =>
      `Under seq ${seq} of one key there are two bundles: two nodes share a key, or one was ` +
      'copied.',
  },
  clock: {
    severity: 'warning',
    title: (node) => `the clock of node ${node} is off`,
    detail: ({ clockErrorMs }) =>
      `It is at least ${(Math.abs(clockErrorMs) / 1000).toFixed(1)} s ` +
      `${clockErrorMs < 0 ? 'behind' : 'ahead of'} most clocks of the fleet. Look at time ` +
      'synchronization there.',
  },
  refusing: {
    severity: 'error',
    title: (node) => `node ${node} refuses a bundle`,
    detail: ({ refusal }) => `It says: ${refusal === '' ? 'no reason' : refusal}.`,
  },
  'name-taken': {
    severity: 'error',
    title: (node) => `two nodes are called ${node}`,
    detail: () => 'Give one of them another name with state.nodeName.',
  },
}

export const fleetDrift: Condition = {
  name: 'fleet-drift',
  severity: 'warning',
  audience: 'operator',
  isOfNode: false,
  holdMs: 15_000,
  clearMs: 60_000,
  says:
    'A node that pulls bundles is silent, refuses one or serves an old one, its clock is off by ' +
    'more than a second, two nodes have one name, or there are two bundles under one seq',
  find: (facts) =>
    facts.driftedNodes().map((found) => {
      const { severity, title, detail } = kinds[found.kind]
      return {
        tenantId: operatorId,
        subject: `${found.node}: ${found.kind}`,
        title: title(found.node),
        detail: detail(found),
        severity,
      }
    }),
}

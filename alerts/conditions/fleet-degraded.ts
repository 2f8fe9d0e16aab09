// Condition: a node that pulls bundles says of itself that it is degraded.
import type { Condition } from '#alerts/condition.ts'
import { operatorId } from '#state/ports/alerts.ts'
import {
  degradedClearMs,
  degradedHoldMs,
  severityOfReason,
  zoneKeyReasons,
} from './node-degraded.ts'

export const fleetDegraded: Condition = {
  name: 'fleet-degraded',
  severity: 'warning',
  audience: 'operator',
  isOfNode: false,
  holdMs: degradedHoldMs,
  clearMs: degradedClearMs,
  says:
    'For ten minutes the health of a node that pulls bundles has a reason, such as ' +
    '`tls-certificate`, `bundle-not-stored` or `no-source`; a refused bundle is `fleet-drift`',
  find: (facts) =>
    facts
      .degradedNodes()
      .filter(({ code }) => !zoneKeyReasons.has(code))
      .map(({ node, code }) => ({
        tenantId: operatorId,
        subject: `${node}: ${code}`,
        title: `node ${node} is degraded: ${code}`,
        detail: 'GET /api/v1/health of that node says it in a sentence, its log says more.',
        severity: severityOfReason(code),
      })),
}

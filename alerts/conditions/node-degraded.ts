// Condition: a control node is degraded for a reason that no other condition is about.
import type { Condition } from '#alerts/condition.ts'
import type { AlertFacts } from '#alerts/facts.ts'
import { operatorId } from '#state/ports/alerts.ts'
import type { Severity } from '#state/ports/alerts.ts'

/** As long as what is away for a moment, such as a server that is restarted, may take. */
export const degradedHoldMs = 600_000
export const degradedClearMs = 60_000

/** Reasons of health that clients notice, or that keep every change away; others are warnings. */
const severities: Readonly<Record<string, Severity>> = {
  'zone-absent': 'error',
  'no-bundle': 'error',
  'bundle-refused': 'error',
  'git-unreachable': 'error',
  'tls-certificate': 'error',
}

export const severityOfReason = (code: string): Severity => severities[code] ?? 'warning'

/** What `zone-keys` tells of, of all nodes. */
export const zoneKeyReasons: ReadonlySet<string> = new Set([
  'zone-key-missing',
  'zone-keys-unused',
  'zone-keys-stale',
  'zone-keys-behind',
  'zone-ds-mismatch',
])

/** What another condition tells of, notices, and what lasts only until there is a configuration. */
const otherReasons: ReadonlySet<string> = new Set([
  'no-bundle',
  'git-held',
  'bundle-not-stored',
  'data-directory',
  'database-away',
  'zone-transfer',
  'zone-absent',
  'tls-certificate',
  'checks-off',
  'setup-open',
])

const isToldElsewhere = (code: string, facts: AlertFacts): boolean =>
  otherReasons.has(code) ||
  zoneKeyReasons.has(code) ||
  (code === 'delivery-stopped' && facts.stoppedDeliveries().length > 0) ||
  (code === 'geo-missing' && facts.geo().some(({ error }) => error !== ''))

export const nodeDegraded: Condition = {
  name: 'node-degraded',
  severity: 'warning',
  audience: 'operator',
  isOfNode: true,
  holdMs: degradedHoldMs,
  clearMs: degradedClearMs,
  says:
    'For ten minutes the health of a control node has a reason that no other condition is about, ' +
    'such as `git-unreachable`, `redis-away` or `backup-failed`',
  find: (facts) =>
    facts
      .reasons()
      .filter(({ code }) => !isToldElsewhere(code, facts))
      .map(({ code, message }) => ({
        tenantId: operatorId,
        subject: code,
        title: `the node is degraded: ${code}`,
        detail: message,
        severity: severityOfReason(code),
      })),
}

// Condition: a node lacks keys that sign zones, or has earlier ones, or a parent has to act.
import type { Condition } from '#alerts/condition.ts'
import type { ZoneKeyFacts } from '#alerts/facts.ts'
import { operatorId } from '#state/ports/alerts.ts'
import type { Severity } from '#state/ports/alerts.ts'

interface Kind {
  readonly severity: Severity
  readonly title: (of: string) => string
}

const kinds: Readonly<Record<ZoneKeyFacts['kind'], Kind>> = {
  missing: {
    severity: 'critical',
    title: (node) => `node ${node} has no key of a signed zone, which it answers SERVFAIL`,
  },
  stale: {
    severity: 'warning',
    title: (node) => `node ${node} gets no answer about keys of zones`,
  },
  unused: {
    severity: 'error',
    title: (node) => `keys of zones cannot be used or changed on node ${node}`,
  },
  behind: {
    severity: 'warning',
    title: (node) => `node ${node} signs with keys of before, and rolls wait for it`,
  },
  'left-behind': {
    severity: 'error',
    title: (node) => `node ${node} signs with keys of before, and rolls go on without it`,
  },
  'ds-mismatch': {
    severity: 'error',
    title: (zone) => `the DS records of ${zone} at its parent fit no key`,
  },
  waits: {
    severity: 'warning',
    title: (zone) => `the roll of the keys of ${zone} waits for its parent`,
  },
}

export const zoneKeys: Condition = {
  name: 'zone-keys',
  severity: 'error',
  audience: 'operator',
  isOfNode: false,
  // A first key takes as long as the parent is asked, and other nodes have it within ten seconds.
  holdMs: 60_000,
  clearMs: 0,
  says:
    'For a minute a node has no key of a signed zone, or keys of before, the DS records of a ' +
    'zone fit none of its keys, or a roll has waited for the parent for a day',
  find: (facts) =>
    facts.zoneKeys().map(({ kind, of, detail }) => {
      const { severity, title } = kinds[kind]
      return {
        ...{ tenantId: operatorId, subject: `${of}: ${kind}`, title: title(of) },
        ...{ detail, severity },
      }
    }),
}

// Channels, findings, alerts and silences for tests.
import type { AlertFacts } from '#alerts/facts.ts'
import type { Finding, StoredAlert, StoredChannel, StoredSilence } from '#state/ports/alerts.ts'

export const newChannel = (id: string, parts: Partial<StoredChannel> = {}): StoredChannel => ({
  ...{ id, tenantId: 'acme', name: id, kind: 'webhook', target: 'https://hooks.example.net' },
  ...{ settings: {}, secretCiphertext: 'v1.sealed', secrets: ['secret', 'url'], conditions: [] },
  ...{ minSeverity: 'info', enabled: true, createdAtMs: 1, updatedAtMs: 1 },
  ...parts,
})

export const newFinding = (subject: string, parts: Partial<Finding> = {}): Finding => ({
  ...{ condition: 'pool-without-members', severity: 'critical', tenantId: 'acme', subject },
  ...{ isOfNode: false, title: `pool ${subject}`, detail: 'no member may answer' },
  ...parts,
})

export const newAlert = (id: string, parts: Partial<StoredAlert> = {}): StoredAlert => ({
  ...{ id, tenantId: 'acme', condition: 'disk', severity: 'error', subject: `of ${id}`, node: '' },
  ...{ title: 'a title', detail: 'a detail', openedAtMs: 1_000, resolvedAtMs: null },
  ...parts,
})

export const newSilence = (id: string, parts: Partial<StoredSilence> = {}): StoredSilence => ({
  ...{ id, tenantId: 'acme', condition: '', subject: '', reason: 'a move' },
  ...{ createdAtMs: 1, untilMs: 1_060_000 },
  ...parts,
})

/** Facts of a node where all is well. */
export const healthyFacts: AlertFacts = {
  regressions: () => [],
  emptyPools: () => [],
  flapping: () => [],
  downMembers: () => [],
  held: () => null,
  geo: () => [],
  licence: () => null,
  certificates: () => [],
  renewals: () => [],
  missing: () => [],
  reasons: () => [],
  driftedNodes: () => [],
  degradedNodes: () => [],
  stoppedDeliveries: () => [],
  commits: () => new Map(),
  redirectTargets: () => [],
  discoverySources: () => [],
  zoneTransfers: () => [],
  zonePushes: () => [],
  zoneKeys: () => [],
  disk: () => ({ fault: '', freePercent: 50 }),
  nowMs: () => 0,
}

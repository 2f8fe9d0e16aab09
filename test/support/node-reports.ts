// Reports of nodes, as they tell control nodes of themselves.
import type { NodeReport } from '#fleet/node-report.ts'

export const reportOf = (name: string, parts: Partial<NodeReport> = {}): NodeReport => ({
  name,
  instance: 'ab'.repeat(8),
  labels: { site: 'fra1' },
  version: '0.1.0',
  role: 'dns',
  seq: 7,
  digest: 'd'.repeat(64),
  publisher: 'cd'.repeat(8),
  isLeaving: false,
  isRefusing: false,
  issuedAtMs: 1_000,
  startedAtMs: 2_000,
  sentAtMs: 3_000,
  refusals: [{ digest: 'e'.repeat(64), code: 'bad-bundle', reason: 'it is damaged', atMs: 2_500 }],
  busyRatio: 0.25,
  counters: {
    queries: 10,
    answers: 9,
    servfail: 1,
    noCandidate: 2,
    dropped: 1,
    shadowed: 0,
    shadowDiffered: 0,
    p99Us: null,
    membersHealthy: 3,
    membersDown: 1,
    membersWarming: 0,
  },
  ...parts,
})

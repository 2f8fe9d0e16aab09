// A node of a cluster as others see it.
import type { SeenNode } from '#ports/cluster-view.ts'
import { systemClock } from '#lib/clock.ts'

export const seenNode = (name: string, more: Partial<SeenNode> = {}): SeenNode => ({
  name,
  version: '0.1.0',
  startedAtMs: 0,
  atMs: 0,
  commit: 'a'.repeat(40),
  digest: 'd'.repeat(64),
  seq: 7,
  issuedAtMs: systemClock.nowMs() - 600_000,
  busyRatio: 0.25,
  queries: 1_000,
  status: 'ok',
  reasons: [],
  members: { healthy: 2, unhealthy: 1, warming: 0, unprobed: 0 },
  isSupervised: true,
  isSelf: false,
  isMissing: false,
  role: 'control',
  isKnown: true,
  labels: {},
  clockOffsetMs: null,
  refusals: [],
  drift: [],
  ...more,
})

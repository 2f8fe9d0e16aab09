// The status of a node that has not read a configuration yet.
import type { GitopsStatus } from '#ports/operator-view.ts'

export const startingStatus: GitopsStatus = {
  branch: 'main',
  head: null,
  accepted: null,
  active: null,
  sync: 'starting',
  reason: null,
  note: null,
  diagnostics: [],
  lookedFromMs: null,
  node: {
    channel: 'main',
    seq: 0,
    serial: 0,
    digest: null,
    issuedAtMs: null,
    ageSeconds: null,
    expired: false,
    swapCount: 0,
    lastSwapMs: null,
    refused: null,
  },
}

// A thread that repeatedly measures 256 networks and forgets them: one member from each.
import { parentPort, workerData } from 'node:worker_threads'
import { rumLimits, RumStore } from '#inputs/rum/rum-store.ts'

const uids = workerData as readonly Uint32Array[]
const time = { ms: 0 }
const store = new RumStore({ nowMs: () => time.ms, monotonicMs: () => time.ms })
parentPort?.postMessage(store.buffer)
for (let i = 0; ; i = (i * 5 + 1) & 255) {
  store.record(Uint8Array.of(10, 0, i, 1), uids[i & 3]!, 10)
  // Forgets about half of them each round, so that entries move up.
  time.ms += rumLimits.expiryMs / 128
}

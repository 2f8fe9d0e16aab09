// Loaded first by every thread of a daemon: each responder dies as it starts.
import { workerData } from 'node:worker_threads'

if (typeof (workerData as { readonly fd?: number } | null)?.fd === 'number') {
  throw new Error('no responder lives here')
}

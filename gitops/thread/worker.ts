// Starts the Git worker thread, in which all Git and compile work happens.
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { yieldToAnswers } from '#lib/thread/background-thread.ts'
import { collectGarbage, shrinkHeap } from '#lib/memory/exposed-collector.ts'
import { collectLater } from '#lib/memory/heap-growth.ts'
import { runGitThread } from './git-thread.ts'
import type { WorkerStart } from './git-thread.ts'

assert(parentPort !== null, 'gitops/thread/worker.ts runs in a worker thread')
yieldToAnswers()
await runGitThread({
  start: workerData as WorkerStart,
  port: parentPort,
  shrink: () => shrinkHeap('keep'),
  collect: collectGarbage,
  // Not at the start: the first read makes much garbage in a heap that is small yet.
  onWrite: collectLater,
  // Not `port.close()`: idle connections to the remote would keep the thread alive for seconds.
  onEnd: () => process.exit(0),
})

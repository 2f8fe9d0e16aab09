// Scripts on a node of many threads: their helpers start a few at a time.
import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import {
  bareModel,
  member,
  newSigningKey,
  pool,
  service,
  uid,
  zone,
} from '#test/support/bundle-models.ts'
import { publish } from '#test/support/node-under-test.ts'
import { startedNode } from '#test/support/started-node.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const cores = availableParallelism()
const threads = 16 * cores
const model = {
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [pool(1, [member('192.0.2.1', { uid: uid(1) })])],
  services: [
    service(1, 'www.example.org.', { filterChain: ['script:result = []', 'failover'], pool: 0 }),
  ],
}

test('a stop calls off the helpers of scripts that have not started', async () => {
  let started = 0
  const count = ({ threadName }: Worker): void => void (threadName === 'dns-script' && started++)
  process.on('worker', count)
  onTestFinished(() => void process.off('worker', count))
  const key = newSigningKey()
  const { node } = await startedNode({ trusted: key, threads })
  const activation = node.activate(publish(key, model, { seq: 1 }))
  await waitUntil('a helper', () => started > 0)
  await node.stop()
  await activation
  // Of each that starts, the one that will be the next's spare starts, too.
  expect(started).toBeLessThan(threads)
})

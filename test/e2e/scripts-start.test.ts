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
import { errorsOf, startedNode } from '#test/support/started-node.ts'
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
  // Each start of a helper also starts a spare for the next one.
  expect(started).toBeLessThan(threads)
})

test('an activation ends without a fault when the starts of scripts are called off', async () => {
  const key = newSigningKey()
  const { node, log } = await startedNode({ trusted: key, threads })
  const activation = node.activate(publish(key, model, { seq: 1 }))
  node.callOffStarts()
  await activation
  expect(errorsOf(log)).toEqual([])
})

test('after the starts are called off, no helper follows one that has ended', async () => {
  const helpers: Worker[] = []
  const note = (worker: Worker): void => {
    if (worker.threadName === 'dns-script') helpers.push(worker)
  }
  process.on('worker', note)
  onTestFinished(() => void process.off('worker', note))
  const key = newSigningKey()
  const { node } = await startedNode({ trusted: key, threads: 1 })
  await node.activate(publish(key, model, { seq: 1 }))
  const before = helpers.length
  node.callOffStarts()
  for (const helper of helpers) await helper.terminate()
  // Its successor came a second later.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect(helpers).toHaveLength(before)
})

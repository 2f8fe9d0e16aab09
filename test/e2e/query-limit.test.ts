// The limit of queries a second on real sockets: one bucket for all threads and both transports.
import { expect, test } from 'vitest'
import { QueryBucket, queryBucketBytes } from '#answer/counters/query-bucket.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { answerOf, askGeneration, generation, publish } from '#test/support/node-under-test.ts'
import { startedNode } from '#test/support/started-node.ts'

const key = newSigningKey()
const perSecond = 4
const asked = 24

test.each([0, 1, 2])('with %i threads, what is over the limit is SERVFAIL', async (threads) => {
  const queryBucket = new SharedArrayBuffer(queryBucketBytes)
  const bucket = new QueryBucket(queryBucket)
  const { node, port } = await startedNode({ trusted: key, threads, queryBucket })
  await node.activate(publish(key, generation(1), { seq: 1 }))

  const fromMs = performance.now()
  bucket.adopt(perSecond)
  const answers = await Promise.all(
    Array.from({ length: asked }, (_, i) => askGeneration(port, '127.0.0.1', i % 3 === 0)),
  )
  const tookSeconds = (performance.now() - fromMs) / 1_000

  const good = answers.filter((text) => text === answerOf(1)).length
  expect(answers.filter((text) => text === 'rcode 2').length).toBe(asked - good)
  expect(good).toBeGreaterThanOrEqual(perSecond)
  // Full at the start, then what time brings.
  expect(good).toBeLessThanOrEqual(perSecond + Math.ceil(tookSeconds * perSecond))
  const over = node.counters().reduce((sum, { overLimit }) => sum + overLimit, 0)
  expect(over).toBe(asked - good)

  bucket.adopt(0)
  for (let i = 0; i < 2 * perSecond; i++) expect(await askGeneration(port)).toBe(answerOf(1))
})

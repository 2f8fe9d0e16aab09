// Which threads of a node let answers go first.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listFiles } from '#test/tidy/source.ts'

const root = join(import.meta.dirname, '../../../..')
/** A query, a probe, a record of a query, or a request with a limit of time waits for these. */
const first = [
  'answer/query-log/worker.ts',
  'answer/script/worker.ts',
  'cli/files/read-worker.ts',
  'health/thread/worker.ts',
  'questions/past/past-worker.ts',
  'questions/plan/plan-worker.ts',
  'questions/simulate/live-worker.ts',
  'server/redirect/worker.ts',
  'server/threads/responder.ts',
  'server/threads/stream-worker.ts',
]
const isEntry = /^import \{[^}]*\b(parentPort|workerData)\b[^}]*\} from 'node:worker_threads'$/m

test('each thread begins by letting answers go first, or is one that something waits for', () => {
  const product = listFiles(root).filter(
    (path) => path.endsWith('.ts') && !/^(test|bench|bin)\//.test(path),
  )
  const entries = product.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return isEntry.test(text) ? [{ path, yields: /^yieldToAnswers\(\)$/m.test(text) }] : []
  })
  expect(entries.filter(({ yields }) => !yields).map(({ path }) => path)).toEqual(first)
  expect(entries.length).toBeGreaterThan(first.length)
})

import { expect, test } from 'vitest'
import { compilerHeapMb } from '#gitops/thread/worker-memory.ts'

const mb = 2 ** 20
const gb = 2 ** 30
test.each([
  ['a container of 1,100 MB', 1_100 * mb, 24 * gb, 440],
  ['a tiny container', 100 * mb, 24 * gb, 64],
  ['a machine without a limit', 0, 2 * gb, 819],
  ['a limit that is above the memory, as cgroup v1 says "none"', 2 ** 63, 2 * gb, 819],
  ['a large machine', 0, 256 * gb, 4_096],
])('%s leaves memory to what answers', (_, constrained, total, expected) => {
  expect(compilerHeapMb(constrained, total)).toBe(expected)
})

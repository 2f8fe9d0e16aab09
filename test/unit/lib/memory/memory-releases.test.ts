// When a thread gives memory back, and that it does.
import { expect, test } from 'vitest'
import { MemoryReleases, apartMs, quietMs } from '#lib/memory/memory-releases.ts'
import { releaseMemory } from '#system/worker/release-memory.ts'
import { FakeTime } from '#test/support/fake-time.ts'

function scene(): { time: FakeTime; releases: MemoryReleases; count: () => number } {
  const time = new FakeTime(0)
  let count = 0
  const { clock, after } = time
  const releases = new MemoryReleases({ clock, after, release: () => void count++ })
  return { time, releases, count: () => count }
}

test('once, when changes have been quiet for a moment', () => {
  const { time, releases, count } = scene()
  for (let i = 0; i < 5; i++) {
    releases.changed()
    time.pass(quietMs - 1)
  }
  expect(count()).toBe(0)
  time.pass(1)
  expect(count()).toBe(1)
  time.pass(10 * apartMs)
  expect(count()).toBe(1)
})

test('not again too soon, and not after the end', () => {
  const { time, releases, count } = scene()
  releases.changed()
  time.pass(quietMs)
  releases.changed()
  time.pass(apartMs - 1)
  expect(count()).toBe(1)
  time.pass(1)
  expect(count()).toBe(2)
  releases.changed()
  releases.stop()
  // A thread that stops says its last words.
  releases.changed()
  time.pass(10 * apartMs)
  expect([count(), time.waiting]).toEqual([2, 0])
})

test('shared memory that nobody has any more goes back to the system', () => {
  const octets = 128 * 1024 * 1024
  const hold = (): number => {
    const bytes = new Uint8Array(new SharedArrayBuffer(octets)).fill(1)
    return process.memoryUsage().rss + (bytes[0]! - 1)
  }
  const held = hold()
  releaseMemory('keep')
  expect(held - process.memoryUsage().rss).toBeGreaterThan(octets / 2)
})

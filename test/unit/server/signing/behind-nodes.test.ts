// Which nodes answer by keys of before: from when, and for how long a roll waits for them.
import { expect, test } from 'vitest'
import { BehindNodes, waitedForMs } from '#server/signing/behind-nodes.ts'
import type { KeyNode } from '#server/signing/behind-nodes.ts'

const minute = 60_000

class World {
  nowMs = 0
  revision = 10
  nodes: readonly KeyNode[] = []
  readonly behind = new BehindNodes({
    nodes: () => this.nodes,
    revision: () => this.revision,
    monotonicMs: () => this.nowMs,
  })

  has(...revisions: readonly number[]): void {
    this.nodes = revisions.map((revision, i) => ({ name: `dns${i}`, revision, lateMs: minute }))
  }

  later(ms: number): void {
    this.nowMs += ms
  }

  waitedFor(): readonly string[] {
    return this.behind.waitedFor(5 * minute)
  }
}

test('a node is behind since the first revision that it lacks, however many follow', () => {
  const world = new World()
  world.has(10, 10)
  expect(world.waitedFor()).toEqual([])
  world.later(minute)
  for (let i = 0; i < 600; i++) {
    world.later(minute)
    world.revision++
    world.has(world.revision - 1, 10)
    world.waitedFor()
  }
  expect(world.waitedFor()).toEqual(['dns1'])
  expect(world.behind.notable()).toMatchObject([
    { name: 'dns1', behindMs: 599 * minute, isWaitedFor: true },
  ])
  world.later(2_000)
  world.has(world.revision, world.revision)
  expect([world.waitedFor(), world.behind.notable()]).toEqual([[], []])
})

test('a node may be behind as long as keys travel and its report is fresh enough', () => {
  const world = new World()
  world.has(10)
  world.waitedFor()
  world.revision = 11
  world.later(minute)
  world.waitedFor()
  for (const [ms, names] of [
    [5 * minute, []],
    [minute, ['dns0']],
  ] as const) {
    world.later(ms)
    expect(world.waitedFor()).toEqual(names)
  }
  expect(world.behind.waitedFor(30 * minute)).toEqual([])
  world.nodes = [{ name: 'dns0', revision: 10, lateMs: 10 * minute }]
  world.later(2_000)
  expect(world.waitedFor()).toEqual([])
})

test('after a day nothing waits for it, until it has had keys again', () => {
  const world = new World()
  world.has(0)
  world.waitedFor()
  world.later(waitedForMs)
  expect(world.waitedFor()).toEqual(['dns0'])
  world.later(minute)
  expect(world.waitedFor()).toEqual([])
  expect(world.behind.notable()).toMatchObject([{ name: 'dns0', isWaitedFor: false }])
  world.revision = 12
  world.later(minute)
  expect(world.waitedFor()).toEqual([])
  world.has(12)
  world.later(minute)
  world.waitedFor()
  world.revision = 13
  world.later(minute)
  world.waitedFor()
  world.later(6 * minute)
  expect(world.waitedFor()).toEqual(['dns0'])
})

test('without keys, and without nodes, nobody is behind', () => {
  const world = new World()
  world.revision = 0
  expect(world.waitedFor()).toEqual([])
  world.has(0)
  world.later(waitedForMs)
  expect(world.behind.notable()).toEqual([])
})

// Tests how nodes record rollouts and windows: several nodes with one clock, one branch and seeded
// chances.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OverlayKeeper } from '#node/overlays/overlay-keeper.ts'
import { Regressions } from '#node/overlays/regressions.ts'
import type { Operation, WriteResult } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'
import { Random } from '#lib/random.ts'
import { createMemoryRolloutTrips } from '#state/memory/rollout-trips.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { createCommits, member, objectOf } from '#test/support/feed-world.ts'
import { testSeed } from '#test/support/random.ts'

const noonMs = Date.UTC(2027, 0, 31, 12)
const at = (seconds: number): string => new Date(noonMs + seconds * 1_000).toISOString()
const uid = (nth: number): string => `01976c1e-7e5c-7000-8000-00000000000${nth}`
const pool = objectOf('Pool', 'acme', 'web', { members: [member('192.0.2.1', { uid: uid(1) })] })
const ramp = (fields: object = {}) =>
  objectOf(
    'Rollout',
    'acme',
    'ramp',
    {
      ...{ pool: 'web', memberId: uid(1), startAt: at(0), baseWeight: 40 },
      steps: [{ weightPct: 50, holdSeconds: 60 }],
      ...fields,
    },
    uid(2),
  )
const night = (fields: object = {}) =>
  objectOf(
    'MaintenanceWindow',
    'acme',
    'night',
    { resourceType: 'pool', resource: 'web', startAt: at(10), endAt: at(3_600), ...fields },
    uid(3),
  )

let time: FakeTime
let commits: ReturnType<typeof createCommits>
let stops: (() => unknown)[]
/** Result of a write on the branch. */
let answer: (operation: Operation) => WriteResult
let warned: object[]
const written: { readonly node: number; readonly operation: Operation; readonly second: number }[] =
  []
const trips = () => createMemoryRolloutTrips()

beforeEach(() => {
  time = new FakeTime(noonMs - 60_000)
  commits = createCommits()
  stops = []
  warned = []
  written.length = 0
  answer = () => ok({ revision: 'r', isChanged: false, objects: [], warnings: [], affected: [] })
})
afterEach(() => {
  for (const stop of stops) stop()
})

function startNode(node: number, shared = trips()) {
  const log = {
    info: () => {},
    warn: (fields: object) => void warned.push(fields),
    error: () => {},
  }
  const adopted: string[] = []
  const regressions = new Regressions({
    ...{ shared, nodeName: `n${node}`, log },
    adopt: ({ rolloutUid, reason }) => adopted.push(`${rolloutUid} ${reason}`),
  })
  const { clock, after } = time
  const keeper = new OverlayKeeper({
    ...{ config: commits.view, tripOf: regressions.trip, clock, after, log },
    write: async ({ operations: [operation] }) => {
      const second = (clock.nowMs() - noonMs) / 1_000
      written.push({ node, operation: operation!, second })
      return answer(operation!)
    },
    random: new Random(testSeed + node),
  })
  regressions.onRegression(({ rolloutUid, isOwn }) => keeper.regressed(rolloutUid, isOwn))
  regressions.start()
  keeper.start()
  stops.push(() => keeper.stop())
  return { keeper, regressions, adopted }
}

/** Lets time pass, and between its seconds what waits for promises. */
async function pass(seconds: number): Promise<void> {
  for (let i = 0; i < seconds * 4; i++) {
    time.pass(250)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const words = () => written.map(({ node, operation: { verb } }) => `${node} ${verb}`)
const seconds = () => written.map(({ second }) => second)

test('a window is written down within two seconds of its begin, a rollout of its end', async () => {
  commits.commit(pool, ramp(), night())
  startNode(1)
  await pass(69)
  expect(written).toEqual([])
  answer = ({ verb }) => {
    if (verb === 'record') commits.commit(pool, ramp(), night({ members: [uid(1)] }))
    else commits.commit(pool, night({ members: [uid(1)] }))
    return ok({ revision: 'r', isChanged: true, objects: [], warnings: [], affected: [] })
  }
  await pass(60)
  expect(words()).toEqual(['1 record', '1 settle'])
  expect(seconds()[0]).toBeLessThan(12)
  expect(seconds()[1]).toBeLessThan(62)
  expect(written[1]!.operation).toMatchObject({ kind: 'Rollout', target: { uid: uid(2) } })
  await pass(7_200)
  expect(written).toHaveLength(2)
})

test('one of several nodes writes, the others see it done', async () => {
  commits.commit(pool, ramp())
  answer = () => {
    commits.commit(pool, ramp({ settled: 'promoted', settledAt: at(60) }))
    return ok({ revision: 'r', isChanged: true, objects: [], warnings: [], affected: [] })
  }
  for (const node of [1, 2, 3, 4]) startNode(node)
  await pass(130)
  expect(written).toHaveLength(1)
})

test('a node that saw a regression writes at once, the others when none has', async () => {
  const running = ramp({ steps: [{ weightPct: 50, holdSeconds: 0 }] })
  commits.commit(pool, running)
  const shared = trips()
  const nodes = [1, 2].map((node) => startNode(node, shared))
  await pass(70)
  const [seer] = nodes
  const event = {
    rollout: { uid: uid(2), name: 'ramp', tenant: 'acme' },
    ...{ startAtMs: noonMs, atMs: time.clock.nowMs(), reason: 'it is ill' },
  }
  answer = () => err({ code: 'unreachable', message: 'no', operation: -1, diagnostics: [] })
  seer!.regressions.saw(event)
  seer!.regressions.saw(event)
  expect(words()).toEqual(['1 settle'])
  const { rollout: _name, ...regression } = event
  expect(written[0]!.operation).toMatchObject({ regression })
  await pass(0.25)
  expect(nodes.map(({ adopted }) => adopted)).toEqual([[], [`${uid(2)} it is ill`]])
  await pass(3)
  expect(words()).toEqual(['1 settle', '2 settle'])
  // Both go on trying, and each has told a person once.
  await pass(60)
  expect(written.length).toBeGreaterThan(4)
  expect(written.length).toBeLessThan(16)
  expect(warned.filter((fields) => 'code' in fields)).toHaveLength(2)
  answer = () => {
    commits.commit(pool, ramp({ settled: 'rolled_back' }))
    return ok({ revision: 'r', isChanged: true, objects: [], warnings: [], affected: [] })
  }
  await pass(300)
  const count = written.length
  await pass(900)
  expect(written).toHaveLength(count)
})

test('a regression seen before the configuration is read is written then', async () => {
  const { regressions } = startNode(1)
  regressions.saw({
    rollout: { uid: uid(2), name: 'ramp', tenant: 'acme' },
    ...{ startAtMs: noonMs, atMs: noonMs + 1, reason: 'it is ill' },
  })
  await pass(120)
  expect(written).toEqual([])
  commits.commit(pool, ramp({ steps: [{ weightPct: 50, holdSeconds: 0 }] }))
  await pass(2)
  expect(words()).toEqual(['1 settle'])
})

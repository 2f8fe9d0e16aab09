// Tests a node's reports about members' health over time, from its journal.
import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { BundleModel, HealthCheckModel } from '#bundle/format/model.ts'
import { runHealthJob } from '#questions/past/health-job.ts'
import { knownRowsLimits } from '#questions/past/member-rows-cache.ts'
import { PastAnswers } from '#questions/past/past-answers.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { MemberOut } from '#routing/state/state.ts'
import type { RowsOf } from '#journal/member-history.ts'
import type { JournalParts } from '#journal/journal.ts'
import { magic, recordBytesAt } from '#journal/format/records.ts'
import { openSegment, segmentFiles } from '#journal/segment-files.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import {
  bareModel,
  bundleOf,
  healthCheck,
  member,
  pool,
  uid,
  zone,
} from '#test/support/bundle-models.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { journalEpochMs, JournalScene } from '#test/support/journal-scene.ts'
import { journalAt } from '#test/support/journals.ts'
import { MemoryJournals } from '#test/support/memory-journals.ts'
import { viewOf } from '#test/support/config-view.ts'

const minuteMs = 60_000
const [first, second] = [uid(0x10001), uid(0x10002)]
const model = (addresses: readonly string[], more: Partial<BundleModel> = {}): BundleModel => ({
  ...bareModel,
  zones: [zone('test.')],
  pools: [
    pool(1, addresses, { tenant: 'acme', healthCheck }),
    pool(2, ['198.51.100.1'], { tenant: 'zenith', name: 'theirs' }),
  ],
  ...more,
})
const one = model(['192.0.2.1'])
const two = model(['192.0.2.1', '192.0.2.2'])

const dataDir = mkdtempSync(join(tmpdir(), 'gslbd-health-history-'))
const noOthers = {
  geo: { status: () => [], buffers: noGeoBuffers },
  config: viewOf(),
  copies: { journals: new MemoryJournals(), exists: () => false },
}
const scenes: JournalScene[] = []
afterAll(async () => {
  for (const scene of scenes) await scene.remove()
  rmSync(dataDir, { recursive: true })
})

function sceneOf(parts: Partial<JournalParts> = {}): JournalScene {
  const scene = new JournalScene(parts)
  scenes.push(scene)
  return scene
}

/** A swap to a bundle that the data directory keeps. */
function swap(scene: JournalScene, to: BundleModel, isKept = true): void {
  scene.swap(to)
  const { digest, bytes } = scene.bundle!
  if (isKept) new BundleStore(dataDir).add(digest, bytes)
}

function served(to: BundleModel) {
  const bundle = bundleOf(to)
  const { digest } = bundle
  const record = { digest, commit: to.commit, seq: 1 }
  return { bundle, digest, record, state: createRoutingState(bundle, 1) }
}

interface Asked {
  readonly members?: readonly string[]
  readonly tenant?: string
  readonly minutes?: number
}

/** Minutes of the range, from its beginning: `[from, to, state]`, and what else there is to say. */
async function told(scene: JournalScene, asked: Asked = {}): Promise<unknown> {
  const { members = [first], tenant = 'acme', minutes = 60 } = asked
  await scene.journal.flush()
  const toMs = scene.time.clock.nowMs()
  const done = await runHealthJob({
    ...{ journalDirectory: scene.directory, dataDir, gitdirs: [], tenant, members, copies: [] },
    known: new Map(),
    ...{ fromMs: toMs - minutes * minuteMs, toMs },
  })
  if (!done.ok) return done.error
  const { history } = done.value
  const lines = history.nodes[0]!.members.map(({ stretches }) =>
    stretches.map(({ fromMs, toMs: endMs, standing, reason }) => [
      ...[fromMs, endMs].map((ms) => Math.round((ms - history.fromMs) / minuteMs)),
      ...[standing, ...(reason === '' ? [] : [reason])],
    ]),
  )
  return lines.length === 1 ? lines[0] : lines
}

test('each change of a member is there with its minute', async () => {
  const scene = sceneOf()
  swap(scene, two)
  scene.time.pass(70 * minuteMs)
  scene.flip(0)
  scene.time.pass(10 * minuteMs)
  scene.change(0, (state) => (state.memberOut[0] = MemberOut.Warming | MemberOut.Maintenance))
  scene.flip(0)
  scene.time.pass(5 * minuteMs)
  scene.change(0, (state) => (state.memberOut[0] = MemberOut.Warming))
  scene.time.pass(5 * minuteMs)
  scene.change(0, (state) => (state.memberOut[0] = 0))
  scene.time.pass(20 * minuteMs)
  expect(await told(scene, { members: [first, second] })).toEqual([
    [
      [0, 20, 'up'],
      [20, 30, 'down'],
      [30, 35, 'maintenance'],
      [35, 40, 'warming'],
      [40, 60, 'up'],
    ],
    [[0, 60, 'up']],
  ])
})

test('a member is found in each configuration of the time, wherever its row was', async () => {
  const scene = sceneOf()
  swap(scene, one)
  scene.time.pass(10 * minuteMs)
  swap(scene, two)
  scene.flip(1)
  scene.time.pass(10 * minuteMs)
  const disabled = member('192.0.2.1', { uid: first, enabled: false })
  swap(scene, model([], { pools: [pool(1, [disabled], { tenant: 'acme', healthCheck })] }))
  scene.time.pass(10 * minuteMs)
  expect(await told(scene, { members: [first, second], minutes: 30 })).toEqual([
    [
      [0, 20, 'up'],
      [20, 30, 'disabled'],
    ],
    [
      [0, 10, 'absent'],
      [10, 20, 'down'],
      [20, 30, 'absent'],
    ],
  ])
})

const minutesOf = (healthCheck: HealthCheckModel | null, checks?: JournalParts['checks']) =>
  async function tell(): Promise<unknown> {
    const scene = sceneOf(checks === undefined ? {} : { checks })
    const pools = [pool(1, ['192.0.2.1'], { tenant: 'acme', healthCheck })]
    swap(scene, model([], { pools }))
    scene.time.pass(10 * minuteMs)
    // As outside monitors say.
    scene.flip(0)
    scene.time.pass(10 * minuteMs)
    return told(scene, { minutes: 20 })
  }
const script: HealthCheckModel = { ...healthCheck, type: 'script', scriptContent: 'exit 0' }

test.each([
  ['a pool without a check', minutesOf(null), 'unprobed'],
  ['a node without checks', minutesOf(healthCheck, 'none'), 'unprobed'],
  ['a script on a node that runs none', minutesOf(script, 'no-scripts'), 'unprobed'],
  ['a check on a node that runs no scripts', minutesOf(healthCheck, 'no-scripts'), 'up'],
  ['a script on a node that runs them', minutesOf(script, 'all'), 'up'],
])('members of %s are not told better than they are known', async (_what, tell, state) => {
  expect(await tell()).toEqual([
    [0, 10, state],
    [10, 20, 'down'],
  ])
})

test('a check that comes with a commit counts from then on', async () => {
  const scene = sceneOf()
  const bare = model([], { pools: [pool(1, ['192.0.2.1'], { tenant: 'acme' })] })
  for (const one of [bare, model(['192.0.2.1']), bare]) {
    swap(scene, one)
    scene.time.pass(10 * minuteMs)
  }
  expect(await told(scene, { minutes: 30 })).toEqual([
    [0, 10, 'unprobed'],
    [10, 20, 'up'],
    [20, 30, 'unprobed'],
  ])
})

test('a commit that leaves the members alone needs no bundle of then', async () => {
  const scene = sceneOf()
  // Another digest, the same rows.
  const early = { ...two, zones: [zone('early.test.')] }
  swap(scene, early, false)
  scene.time.pass(10 * minuteMs)
  swap(scene, two)
  scene.time.pass(10 * minuteMs)
  expect(await told(scene, { minutes: 20 })).toEqual([[0, 20, 'up']])
})

test('a state whose bundle is gone is unknown, and says so', async () => {
  const scene = sceneOf()
  swap(scene, model(['192.0.2.77', '192.0.2.78', '192.0.2.79']), false)
  scene.time.pass(10 * minuteMs)
  swap(scene, two)
  scene.time.pass(10 * minuteMs)
  expect(await told(scene, { minutes: 20 })).toEqual([
    [0, 10, 'unknown', 'the configuration of then is not kept'],
    [10, 20, 'up'],
  ])
})

test('a stop, a start and what was before the journal are not silence', async () => {
  const scene = sceneOf()
  swap(scene, two)
  scene.time.pass(10 * minuteMs)
  await scene.journal.stop()
  scene.time.pass(10 * minuteMs)
  scene.open()
  swap(scene, two)
  scene.time.pass(10 * minuteMs)
  expect(await told(scene)).toEqual([
    [0, 30, 'unknown', 'the journal of the node begins later'],
    [30, 40, 'up'],
    [40, 50, 'unknown', 'the node was stopped'],
    [50, 60, 'up'],
  ])
})

test('a file that was cut ends there, and what is quiet is not believed for ever', async () => {
  const scene = sceneOf()
  swap(scene, two)
  scene.time.pass(10 * minuteMs)
  scene.flip(0)
  scene.time.pass(10 * minuteMs)
  await scene.journal.flush()
  const [file] = segmentFiles(scene.directory)
  await scene.journal.stop()
  truncateSync(file!.path, 800)
  const found = (await told(scene, { minutes: 20 })) as readonly (readonly unknown[])[]
  expect(found.at(-1)).toEqual([
    expect.any(Number),
    20,
    'unknown',
    'the journal of the node says nothing of this time',
  ])
})

test('records of a file that is gone are unknown', async () => {
  const scene = sceneOf()
  swap(scene, two)
  for (let minute = 0; minute < 180; minute++) {
    if (minute % 60 === 30) scene.flip(0)
    scene.time.pass(minuteMs)
    if (minute % 20 === 0) await scene.journal.flush()
  }
  await scene.journal.flush()
  rmSync(segmentFiles(scene.directory)[1]!.path)
  const found = (await told(scene, { minutes: 180 })) as readonly (readonly unknown[])[]
  expect(found.map(([, , state]) => state)).toEqual(['up', 'down', 'unknown', 'up', 'down'])
  expect(found[2]).toContain('the node was down, or its journal was cut')
})

test('a full disk is reported without its paths', async () => {
  let isFull = false
  const open: typeof openSegment = async (path) => {
    if (isFull) throw new Error(`ENOSPC: no space left on device, open '${path}'`)
    return openSegment(path)
  }
  const scene = sceneOf({ openSegment: open })
  swap(scene, two)
  scene.time.pass(10 * minuteMs)
  await scene.journal.flush()
  isFull = true
  for (let minute = 0; minute < 90; minute++) {
    scene.flip(0)
    scene.time.pass(minuteMs)
    await scene.journal.flush()
  }
  isFull = false
  scene.flip(0)
  scene.time.pass(30 * minuteMs)
  const found = (await told(scene, { minutes: 120 })) as readonly (readonly unknown[])[]
  expect(found.map(([, , , reason]) => reason)).toContain('the journal could not be written')
  expect(JSON.stringify(found)).not.toContain(scene.directory)
})

test('more configurations than are looked at are not said to be gone', async () => {
  const scene = sceneOf()
  for (let i = 1; i <= 20; i++) {
    const addresses = Array.from({ length: i }, (_, at) => `192.0.2.${at + 1}`)
    swap(scene, model(addresses))
    scene.time.pass(minuteMs)
  }
  expect(await told(scene, { minutes: 20 })).toEqual([
    [0, 4, 'unknown', 'the members of the pools have changed too often since to look so far back'],
    [4, 20, 'up'],
  ])
})

test('a look that takes long ends, and the next one goes on from there', async () => {
  const scene = sceneOf()
  for (const addresses of [['192.0.2.1'], ['192.0.2.1', '192.0.2.3'], ['192.0.2.1', '192.0.2.4']]) {
    swap(scene, model(addresses))
    scene.time.pass(10 * minuteMs)
  }
  await scene.journal.flush()
  const toMs = scene.time.clock.nowMs()
  const look = async (known: RowsOf) => {
    let nowMs = 0
    const slow = { monotonicMs: () => (nowMs += 15_000) }
    const asked = { journalDirectory: scene.directory, dataDir, gitdirs: [], tenant: 'acme' }
    const range = { fromMs: toMs - 30 * minuteMs, toMs }
    const done = await runHealthJob(
      { ...asked, ...range, members: [first], known, copies: [] },
      slow,
    )
    if (!done.ok) throw new Error(done.error.code)
    const { stretches } = done.value.history.nodes[0]!.members[0]!
    return [done.value.rowsOf, stretches.map(({ standing }) => standing)] as const
  }
  const [rowsOf, states] = await look(new Map())
  expect(states).toEqual(['unknown', 'up'])
  expect((await look(rowsOf))[1]).toEqual(['up'])
})

test('members of another tenant are none of it, though an id be the same', async () => {
  const scene = sceneOf()
  swap(scene, two)
  scene.time.pass(10 * minuteMs)
  expect(await told(scene, { tenant: 'zenith', minutes: 10 })).toEqual([[0, 10, 'absent']])
})

test('an hour of storms takes one file after the other, and the same is found', async () => {
  const scene = sceneOf()
  swap(scene, two)
  for (let minute = 0; minute < 180; minute++) {
    if (minute % 60 === 30) scene.flip(0)
    scene.time.pass(minuteMs)
    if (minute % 20 === 0) await scene.journal.flush()
  }
  await scene.journal.flush()
  expect(segmentFiles(scene.directory).length).toBeGreaterThan(2)
  expect(await told(scene, { minutes: 180 })).toEqual([
    [0, 30, 'up'],
    [30, 90, 'down'],
    [90, 150, 'up'],
    [150, 180, 'down'],
  ])
})

test('the history found for a pool is not searched again soon', async () => {
  const home = mkdtempSync(join(dataDir, 'again-'))
  const time = new FakeTime(journalEpochMs)
  const journal = journalAt(home, time, 'n1')
  const { state, bundle, digest, record } = served(two)
  new BundleStore(home).add(digest, bundle.bytes)
  journal.serves(record, bundle, state)
  journal.settled()
  time.pass(10 * minuteMs)
  const past = new PastAnswers({
    ...{ dataDir: home, nodeName: 'n1', journal, isAnswering: true, clock: time.clock },
    ...noOthers,
  })
  const states = async (): Promise<unknown> => {
    const found = await past.health({
      tenant: 'acme',
      members: [first],
      rangeMs: minuteMs,
      ofAll: true,
    })
    return found.ok && found.value.nodes[0]!.members[0]!.stretches.map(({ standing }) => standing)
  }
  expect(await states()).toEqual(['up'])
  rmSync(join(home, 'node'), { recursive: true })
  expect(await states()).toEqual(['up'])
  time.pass(knownRowsLimits.keptMs)
  expect(await states()).toEqual(['unknown'])
  await past.close()
  await journal.stop()
})

test('a journal without a segment, or none at all, is said in a sentence', async () => {
  const scene = sceneOf()
  const reason = 'the journal of this node has nothing yet'
  expect(await told(scene)).toEqual({ code: 'unknown', reason })
  const without = new PastAnswers({
    ...{ dataDir, nodeName: 'n1', journal: null, isAnswering: true, clock: scene.time.clock },
    ...noOthers,
  })
  const query = { tenant: 'acme', members: [first], rangeMs: 1, ofAll: true }
  expect(await without.health(query)).toMatchObject({
    error: { reason: expect.stringContaining('journal.enabled') as string },
  })
  await without.close()
  expect(scene.time.clock.nowMs()).toBe(journalEpochMs)
})

const lengthOfFirst = (octets: Buffer): number =>
  magic.length + recordBytesAt(octets, magic.length)!

test.each([
  ['a whole segment', (octets: Buffer) => octets.subarray(0, 0)],
  // As a copy that was behind: whole records, and no more.
  ['the end of a segment', (octets: Buffer) => octets.subarray(0, lengthOfFirst(octets))],
])('where %s of a copy is missing, nothing is known of its time', async (_what, cut) => {
  const scene = sceneOf()
  swap(scene, two)
  for (let minute = 0; minute < 200; minute++) {
    scene.time.pass(minuteMs)
    if (minute === 90) scene.flip(0)
    await scene.journal.flush()
  }
  const [newest, before, ...others] = segmentFiles(scene.directory)
    .map(({ path }) => readFileSync(path))
    .toReversed()
  const toMs = scene.time.clock.nowMs()
  const done = await runHealthJob({
    ...{ journalDirectory: null, dataDir, gitdirs: [], tenant: 'acme', members: [first] },
    copies: [{ node: 'n2', segments: [newest!, cut(before!), ...others] }],
    known: new Map(),
    ...{ fromMs: toMs - 190 * minuteMs, toMs },
  })
  expect(done.ok && done.value.history.nodes[0]!.members[0]!.stretches).toMatchObject([
    { standing: 'up' },
    { standing: 'down' },
    { standing: 'unknown' },
    { standing: 'down' },
  ])
})

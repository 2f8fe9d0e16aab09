// What browsers measured, in a journal: what the table had at each instant, or why it is not known.
import { cpSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { rumLimits } from '#inputs/rum/rum-store.ts'
import {
  firstWallMs,
  frame,
  frameJson,
  magic,
  readRecords,
  recordBytes,
  RecordKind,
  segmentHead,
} from '#journal/format/records.ts'
import { segmentFiles, segmentPath } from '#journal/segment-files.ts'
import { journalEpochMs, journalModel, JournalScene } from '#test/support/journal-scene.ts'

const scenes: JournalScene[] = []
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.remove()
})

function sceneWith(...parts: ConstructorParameters<typeof JournalScene>): JournalScene {
  const scene = new JournalScene(...parts)
  scenes.push(scene)
  scene.swap(journalModel('a'))
  return scene
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const small = { bytesMax: 500_000, ageMaxMs: 30 * dayMs }
/** Octets of a day for this part of such a journal. */
const bytesPerDay = (500_000 * (5 / 8)) / 30

async function measuredAt(scene: JournalScene, atMs: number) {
  const found = await scene.at(atMs)
  return typeof found === 'string' ? found : found.measured
}

/** More than a small journal has room for in an hour. */
function manySamples(scene: JournalScene, count: number, everyMs: number): void {
  for (let i = 0; i < count; i++) {
    scene.measure(i % 50, i % 6, 1 + ((i * 7919) % 300))
    scene.time.pass(everyMs)
  }
}

/** Octets of this part in all segments. */
const measuredBytes = ({ directory }: JournalScene): number =>
  segmentFiles(directory)
    .flatMap(({ path }) => readRecords(readFileSync(path)).records)
    .filter(({ kind }) => kind === RecordKind.Measured)
    .reduce((sum, { payload }) => sum + payload.length + recordBytes, 0)

/** As a version wrote it that did not say what was left. */
function withoutLeft(directory: string): void {
  for (const { path } of segmentFiles(directory)) {
    const [first, ...others] = readRecords(readFileSync(path)).records
    const { left: _, ...head } = segmentHead(first!)!
    const framed = others.map(({ kind, payload, ...times }) =>
      frame(kind as RecordKind, times, payload),
    )
    writeFileSync(path, Buffer.concat([magic, frameJson(RecordKind.Head, first!, head), ...framed]))
  }
}

describe('what browsers measured', () => {
  test('is there as it was at each instant, between changes of health', async () => {
    const scene = sceneWith()
    const copies: (readonly [number, unknown])[] = []
    const note = (): void => void copies.push([scene.time.clock.nowMs(), scene.copy()])
    note()
    for (let i = 0; i < 40; i++) {
      scene.time.pass(1 + ((i * 37) % 300))
      if (i % 3 === 0) scene.flip(i % 6)
      else scene.measure(i % 5, i % 6, 1 + ((i * 7919) % 300))
      note()
    }
    for (const [atMs, copy] of copies) expect(await scene.at(atMs)).toEqual(copy)
    for (const [i, [atMs]] of copies.entries()) {
      if (i > 0) expect(await scene.at(atMs - 1)).toEqual(copies[i - 1]![1])
    }
  })

  test('goes when it is too old, and is in each segment from its beginning', async () => {
    const scene = sceneWith()
    scene.measure(1, 0, 20)
    scene.measure(1, 1, 30)
    const first = scene.copy()
    scene.time.pass(20 * minuteMs)
    scene.measure(2, 0, 40)
    const both = scene.copy()
    scene.time.pass(20 * minuteMs)
    scene.rum.sweep()
    const second = scene.copy()
    expect(Object.keys(second.measured)).toHaveLength(1)
    scene.time.pass(hourMs)
    await scene.journal.flush()
    expect(segmentFiles(scene.directory).length).toBeGreaterThan(1)
    expect(await scene.at(journalEpochMs + minuteMs)).toEqual(first)
    expect(await scene.at(journalEpochMs + 21 * minuteMs)).toEqual(both)
    expect(await scene.at(journalEpochMs + 41 * minuteMs)).toEqual(second)
    expect(await scene.at(journalEpochMs + 90 * minuteMs)).toEqual(second)
  })

  test('stays with another bundle, and begins anew with another process', async () => {
    const scene = sceneWith()
    scene.measure(1, 0, 20)
    scene.time.pass(minuteMs)
    scene.swap(journalModel('b'))
    const swapped = scene.copy()
    expect(Object.keys(swapped.measured)).toHaveLength(1)
    scene.time.pass(minuteMs)
    expect(await scene.at(journalEpochMs + 1.5 * minuteMs)).toEqual(swapped)
    await scene.journal.stop()
    scene.time.pass(minuteMs)
    scene.open()
    scene.swap(journalModel('b'))
    scene.time.pass(minuteMs)
    expect(await measuredAt(scene, journalEpochMs + 3.5 * minuteMs)).toEqual({})
  })

  test('survives a clock that is set, whatever else is of the same second', async () => {
    const scene = sceneWith()
    scene.flip(1)
    scene.measure(1, 0, 20)
    scene.time.pass(100)
    scene.time.jump(-10 * minuteMs)
    scene.measure(1, 0, 80)
    scene.flip(1)
    const after = scene.copy()
    scene.time.pass(minuteMs)
    expect(await scene.at(journalEpochMs - 10 * minuteMs + 200)).toEqual(after)
  })

  test('is not known where the octets of the day were used up, and health still is', async () => {
    const scene = sceneWith(small)
    for (let i = 0; i < 4_000; i++) {
      scene.measure(i % 50, i % 6, 1 + ((i * 7919) % 300))
      scene.time.pass(200)
    }
    scene.flip(0)
    const busy = scene.copy()
    const busyMs = scene.time.clock.nowMs()
    scene.time.pass(1_000)
    expect(await measuredAt(scene, journalEpochMs + 30_000)).toBeInstanceOf(Object)
    expect(await scene.at(busyMs)).toEqual({ ...busy, measured: 'limit' })
    expect(scene.lines).toEqual([expect.stringContaining('leaves out what browsers measured')])
    expect(scene.journal.status().limited).toEqual({ measured: true, texts: false })
    const bytes = segmentFiles(scene.directory).map(({ path }) => statSync(path).size)
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(20_000)
    // Some hours later there is room for it again.
    scene.time.pass(3 * hourMs)
    scene.measure(1, 0, 20)
    const quiet = scene.copy()
    const quietMs = scene.time.clock.nowMs()
    scene.time.pass(1_000)
    expect(await scene.at(quietMs)).toEqual(quiet)
    expect(scene.lines).toHaveLength(1)
  })

  test('has no more octets of a day where a node starts anew each hour', async () => {
    // As many as a day has are there besides, as a quiet day has left them over.
    const scene = sceneWith(small)
    const days: number[] = []
    for (const _day of ['first', 'second']) {
      for (let hour = 0; hour < 24; hour++) {
        manySamples(scene, 1_000, 3_500)
        await scene.journal.stop()
        scene.open()
        scene.swap(journalModel('a'))
      }
      days.push(measuredBytes(scene))
    }
    expect(days[0]).toBeGreaterThan(1.5 * bytesPerDay)
    expect(days[0]).toBeLessThan(2.1 * bytesPerDay)
    expect(days[1]! - days[0]!).toBeGreaterThan(0.8 * bytesPerDay)
    expect(days[1]! - days[0]!).toBeLessThan(1.1 * bytesPerDay)
    expect(scene.lines[0]).toContain('leaves out what browsers measured')
  })

  test.each([
    { what: 'a process that has not ended', isStopped: false },
    { what: 'one that was stopped' },
    { what: 'one that was stopped six hours ago', restHours: 6, atLeast: 2_400, atMost: 3_000 },
    { what: 'one whose clock was ahead', restHours: -30 },
    { what: 'one of an older version', version: 'older' },
    { what: 'one with a file that has no beginning', broken: 'a file' },
    { what: 'one whose files were removed', broken: 'all', atLeast: 10_000, atMost: 11_000 },
  ])('goes on with what is left after $what', async (row) => {
    const { isStopped = true, restHours = 0, version, broken, atLeast = 0, atMost = 500 } = row
    const scene = sceneWith(small)
    manySamples(scene, 4_000, 200)
    expect(scene.journal.status().limited['measured']).toBe(true)
    const before = scene.journal
    await (isStopped ? before.stop() : before.flush())
    if (version === 'older') withoutLeft(scene.directory)
    if (broken === 'a file') writeFileSync(segmentPath(scene.directory, 99), magic)
    if (broken === 'all') rmSync(scene.directory, { recursive: true })
    if (restHours < 0) scene.time.jump(restHours * hourMs)
    else scene.time.pass(restHours * hourMs)
    const written = measuredBytes(scene)
    scene.open()
    scene.swap(journalModel('a'))
    manySamples(scene, 4_000, 200)
    await scene.journal.flush()
    expect(measuredBytes(scene) - written).toBeGreaterThanOrEqual(atLeast)
    expect(measuredBytes(scene) - written).toBeLessThan(atMost)
    expect(scene.journal.status().limited['measured']).toBe(true)
    await before.stop()
  })

  test('has the octets of a day where nothing was when the first part came', async () => {
    const other = sceneWith(small)
    manySamples(other, 4_000, 200)
    await other.journal.stop()
    const scene = new JournalScene(small)
    scenes.push(scene)
    await scene.journal.stop()
    scene.openOlder()
    scene.journal.keepsTexts()
    cpSync(other.directory, scene.directory, { recursive: true })
    scene.journal.measures(scene.rum)
    for (const { path } of segmentFiles(scene.directory)) rmSync(path)
    scene.swap(journalModel('a'))
    manySamples(scene, 4_000, 200)
    await scene.journal.flush()
    expect(measuredBytes(scene)).toBeGreaterThanOrEqual(10_000)
  })

  test('of a table that is too large for a day nothing is written, again and again', async () => {
    const scene = sceneWith(small)
    for (let i = 0; i < 6_000; i++) scene.measure(i, i % 6, 20)
    scene.time.pass(3 * hourMs)
    const sizes = segmentFiles(scene.directory).map(({ path }) => statSync(path).size)
    expect(Math.max(...sizes.slice(1))).toBeLessThan(bytesPerDay)
  })

  test('whose beginning was cut is damaged, and never half of a table', async () => {
    const scene = sceneWith()
    for (let i = 0; i < 30_000; i++) scene.measure(i, i % 6, 20)
    scene.time.pass(hourMs - 30 * minuteMs)
    for (let i = 0; i < 30_000; i++) scene.measure(i, i % 6, 20)
    scene.time.pass(31 * minuteMs)
    const all = scene.copy()
    await scene.journal.stop()
    const { path } = segmentFiles(scene.directory).at(-1)!
    const file = readFileSync(path)
    const beganMs = firstWallMs(file)!
    expect(file.length).toBeGreaterThan(200_000)
    const found = new Set<string>()
    for (let end = file.length; end > 70_000; end -= 40_000) {
      truncateSync(path, end)
      const measured = await measuredAt(scene, beganMs)
      found.add(typeof measured === 'string' ? measured : 'whole')
      if (typeof measured !== 'string') expect(measured).toEqual(all.measured)
    }
    expect([...found].sort()).toEqual(['damaged', 'whole'])
  })

  test('is not in a journal that knows no table', async () => {
    const scene = new JournalScene()
    scenes.push(scene)
    await scene.journal.stop()
    scene.openOlder()
    scene.swap(journalModel('a'))
    scene.time.pass(1_000)
    expect(await measuredAt(scene, journalEpochMs + 500)).toBe('older')
  })

  test('of 50,000 networks is written, whatever stood there before', async () => {
    const scene = sceneWith()
    for (let i = 0; i < rumLimits.subnetsMax + 100; i++) scene.measure(i, i % 6, 20)
    const full = scene.copy()
    const atMs = scene.time.clock.nowMs()
    scene.time.pass(1_000)
    expect(await scene.at(atMs)).toEqual(full)
  })
})

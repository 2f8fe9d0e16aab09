// A journal that is copied elsewhere: what arrives, what is made up for, and what is not taken.
import { readFileSync, rmSync, truncateSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { storedSegments } from '#questions/past/stored-segments.ts'
import { err, ok } from '#lib/result.ts'
import { JournalCopier } from '#journal/journal-copier.ts'
import type { CopySink } from '#journal/journal-copier.ts'
import { copyLimits } from '#journal/format/limits.ts'
import { findMoment, segmentsIn } from '#journal/moment.ts'
import { frame, frameJson, magic, RecordKind } from '#journal/format/records.ts'
import type { SegmentHead } from '#journal/format/records.ts'
import { segmentFiles } from '#journal/segment-files.ts'
import { readPart, storePart } from '#journal/segment-part.ts'
import { pool } from '#test/support/bundle-models.ts'
import { journalEpochMs, journalModel, JournalScene } from '#test/support/journal-scene.ts'
import { MemoryJournals } from '#test/support/memory-journals.ts'

const scenes: JournalScene[] = []
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.remove()
})

const hourMs = 3_600_000

function copied() {
  const scene = new JournalScene()
  scenes.push(scene)
  const journals = new MemoryJournals()
  const state = { isAway: false, hasNone: false, journals }
  const lines: string[] = []
  const sink: CopySink = {
    add: async (part) => {
      if (state.isAway) return err({ code: 'away', message: 'the database is away' })
      if (state.hasNone) return err({ code: 'absent', message: 'there is no database yet' })
      const stored = await storePart(state.journals, part, scene.time.clock.nowMs())
      if (!stored.ok) return err({ code: 'refused', message: stored.error })
      return stored.value.ok ? ok(stored.value.value) : err({ code: 'away', message: '' })
    },
  }
  const note = (_fields: object, message: string): void => void lines.push(message)
  const log = { info: note, warn: note, error: note }
  const open = (): JournalCopier =>
    new JournalCopier({ directory: scene.directory, sink, clock: scene.time.clock, log })
  return { scene, journals, state, lines, open, copier: open() }
}
type Copied = ReturnType<typeof copied>

/** Hours in which a member goes down and up; each has a segment of its own. */
async function pass({ scene }: Copied, hours: number): Promise<void> {
  for (let i = 0; i < hours; i++) {
    scene.time.pass(hourMs / 2)
    scene.flip(i % 6)
    scene.time.pass(hourMs / 2 + 5_000)
    await scene.journal.flush()
  }
}

/** As the files have it, and as the copy has it. */
async function both({ scene, journals }: Copied, atMs: number) {
  await scene.journal.flush()
  const stored = await storedSegments(journals, 'n1', atMs)
  const segments = stored.ok ? stored.value.map((one) => Buffer.from(one)) : []
  return [findMoment(segmentsIn(scene.directory), atMs), findMoment(segments, atMs)] as const
}

describe('a journal that is copied', () => {
  test('says of each instant what its files say, with few segments read', async () => {
    const all = copied()
    const { scene, journals, copier } = all
    scene.swap(journalModel('a'))
    await pass(all, 5)
    await copier.look()
    scene.swap(journalModel('b'))
    await pass(all, 3)
    await copier.look()
    expect(segmentFiles(scene.directory).length).toBeGreaterThan(6)
    for (let atMs = journalEpochMs - hourMs; atMs < scene.time.clock.nowMs(); atMs += 777_777) {
      const [here, there] = await both(all, atMs)
      expect(there).toEqual(here)
      const read = await storedSegments(journals, 'n1', atMs)
      expect(read.ok && read.value.length).toBeLessThan(6)
    }
    expect(copier.status()).toMatchObject({ error: null, segmentsBehind: 1, refused: 0 })
  })

  test('is made up for when the database was away, and the log says so twice', async () => {
    const all = copied()
    const { scene, state, lines, copier } = all
    scene.swap(journalModel('a'))
    await pass(all, 1)
    state.isAway = true
    for (let i = 0; i < 20; i++) {
      await copier.look()
      await pass(all, 1)
    }
    expect(copier.status()).toMatchObject({ error: 'the database is away' })
    expect((await both(all, scene.time.clock.nowMs() - hourMs))[1]).toMatchObject({ kind: 'gap' })
    state.isAway = false
    scene.time.pass(copyLimits.retryMsMax)
    await copier.look()
    const [here, there] = await both(all, scene.time.clock.nowMs() - hourMs)
    expect(there).toEqual(here)
    expect(lines).toEqual([
      expect.stringContaining('the database is away; it is made up for later'),
      'the journal is copied again',
    ])
  })

  test('is told soon to a control node that has a database now, without a word', async () => {
    const all = copied()
    const { scene, state, lines, copier } = all
    scene.swap(journalModel('a'))
    await pass(all, 1)
    state.hasNone = true
    await copier.look()
    state.hasNone = false
    scene.time.pass(copyLimits.retryMs)
    await copier.look()
    const [here, there] = await both(all, scene.time.clock.nowMs() - hourMs / 2)
    expect([there, lines]).toEqual([here, []])
    expect(copier.status().copiedBytes).toBeGreaterThan(0)
  })

  test('has a gap for records that went from the disk meanwhile', async () => {
    const all = copied()
    const { scene, state, copier } = all
    scene.swap(journalModel('a'))
    await pass(all, 1)
    await copier.look()
    state.isAway = true
    await pass(all, 4)
    for (const { path } of segmentFiles(scene.directory).slice(1, 3)) rmSync(path)
    state.isAway = false
    await copier.look()
    const [, there] = await both(all, journalEpochMs + 2.4 * hourMs)
    expect(there).toMatchObject({ kind: 'gap', why: 'unknown' })
    const ends = there.kind === 'gap' ? [there.endMs!, there.beginMs!] : []
    expect(ends[0]).toBeGreaterThan(journalEpochMs + 0.9 * hourMs)
    expect(ends[1]).toBeLessThan(journalEpochMs + 3.1 * hourMs)
    const after = await both(all, journalEpochMs + 3.5 * hourMs)
    expect(after[1]).toMatchObject({ kind: 'moment' })
  })

  test('a process that starts again sends nothing twice', async () => {
    const all = copied()
    all.scene.swap(journalModel('a'))
    await pass(all, 4)
    await all.copier.look()
    const { added } = all.journals
    expect(added).toBeGreaterThan(3)
    await all.open().look()
    expect(all.journals.added).toBe(added)
  })

  test('is sent from the beginning of the segment to a new node', async () => {
    const all = copied()
    const { scene, copier, state } = all
    scene.swap(journalModel('a'))
    await scene.journal.flush()
    await copier.look()
    const other = new MemoryJournals()
    state.journals = other
    scene.flip(1)
    await scene.journal.flush()
    await copier.look()
    const [here, there] = await both({ ...all, journals: other }, scene.time.clock.nowMs())
    expect(there).toEqual(here)
    // And the first one again from where it was.
    const { added } = all.journals
    state.journals = all.journals
    scene.flip(2)
    await scene.journal.flush()
    await copier.look()
    const [, again] = await both(all, scene.time.clock.nowMs())
    expect(again).toMatchObject({ kind: 'moment' })
    expect(all.journals.added).toBe(added + 1)
    expect(copier.status()).toMatchObject({ error: null, refused: 0 })
  })

  test('gives up a segment that is removed there each time', async () => {
    const all = copied()
    const { scene, journals, lines, copier } = all
    scene.swap(journalModel('a'))
    for (let i = 0; i < 20; i++) {
      journals.remove(1)
      scene.flip(1)
      await scene.journal.flush()
      await copier.look()
    }
    expect(journals.added).toBe(copyLimits.backMax + 1)
    expect(copier.status()).toMatchObject({ error: null, refused: 1 })
    expect(lines).toHaveLength(1)
    // The next segment goes its way.
    const { added } = journals
    await pass(all, 2)
    await copier.look()
    expect(journals.added).toBeGreaterThan(added)
  })

  test('has all whole records of a file that was cut in the middle', async () => {
    const all = copied()
    const { scene, copier } = all
    scene.swap(journalModel('a'))
    await pass(all, 2)
    const [first] = segmentFiles(scene.directory)
    truncateSync(first!.path, readFileSync(first!.path).length - 3)
    await copier.look()
    const [here, there] = await both(all, journalEpochMs + hourMs / 4)
    expect(there).toEqual(here)
    expect(there).toMatchObject({ kind: 'moment' })
  })

  test('a record that is longer than a part travels whole', async () => {
    const all = copied()
    const { scene, journals, copier } = all
    scene.swap(journalModel('a'))
    await pass(all, 1)
    const members = Array.from({ length: 1_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
    const pools = Array.from({ length: 40 }, (_, i) => pool(i + 1, members))
    const large = (commit: string) => journalModel(commit, { pools, services: [] })
    scene.swap(large('a large one'))
    scene.state!.memberScore.fill(0.5)
    scene.swap(large('another large one'))
    await scene.journal.flush()
    await copier.look()
    await copier.look()
    const [here, there] = await both(all, scene.time.clock.nowMs())
    expect(there).toEqual(here)
    expect(journals.added).toBeGreaterThan(2)
  })
})

const run = '01234567-89ab-cdef-0123-456789abcdef'
const times = { wallMs: 1_000.5, monotonicMs: 1 }
const head: SegmentHead = { format: 1, node: 'n1', version: '0', run, why: 'started' }
const first = frameJson(RecordKind.Head, times, head)
const alive = (wallMs: number): Buffer =>
  frame(RecordKind.Alive, { wallMs, monotonicMs: 2 }, Buffer.alloc(0))
const part = (at: number, ...octets: readonly Uint8Array[]) => ({
  ...{ node: 'n1', run, number: 1, at },
  octets: Buffer.concat(octets),
})

describe('a part of a journal', () => {
  test('has whole records, from the beginning of a segment or from within it', () => {
    const whole = { fromMs: 1_000, toMs: 2_000, hasSwap: false }
    expect(readPart(part(0, magic, first, alive(2_000)))).toEqual(ok(whole))
    expect(readPart(part(99, alive(2_000)))).toEqual(ok({ ...whole, fromMs: 2_000 }))
  })

  const damaged = Buffer.from(alive(2_000))
  damaged[20]! ^= 1
  test.each([
    ['no octets', part(5)],
    ['no beginning', part(0, first)],
    ['cut in a record', part(0, magic, first, alive(1).subarray(0, 20))],
    ['a damaged record', part(9, alive(1), damaged, alive(2))],
    ['what is no journal', part(0, Buffer.from('GET / HTTP/1.1'))],
    ['a length beyond all limits', part(9, Buffer.alloc(40, 255))],
    ['no head', part(0, magic, alive(1))],
    ['a head that is no JSON', part(0, magic, frame(1, times, Buffer.from('{')))],
    ['the journal of another node', { ...part(0, magic, first), node: 'n2' }],
    ['another process', { ...part(0, magic, first), run: run.replace('0', '1') }],
  ])('is refused with %s', (_what, bad) => {
    expect(readPart(bad)).toMatchObject({ ok: false })
  })

  test.each([1e300, -1e300, 8.64e15 + 1])('from a clock that says %s is accepted', (wallMs) => {
    const read = readPart(part(9, alive(wallMs)))
    expect(read.ok && Number.isSafeInteger(read.value.toMs)).toBe(true)
  })
})

// Tests a node's journal: its records, and the records found for an instant.
import { open } from 'node:fs/promises'
import {
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { journalLimits } from '#journal/format/limits.ts'
import { frame, magic, readRecords, RecordKind } from '#journal/format/records.ts'
import { findMoment, segmentsIn } from '#journal/moment.ts'
import type { Gap, Moment } from '#journal/moment.ts'
import { openSegment, segmentFiles, segmentPath } from '#journal/segment-files.ts'
import { journalEpochMs, journalModel, JournalScene } from '#test/support/journal-scene.ts'

const scenes: JournalScene[] = []
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.remove()
})

function sceneWith(...parts: ConstructorParameters<typeof JournalScene>): JournalScene {
  const scene = new JournalScene(...parts)
  scenes.push(scene)
  return scene
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

describe('a journal', () => {
  test('has the state of each instant, with the lists as they were', async () => {
    const scene = sceneWith()
    scene.swap(journalModel('a'))
    const copies = [[scene.time.clock.nowMs(), scene.copy()] as const]
    const note = (): void => void copies.push([scene.time.clock.nowMs(), scene.copy()])
    scene.time.pass(400)
    scene.flip(1)
    note()
    scene.time.pass(3)
    scene.change(0, (state) => (state.memberWeight[0] = 7))
    note()
    scene.time.pass(10_000)
    scene.change(4, (state) => (state.memberScore[4] = 0.25), false)
    note()
    scene.time.pass(250)
    scene.change(4, () => undefined)
    note()
    scene.time.pass(hourMs)
    scene.swap(journalModel('b'))
    note()
    scene.time.pass(1)
    scene.flip(1)
    note()
    for (const [atMs, copy] of copies) expect(await scene.at(atMs)).toEqual(copy)
    // A moment before each, what was before.
    for (const [i, [atMs]] of copies.entries()) {
      if (i > 0) expect(await scene.at(atMs - 1)).toEqual(copies[i - 1]![1])
    }
  })

  test('from an older version is read, past records of unknown kinds', async () => {
    const scene = sceneWith()
    scene.swap(journalModel('a'))
    for (const member of [0, 1, 0]) {
      scene.time.pass(500)
      scene.flip(member)
      scene.time.pass(2_000)
      await scene.journal.flush()
    }
    const [file] = segmentsIn(scene.directory)
    const { records } = readRecords(file!)
    const older = records.flatMap((one) =>
      [one.kind, ...(one.kind === RecordKind.Changes ? [8, 9] : [])].map((kind) =>
        frame(kind as RecordKind, one, one.payload),
      ),
    )
    const withOlder = Buffer.concat([magic, ...older])
    expect(withOlder.length).toBeGreaterThan(file!.length)
    for (let ms = 0; ms < 70_000; ms += 250) {
      const atMs = journalEpochMs + ms
      expect(findMoment([withOlder], atMs)).toEqual(findMoment([file!], atMs))
    }
  })

  test('says since when a bundle answered, and from which commit, over segments', async () => {
    const scene = sceneWith()
    scene.swap(journalModel('a'))
    for (let hour = 0; hour < 4; hour++) {
      scene.time.pass(hourMs)
      await scene.journal.flush()
    }
    expect(segmentFiles(scene.directory).length).toBeGreaterThan(2)
    const found = (await scene.find(journalEpochMs + 3.5 * hourMs)) as Moment
    expect(found.generation.commit).toBe('a')
    expect(found.sinceMs).toBe(journalEpochMs)
    expect(found.segment.node).toBe('n1')
  })

  test('knows which bundle not all threads had yet', async () => {
    const scene = sceneWith()
    scene.swap(journalModel('a'))
    scene.time.pass(minuteMs)
    const { bundle, state } = scene
    scene.journal.serves({ digest: bundle!.digest, commit: 'b', seq: 2 }, bundle!, state!)
    const swapMs = scene.time.clock.nowMs()
    scene.time.pass(20)
    scene.journal.settled()
    scene.time.pass(20)
    expect(((await scene.find(swapMs + 10)) as Moment).before?.commit).toBe('a')
    expect(((await scene.find(swapMs + 20)) as Moment).before).toBeNull()
  })

  test('writes no round trip that moves a little, and each that comes or goes', async () => {
    const scene = sceneWith()
    scene.swap(journalModel('a'))
    const rtts = [0, 10, 10.4, 10.1, 12, 11.9, 0]
    const kept = [0, 10, 10, 10, 12, 12, 0]
    for (const rttMs of rtts) {
      scene.change(2, (state) => (state.memberRttMs[2] = rttMs), false)
      scene.time.pass(10)
    }
    for (const [i, rttMs] of kept.entries()) {
      const found = await scene.at(journalEpochMs + i * 10)
      expect(found).toHaveProperty(['rttMs', 2], rttMs)
    }
  })

  test('has nothing about a state that does not answer yet', async () => {
    const scene = sceneWith()
    scene.swap(journalModel('a'))
    const before = scene.copy()
    const { state } = scene
    scene.journal.poolChanged({ ...state! }, 0, true)
    scene.time.pass(10)
    expect(await scene.at(journalEpochMs + 10)).toEqual(before)
  })

  test('forgets the oldest segments by age, past a file in which nothing stands', async () => {
    const scene = sceneWith({ ageMaxMs: 2 * hourMs })
    scene.swap(journalModel('a'))
    for (let hours = 0; hours < 6; hours++) {
      scene.time.pass(hourMs)
      await scene.journal.flush()
      // As a process leaves it that is killed before it has written.
      const { number } = segmentFiles(scene.directory).at(-1)!
      writeFileSync(segmentPath(scene.directory, number + 1), '')
    }
    const gap = (await scene.find(journalEpochMs + hourMs)) as Gap
    expect([gap.kind, gap.endMs]).toEqual(['gap', null])
    expect((await scene.find(journalEpochMs + 5 * hourMs)).kind).toBe('moment')
  })

  test('looks at nothing but files: not at devices and directories of such names', async () => {
    const scene = sceneWith({ ageMaxMs: 2 * hourMs })
    scene.swap(journalModel('a'))
    await scene.journal.flush()
    mkdirSync(join(scene.directory, '00000000.journal'))
    symlinkSync('/dev/zero', join(scene.directory, '00009999.journal'))
    for (let hours = 0; hours < 6; hours++) {
      scene.time.pass(hourMs)
      await scene.journal.flush()
    }
    expect(scene.journal.status().error).toBeNull()
    expect((await scene.find(journalEpochMs + 5 * hourMs)).kind).toBe('moment')
  })

  test('forgets the oldest segments by octets', async () => {
    const scene = sceneWith({ bytesMax: 300_000 })
    scene.swap(journalModel('a'))
    for (let i = 0; i < 120; i++) {
      for (let flips = 0; flips < 2_000; flips++) scene.flip(flips % 6)
      scene.time.pass(1_000)
      await scene.journal.flush()
    }
    const sizes = segmentFiles(scene.directory).map(({ path }) => statSync(path).size)
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    expect(bytes).toBeLessThan(300_000 + 3 * journalLimits.segmentBytesMin)
    expect(bytes).toBeGreaterThan(150_000)
    const gap = (await scene.find(journalEpochMs + 500)) as Gap
    expect([gap.kind, gap.endMs]).toEqual(['gap', null])
    expect(gap.beginMs).toBeGreaterThan(journalEpochMs)
  })
})

describe('a journal whose clock is set', () => {
  test('to the future has later records of the right time all the same', async () => {
    const scene = sceneWith()
    scene.swap(journalModel('a'))
    scene.time.pass(minuteMs)
    scene.time.jump(3 * 365 * 24 * hourMs)
    scene.flip(0)
    const future = scene.copy()
    const futureMs = scene.time.clock.nowMs()
    scene.time.pass(minuteMs)
    scene.time.jump(-3 * 365 * 24 * hourMs)
    scene.flip(1)
    const later = scene.copy()
    const laterMs = scene.time.clock.nowMs()
    scene.time.pass(minuteMs)
    expect(await scene.at(laterMs)).toEqual(later)
    expect(await scene.at(laterMs + 30_000)).toEqual(later)
    expect(await scene.at(futureMs + 30_000)).toEqual(future)
    // In between nothing happened, whatever the clock has leapt over.
    expect(await scene.at(futureMs - 24 * hourMs)).toBe('unknown')
  })

  test('back says of an instant that came twice what held the second time', async () => {
    const scene = sceneWith()
    scene.swap(journalModel('a'))
    scene.time.pass(10 * minuteMs)
    scene.flip(0)
    scene.time.pass(10 * minuteMs)
    scene.time.jump(-15 * minuteMs)
    scene.flip(1)
    const second = scene.copy()
    scene.time.pass(hourMs)
    const found = (await scene.find(journalEpochMs + 12 * minuteMs)) as Moment
    expect(scene.replayed(found)).toEqual(second)
    expect(found.isRepeated).toBe(true)
  })
})

describe('a journal that ends', () => {
  test('with its process says that the node was down until the next one', async () => {
    const scene = sceneWith()
    scene.swap(journalModel('a'))
    scene.time.pass(minuteMs)
    await scene.journal.stop()
    scene.time.pass(hourMs)
    scene.open()
    scene.swap(journalModel('b'))
    scene.time.pass(minuteMs)
    const gap = (await scene.find(journalEpochMs + 30 * minuteMs)) as Gap
    expect(gap).toEqual({
      ...{ kind: 'gap', why: 'stopped', reason: '' },
      endMs: journalEpochMs + minuteMs,
      beginMs: journalEpochMs + minuteMs + hourMs,
    })
    expect(await scene.at(journalEpochMs - 1)).toBe('unknown')
    expect(await scene.at(journalEpochMs + 10 * hourMs)).toBe('unknown')
  })

  test('where it was cut has all that was written before', async () => {
    const scene = sceneWith()
    scene.swap(journalModel('a'))
    const copies = []
    for (let i = 0; i < 20; i++) {
      scene.time.pass(1_000)
      scene.flip(i % 6)
      copies.push(scene.copy())
    }
    await scene.journal.stop()
    const { path } = segmentFiles(scene.directory)[0]!
    truncateSync(path, statSync(path).size - 100)
    const known = await Promise.all(
      copies.map((_, i) => scene.at(journalEpochMs + (i + 1) * 1_000)),
    )
    const cut = known.indexOf('unknown')
    expect(cut).toBeGreaterThan(10)
    expect(known.slice(0, cut)).toEqual(copies.slice(0, cut))
    expect(new Set(known.slice(cut))).toEqual(new Set(['unknown']))
  })

  test('where an octet is another one loses what follows in that segment alone', async () => {
    const scene = sceneWith()
    scene.swap(journalModel('a'))
    scene.time.pass(hourMs)
    await scene.journal.flush()
    scene.flip(0)
    const later = scene.copy()
    scene.time.pass(minuteMs)
    await scene.journal.flush()
    const { path } = segmentFiles(scene.directory)[0]!
    const octets = readFileSync(path)
    octets[Math.floor(octets.length / 2)]! ^= 1
    writeFileSync(path, octets)
    expect(await scene.at(journalEpochMs + hourMs - 1)).toBe('unknown')
    expect(await scene.at(journalEpochMs + hourMs)).toEqual(later)
  })
})

describe('a journal on a full disk', () => {
  test('ends, says so once, and goes on when there is room', async () => {
    let isFull = false
    // A device that is always full: the kernel's own ENOSPC.
    const scene = sceneWith({
      openSegment: async (path) => {
        const real = await openSegment(path)
        const full = await open('/dev/full', 'w')
        return {
          append: (octets) => (isFull ? full.appendFile(octets) : real.append(octets)),
          close: async () => {
            await full.close()
            await real.close()
          },
        }
      },
    })
    scene.swap(journalModel('a'))
    scene.time.pass(minuteMs)
    const before = scene.copy()
    await scene.journal.flush()
    isFull = true
    scene.flip(0)
    await scene.journal.flush()
    expect(scene.journal.status()).toMatchObject({
      error: expect.stringContaining('ENOSPC') as string,
      errorSinceMs: journalEpochMs + minuteMs,
    })
    for (let i = 0; i < 10; i++) {
      scene.time.pass(minuteMs)
      scene.flip(1)
      await scene.journal.flush()
    }
    expect(segmentFiles(scene.directory)).toHaveLength(1)
    isFull = false
    scene.time.pass(2 * minuteMs)
    scene.flip(2)
    await scene.journal.flush()
    const after = scene.copy()
    expect(scene.journal.status()).toMatchObject({ error: null, errorSinceMs: null })
    expect(scene.lines.map((line) => line.split(':')[0])).toEqual([
      'the journal has ended',
      'the journal goes on',
    ])
    expect(await scene.at(journalEpochMs + minuteMs - 1)).toEqual(before)
    const gap = (await scene.find(journalEpochMs + 5 * minuteMs)) as Gap
    expect([gap.why, gap.reason.split(':')[0]]).toEqual(['lost', 'ENOSPC'])
    expect(await scene.at(journalEpochMs + 13 * minuteMs)).toEqual(after)
  })

  test('takes a state that is larger than what may wait', async () => {
    const scene = sceneWith({ queueBytesMax: 200 })
    scene.swap(journalModel('a'))
    expect(scene.journal.status().losses).toBe(0)
    await scene.journal.flush()
    expect(await scene.at(scene.time.clock.nowMs())).toEqual(scene.copy())
  })

  test('keeps a bounded queue in memory, whatever happens meanwhile', async () => {
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const scene = sceneWith({
      queueBytesMax: 20_000,
      openSegment: async (path) => {
        const real = await openSegment(path)
        return { append: (octets) => held.then(() => real.append(octets)), close: real.close }
      },
    })
    scene.swap(journalModel('a'))
    scene.time.pass(1_000)
    for (let i = 0; i < 100; i++) {
      for (let flips = 0; flips < 100; flips++) scene.flip(flips % 6)
      scene.time.pass(1_000)
    }
    release()
    expect(scene.journal.status().losses).toBeGreaterThan(0)
    await scene.journal.flush()
    scene.time.pass(2_000)
    await scene.journal.flush()
    expect(await scene.at(scene.time.clock.nowMs())).toEqual(scene.copy())
  })
})

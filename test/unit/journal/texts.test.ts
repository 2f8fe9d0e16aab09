// TXT records written at run time, in a journal: those that were answered at each instant, with who
// wrote them, or why they are not known.
import { statSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { OctetReader, OctetWriter } from '#journal/format/octets.ts'
import { openSegment, segmentFiles } from '#journal/segment-files.ts'
import { TextMark, TextReader, TextWriter } from '#journal/sides/text-entries.ts'
import { dynamicDnsLimits } from '#state/ports/dynamic-dns.ts'
import type { StoredTxtRecord } from '#state/ports/dynamic-dns.ts'
import { journalEpochMs, journalModel, JournalScene } from '#test/support/journal-scene.ts'
import { storedTxt } from '#test/support/txt-records.ts'

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

const record = (name: string, more: Partial<StoredTxtRecord> = {}): StoredTxtRecord => ({
  ...storedTxt([`${name}.test.`, 'token']),
  ...more,
})
const idOf = (name: string): string => `${name}.test. token`

async function textsAt(scene: JournalScene, atMs: number) {
  const found = await scene.at(atMs)
  return typeof found === 'string' ? found : found.texts
}

describe('TXT records written at run time', () => {
  test('are there as they were at each instant, with who wrote them and when', async () => {
    const scene = sceneWith()
    const copies: (readonly [number, unknown])[] = []
    const note = (): void => void copies.push([scene.time.clock.nowMs(), scene.copy()])
    note()
    for (let i = 0; i < 40; i++) {
      scene.time.pass(1 + ((i * 37) % 300))
      const by = { tenantId: i % 2 === 0 ? 'acme' : 'zenith', writtenBy: `key:k${i % 3}.` }
      if (i % 4 === 0) scene.flip(i % 6)
      else if (i % 4 === 1) scene.measure(i % 5, i % 6, i)
      else if (i < 20) scene.write([record(`n${i}`, { ...by, createdAtMs: 1e12 + i })])
      else scene.write([], [idOf(`n${i - 16}`)])
      note()
    }
    for (const [atMs, copy] of copies) expect(await scene.at(atMs)).toEqual(copy)
    for (const [i, [atMs]] of copies.entries()) {
      if (i > 0) expect(await scene.at(atMs - 1)).toEqual(copies[i - 1]![1])
    }
  })

  test('count from when they are answered, which is later than they are stored', async () => {
    const scene = sceneWith()
    scene.time.pass(1_000)
    const first = scene.changeTexts([record('a')])
    const second = scene.changeTexts([record('b')], [idOf('a')])
    scene.time.pass(1_000)
    first()
    scene.time.pass(1_000)
    second()
    scene.time.pass(1_000)
    const named = async (atMs: number) =>
      [...(await textsAt(scene, journalEpochMs + atMs))].map(
        (text) => /"(\w)\.test\."/.exec(text)?.[1],
      )
    expect(await named(1_999)).toEqual([])
    expect(await named(2_000)).toEqual(['a'])
    expect(await named(2_999)).toEqual(['a'])
    expect(await named(3_000)).toEqual(['b'])
  })

  test('that nobody hands out for long wait as one change', async () => {
    const scene = sceneWith()
    let last = (): void => undefined
    for (let i = 0; i < 3_000; i++) {
      const removed = i < 10 ? [] : [idOf(`n${i - 10}`)]
      const earlier = last
      const take = scene.changeTexts([record(`n${i}`)], removed)
      last = i < 2_999 ? earlier : take
      if (i === 2_999) last = take
    }
    last()
    const atMs = scene.time.clock.nowMs()
    scene.time.pass(1_000)
    expect(await textsAt(scene, atMs)).toHaveLength(10)
  })

  test('are none where they cannot be encoded, and all of them afterwards', async () => {
    const scene = sceneWith()
    scene.write([record('a')])
    scene.time.pass(1_000)
    const before = scene.copy().texts
    scene.journal.texts?.served(null)
    scene.time.pass(1_000)
    scene.write([record('b')])
    const after = scene.copy().texts
    scene.time.pass(1_000)
    expect(await textsAt(scene, journalEpochMs + 500)).toEqual(before)
    expect(await textsAt(scene, journalEpochMs + 1_500)).toEqual([])
    expect(await textsAt(scene, journalEpochMs + 2_500)).toEqual(after)
  })

  test('are in each segment, over a swap, and not known beyond the room of a day', async () => {
    const scene = sceneWith()
    scene.write([record('a'), record('b')])
    scene.swap(journalModel('b'))
    const copy = scene.copy()
    scene.time.pass(2.5 * hourMs)
    await scene.journal.flush()
    expect(segmentFiles(scene.directory).length).toBeGreaterThan(2)
    for (const hours of [0.5, 1.5, 2.4]) {
      expect(await scene.at(journalEpochMs + hours * hourMs)).toEqual(copy)
    }
    // 1,666 octets a day are for them.
    const small = sceneWith({ bytesMax: 400_000, ageMaxMs: 30 * dayMs })
    for (let i = 0; i < 100; i++) small.write([record(`n${i}`)])
    // What was written until then is known.
    small.time.pass(1_000)
    expect(await textsAt(small, small.time.clock.nowMs() - 1)).toHaveLength(100)
    expect(await textsAt(small, small.time.clock.nowMs())).toBe('limit')
    expect(small.lines).toEqual([expect.stringContaining('leaves out TXT records written')])
    small.write(
      [],
      Array.from({ length: 99 }, (_, i) => idOf(`n${i}`)),
    )
    small.time.pass(6 * dayMs)
    await small.journal.flush()
    expect(await textsAt(small, small.time.clock.nowMs())).toEqual(small.copy().texts)
    const sizes = segmentFiles(small.directory).map(({ path }) => statSync(path).size)
    expect(Math.max(...sizes)).toBeLessThan(20_000)
  })

  test('and what browsers measured are whole again after a disk that was full', async () => {
    let isFull = false
    const scene = sceneWith({
      openSegment: async (path) => {
        const real = await openSegment(path)
        const append: typeof real.append = async (octets) => {
          if (isFull) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })
          await real.append(octets)
        }
        return { append, close: real.close }
      },
    })
    scene.write([record('a')])
    scene.measure(1, 0, 20)
    scene.time.pass(2_000)
    await scene.journal.flush()
    isFull = true
    scene.write([record('b')], [idOf('a')])
    scene.measure(1, 0, 60)
    scene.time.pass(20_000)
    await scene.journal.flush()
    const fullMs = scene.time.clock.nowMs()
    scene.measure(2, 0, 60)
    isFull = false
    for (let i = 0; i < 20; i++) {
      scene.time.pass(1_000)
      await scene.journal.flush()
    }
    expect(await scene.at(fullMs)).toBe('lost')
    expect(await scene.at(scene.time.clock.nowMs() - 1)).toEqual(scene.copy())
  })

  test('are not in a journal of an older version', async () => {
    const scene = new JournalScene()
    scenes.push(scene)
    await scene.journal.stop()
    scene.openOlder()
    scene.swap(journalModel('a'))
    scene.time.pass(1_000)
    expect(await textsAt(scene, journalEpochMs + 500)).toBe('older')
  })
})

describe('entries of TXT records that a stranger may have written', () => {
  const read = (...records: readonly StoredTxtRecord[]): TextReader['standing'] => {
    const to = new OctetWriter()
    const writer = new TextWriter()
    writer.mark(to, TextMark.Begin)
    for (const one of records) writer.add(to, one)
    writer.mark(to, TextMark.Whole)
    const reader = new TextReader()
    reader.follow(new OctetReader(to.take()), Infinity)
    return reader.standing
  }
  const base64 = (octets: readonly number[]): string => Buffer.from(octets).toString('base64')

  test.each<readonly [string, Partial<StoredTxtRecord>, string]>([
    ['a good one', {}, 'whole'],
    ['a wildcard', { name: '*.test.' }, 'whole'],
    ['no name', { name: 'a..test.' }, 'bad'],
    ['a name in capitals', { name: 'A.test.' }, 'bad'],
    ['no data', { rdata: '' }, 'bad'],
    ['a string that is cut', { rdata: base64([5, 1, 2]) }, 'bad'],
    ['too much data', { rdata: base64(Array<number>(4_100).fill(0)) }, 'bad'],
    ['a TTL of 33 bits', { ttlSeconds: 2 ** 32 }, 'bad'],
  ])('%s', (_, more, standing) => expect(read(record('a', more))).toBe(standing))

  test('more than a store has is refused', () => {
    const one = record('a')
    const { recordsMax } = dynamicDnsLimits
    expect(read(...Array.from({ length: recordsMax }, () => one))).toBe('whole')
    expect(read(...Array.from({ length: recordsMax + 1 }, () => one))).toBe('bad')
  })
})

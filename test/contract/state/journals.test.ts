import { describe, expect, test } from 'vitest'
import { storedSegments } from '#questions/past/stored-segments.ts'
import { err } from '#lib/result.ts'
import { JournalCopier } from '#journal/journal-copier.ts'
import type { CopySink } from '#journal/journal-copier.ts'
import { findMoment } from '#journal/moment.ts'
import { storePart } from '#journal/segment-part.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { journalModel, JournalScene } from '#test/support/journal-scene.ts'
import type { StateCopy } from '#test/support/journal-scene.ts'
import { journalCopyLimits } from '#state/ports/journals.ts'
import type { SegmentPart } from '#state/ports/journals.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

const octets = (text: string): Uint8Array => Buffer.from(text)
const part = (more: Partial<SegmentPart> = {}): SegmentPart => ({
  ...{ node: 'fra1', run: 'r1', number: 1, at: 0, octets: octets('one') },
  ...{ fromMs: 1_000, toMs: 2_000, hasSwap: false, storedMs: 10_000 },
  ...more,
})

/** What a node writes in two hours. */
async function recorded(scene: JournalScene) {
  scene.swap(journalModel('a'))
  const copies: (readonly [number, StateCopy])[] = []
  for (let i = 0; i < 80; i++) {
    scene.flip(i % 6)
    copies.push([scene.time.clock.nowMs(), scene.copy()])
    scene.time.pass(90_000)
    await scene.journal.flush()
  }
  return copies
}

describe.each(persistentAdapters)('journals of nodes in %s', (_name, adapter) => {
  const state = useState(adapter)
  const append = async (more?: Partial<SegmentPart>) => valueOf(state().journals.append(part(more)))
  const textOf = async (number = 1, run = 'r1', node = 'fra1') =>
    Buffer.from(await valueOf(state().journals.octetsOf({ node, run, number }))).toString('latin1')
  const numbersOf = async (node = 'fra1') =>
    (await valueOf(state().journals.segmentsOf(node))).map(({ number }) => number)

  test('a segment grows by what follows its end, and by nothing else', async () => {
    expect(await append({ octets: octets('') })).toBe(0)
    expect(await append()).toBe(3)
    expect(await append()).toBe(3)
    expect(await append({ at: 7, octets: octets('gap') })).toBe(3)
    const more = { at: 3, octets: Uint8Array.of(0, 255, 39, 92), fromMs: 500, toMs: 900 }
    expect(await append({ ...more, hasSwap: true, storedMs: 11_000 })).toBe(7)
    expect(await textOf()).toBe("one\x00\xff'\\")
    expect(await valueOf(state().journals.segmentsOf('fra1'))).toEqual([
      { run: 'r1', number: 1, bytes: 7, fromMs: 500, toMs: 2_000, hasSwap: true },
    ])
    expect(await textOf(2)).toBe('')
  })

  test('have parts added by two processes at once only once', async () => {
    expect(await Promise.all([append(), append()])).toEqual([3, 3])
    const both = { at: 3, octets: octets('two') }
    await Promise.all([append(both), append(both)])
    expect(await textOf()).toBe('onetwo')
  })

  test('many small parts become few rows, and long ones stay whole', async () => {
    let at = 0
    const texts: string[] = []
    for (let i = 0; i < 30; i++) {
      const text = String.fromCharCode(97 + (i % 26)).repeat(i % 7 === 6 ? 40_000 : 3_000)
      texts.push(text)
      at = await append({ at, octets: octets(text) })
    }
    expect(await textOf()).toBe(texts.join(''))
    const rows = await valueOf(
      state().sql.repeatable((db) => db.selectFrom('journal_parts').select('at_byte').execute()),
    )
    expect(rows.length).toBeLessThan(14)
  })

  test('segments come by process, the newest first, and nodes with their times', async () => {
    await append({ run: 'a', number: 9, fromMs: 100, toMs: 200 })
    await append({ run: 'b', number: 1, fromMs: 300, toMs: 900 })
    // The clock was set back between them.
    await append({ run: 'b', number: 2, fromMs: 250, toMs: 280 })
    await append({ node: 'ams1', number: 4, fromMs: 5, toMs: 6 })
    expect(await numbersOf()).toEqual([2, 1, 9])
    expect(await numbersOf('none')).toEqual([])
    expect(await valueOf(state().journals.nodes())).toEqual([
      { node: 'ams1', fromMs: 5, toMs: 6, bytes: 3 },
      { node: 'fra1', fromMs: 100, toMs: 900, bytes: 9 },
    ])
  })

  test('lose old and surplus segments of a node, or of all, with their octets', async () => {
    for (const number of [1, 2, 3, 4]) {
      await append({ number, toMs: number * 1_000, storedMs: 10_000 + number })
      await append({ node: 'ams1', number, toMs: number * 1_000, storedMs: 20_000 })
    }
    const kept = { sinceMs: 0, nodeBytesMax: 1e9, bytesMax: 1e9 }
    const prune = (more: object) => valueOf(state().journals.prune({ ...kept, ...more }))
    expect(await prune({})).toBe(0)
    expect(await prune({ sinceMs: 10_002 })).toBe(1)
    expect(await prune({ nodeBytesMax: 9 })).toBe(1)
    expect([await numbersOf(), await numbersOf('ams1')]).toEqual([
      [4, 3, 2],
      [4, 3, 2],
    ])
    expect(await prune({ bytesMax: 12 })).toBe(2)
    expect([await numbersOf(), await numbersOf('ams1')]).toEqual([
      [4, 3],
      [4, 3],
    ])
    // The newest one stays, however large it is.
    expect(await prune({ nodeBytesMax: 1 })).toBe(2)
    expect(await textOf(3)).toBe('')
    expect(await textOf(4)).toBe('one')
  })

  test('make room by the oldest segments of a node that restarts repeatedly', async () => {
    const { segmentsMax, segmentsKept } = journalCopyLimits
    const rows = Array.from({ length: segmentsMax }, (_, i) => ({
      ...{ node: 'fra1', run: `r${i}`, number: i, bytes: 3, has_swap: false },
      ...{ from_ms: i, to_ms: i, stored_ms: 10_000 },
    }))
    await valueOf(
      state().sql.repeatable((db) => db.insertInto('journal_segments').values(rows).execute()),
    )
    expect(await append({ number: segmentsMax })).toBe(0)
    const kept = { sinceMs: 0, nodeBytesMax: 1e9, bytesMax: 1e9 }
    expect(await valueOf(state().journals.prune(kept))).toBe(segmentsMax - segmentsKept)
    expect(await append({ number: segmentsMax, toMs: segmentsMax })).toBe(3)
    const numbers = await numbersOf()
    expect([numbers[0], numbers.at(-1)]).toEqual([segmentsMax, segmentsMax - segmentsKept])
  })

  test('a segment that would be longer than the limit stays as it is', async () => {
    expect(await append()).toBe(3)
    const { segmentBytesMax } = journalCopyLimits
    await valueOf(
      state().sql.repeatable((db) =>
        db.updateTable('journal_segments').set({ bytes: segmentBytesMax }).execute(),
      ),
    )
    expect(await append({ at: segmentBytesMax })).toBe(segmentBytesMax)
  })

  test('give back all that answers depend on as the node wrote it', async () => {
    const scene = new JournalScene()
    const copies = await recorded(scene)
    const add: CopySink['add'] = async (one) => {
      const stored = await storePart(state().journals, one, scene.time.clock.nowMs())
      const isStored = stored.ok && stored.value.ok
      return isStored ? stored.value : err({ code: 'refused', message: 'it is no journal' })
    }
    const { directory, time } = scene
    const copier = new JournalCopier({
      directory,
      sink: { add },
      clock: time.clock,
      log: silentLog,
    })
    await copier.look()
    expect(copier.status()).toMatchObject({ error: null, refused: 0 })
    for (const [atMs, copy] of copies) {
      const files = await storedSegments(state().journals, 'n1', atMs)
      expect(files.ok).toBe(true)
      const segments = files.ok ? files.value.map((one) => Buffer.from(one)) : []
      const found = findMoment(segments, atMs)
      expect(found.kind === 'moment' && scene.replayed(found)).toEqual(copy)
    }
    await scene.remove()
  })
})

// A journal against what it wrote down: any changes at any times, any clock, any damage.
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { adoptBundle } from '#bundle/load/load.ts'
import { frame, magic, readRecords, RecordKind } from '#journal/format/records.ts'
import { findMoment, segmentsIn } from '#journal/moment.ts'
import { replayState } from '#journal/replay.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { journalEpochMs, journalModel, JournalScene } from '#test/support/journal-scene.ts'
import { laneCount } from '#test/support/lane.ts'
import type { StateCopy } from '#test/support/journal-scene.ts'

/** What may happen to a node of six members, one after the other. */
const happening = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), member: fc.nat(5) }),
  fc.record({ kind: fc.constant('weight' as const), member: fc.nat(5), value: fc.nat(5_000) }),
  fc.record({ kind: fc.constant('out' as const), member: fc.nat(5), value: fc.nat(3) }),
  fc.record({ kind: fc.constant('score' as const), member: fc.nat(5), value: fc.nat(64) }),
  fc.record({ kind: fc.constant('serial' as const), value: fc.nat(0xffffffff) }),
  fc.record({ kind: fc.constant('swap' as const), value: fc.nat(3) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(2_000) }),
  fc.record({ kind: fc.constant('rest' as const), ms: fc.nat(5_000_000) }),
  fc.record({ kind: fc.constant('restart' as const) }),
)
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never

async function happens(scene: JournalScene, one: Happening): Promise<void> {
  switch (one.kind) {
    case 'flip':
      return scene.flip(one.member)
    case 'weight':
      return scene.change(one.member, (state) => (state.memberWeight[one.member] = one.value))
    case 'out':
      return scene.change(one.member, (state) => (state.memberOut[one.member] = one.value))
    case 'score': {
      const score = one.value / 64
      // The order follows later.
      scene.change(one.member, (state) => (state.memberScore[one.member] = score), false)
      scene.time.pass(one.value)
      return scene.change(one.member, () => undefined)
    }
    case 'serial':
      // A serial is looked at with each write.
      scene.state!.soaSerial[0] = one.value
      return scene.time.pass(1_000)
    case 'swap':
      return scene.swap(journalModel(`c${one.value}`))
    case 'wait':
    case 'rest':
      scene.time.pass(one.ms)
      return scene.journal.flush()
    case 'restart':
      await scene.journal.stop()
      scene.open()
      scene.swap(journalModel('restarted'))
  }
}

test('an instant has the state that it had, whatever happened before and after it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 60 }), async (happenings) => {
      const scene = new JournalScene({ segmentBytesMin: 400 })
      try {
        scene.swap(journalModel('first'))
        const copies: (readonly [number, StateCopy])[] = []
        for (const one of happenings) {
          await happens(scene, one)
          copies.push([scene.time.clock.nowMs(), scene.copy()])
          scene.time.pass(1)
        }
        await scene.journal.flush()
        for (const [atMs, copy] of copies) {
          const found = findMoment(segmentsIn(scene.directory), atMs)
          expect(found.kind === 'moment' && scene.replayed(found)).toEqual(copy)
        }
      } finally {
        await scene.remove()
      }
    }),
    { numRuns: laneCount(200, 20) },
  )
})

/** Whole journals, to be damaged. */
async function written(): Promise<Buffer> {
  const scene = new JournalScene()
  scene.swap(journalModel('a'))
  for (let i = 0; i < 50; i++) {
    scene.flip(i % 6)
    scene.time.pass(i * 37)
  }
  scene.swap(journalModel('b'))
  scene.time.pass(5_000)
  await scene.journal.flush()
  const [file] = segmentsIn(scene.directory)
  await scene.remove()
  return file!
}

const instants = [-1, 0, 1, 30_000, 60_000, 3_600_000, 1e15].map((ms) => journalEpochMs + ms)
const bundle = bundleOf(journalModel('a'))

/** Neither throws nor takes long; what is found can be replayed, or says why not. */
function look(file: Buffer, digest = bundle.digest): void {
  const held = adoptBundle(bundle.bytes, digest)
  for (const atMs of instants) {
    const found = findMoment([file], atMs)
    if (found.kind === 'moment') replayState(held, found)
    else expect(['empty', 'stopped', 'lost', 'unknown']).toContain(found.why)
  }
}

test('a journal that is damaged anywhere is read up to there, and never beyond', async () => {
  const file = await written()
  const whole = readRecords(file).records
  fc.assert(
    fc.property(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const damaged = Buffer.from(file)
      damaged[at]! ^= change
      const { records, lostBytes } = readRecords(damaged)
      expect(lostBytes).toBeGreaterThan(0)
      expect(records).toEqual(whole.slice(0, records.length))
      look(damaged)
    }),
    { numRuns: laneCount(1_000, 80) },
  )
})

test('a journal that is cut anywhere has its records up to there', async () => {
  const file = await written()
  const whole = readRecords(file).records
  fc.assert(
    fc.property(fc.nat(file.length), (end) => {
      const { records } = readRecords(file.subarray(0, end))
      expect(records).toEqual(whole.slice(0, records.length))
      look(file.subarray(0, end))
    }),
    { numRuns: laneCount(1_000, 60) },
  )
})

test('records of any octets, with an honest checksum, harm nobody', async () => {
  const [head] = readRecords(await written()).records
  const first = frame(RecordKind.Head, head!, head!.payload)
  const kinds = fc.constantFrom(...Object.values(RecordKind), 0, 8, 9, 99)
  const record = fc.record({
    kind: kinds as fc.Arbitrary<RecordKind>,
    payload: fc.uint8Array({ maxLength: 80 }),
    ms: fc.nat(100_000),
  })
  fc.assert(
    fc.property(fc.array(record, { maxLength: 12 }), (records) => {
      const frames = records.map(({ kind, payload, ms }) =>
        frame(kind, { wallMs: journalEpochMs + ms, monotonicMs: ms }, payload),
      )
      look(Buffer.concat([magic, first, ...frames]))
    }),
    { numRuns: laneCount(3_000, 200) },
  )
})

test('the collected hostile journals are read or refused', () => {
  const corpus = new URL('../fuzz/corpus/journal/', import.meta.url)
  const names = readdirSync(corpus)
  expect(names.length).toBeGreaterThan(20)
  for (const name of names) {
    const text = readFileSync(new URL(name, corpus), 'utf8')
    look(Buffer.from(text.replace(/#.*/g, '').replace(/\s+/g, ''), 'hex'), '0'.repeat(64))
  }
})

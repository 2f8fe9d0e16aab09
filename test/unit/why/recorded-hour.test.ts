// Answers that were sent, asked of the journal: what was certain is that very answer, what chance
// chose is among those shown.
import { expect, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { laneCount } from '#test/support/lane.ts'
import { RecordedHour, recordedNames } from '#test/support/recorded-hour.ts'
import type { SentAnswer } from '#test/support/recorded-hour.ts'

// The long lane asks 4,000 times: half a minute of CPU, on a machine that others use, too.
const counts = {
  /** Answers that are asked about, of an hour of 3,600,000 queries, 1,000 a second. */
  samples: laneCount(4_000, 160),
  swaps: laneCount(20, 6),
  flips: laneCount(200, 20),
  reports: laneCount(2_000, 200),
  texts: laneCount(1_000, 100),
  ms: laneCount(3_600_000, 360_000),
}

/** At whole milliseconds of the hour: which queries are sampled, and what happens. */
function plan(random: Random) {
  const at = (count: number, kind: 'ask' | 'swap' | 'flip' | 'measure' | 'write') =>
    Array.from({ length: count }, () => ({ ms: random.below(counts.ms), kind }))
  // Answers come last in a millisecond.
  const events = [
    ...at(counts.reports, 'measure'),
    ...at(counts.texts, 'write'),
    ...at(counts.swaps, 'swap'),
    ...at(counts.samples, 'ask'),
    ...at(counts.flips, 'flip'),
  ]
  return events.sort((a, b) => a.ms - b.ms)
}

test('every certain answer in a recorded hour is the one that was sent', async () => {
  const hour = await RecordedHour.start(1)
  const sent: SentAnswer[] = []
  hour.swap()
  let nowMs = 0
  for (const { ms, kind } of plan(new Random(2))) {
    hour.walk(ms - nowMs)
    if (ms - nowMs > 0) await hour.journal.flush()
    nowMs = ms
    if (kind === 'ask') sent.push(hour.ask())
    else if (kind === 'swap') hour.swap()
    else if (kind === 'measure') hour.measure()
    else if (kind === 'write') hour.write()
    else hour.flip()
  }
  await hour.journal.flush()
  const certain = new Map<string, number>()
  const seen = new Set<string>()
  for (const one of sent) {
    const past = await hour.why(one)
    if (typeof past === 'string') throw new Error(`nothing is known of ${one.atMs}: ${past}`)
    const { given } = one
    const picks = given.service?.picks ?? []
    seen.add(`${one.name} ${picks.join()}`)
    if (past.isCertain) {
      expect([one.name, past.simulation.records]).toEqual([one.name, given.records])
      certain.set(one.name, (certain.get(one.name) ?? 0) + 1)
      continue
    }
    // Measurements of browsers are not kept, so any candidate may have been chosen.
    const isKept = one.name !== 'fast.test.'
    if (isKept) expect(past.shares.map(({ member }) => member)).toContain(picks[0])
    expect(past.mayAnswer).toEqual(expect.arrayContaining([...picks]))
  }
  await hour.close()
  // Something changed, and nobody is called certain who is not.
  expect(seen.size).toBeGreaterThan(recordedNames.length * 2)
  for (const name of ['failover', 'sticky', 'scored', 'near', 'fixed']) {
    expect(certain.get(`${name}.test.`)).toBeGreaterThan(5)
  }
  for (const name of ['weighted', 'turns', 'many']) {
    const asked = sent.filter((one) => one.name === `${name}.test.`).length
    expect(asked - (certain.get(`${name}.test.`) ?? 0)).toBeGreaterThan(5)
  }
}, 900_000)

// Tests that a control node takes an agent's reports, for any results of its probes.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAgentReport, agentReportLimits } from '#fleet/agent/agent-report.ts'
import { asSent, bodiesOf } from '#fleet/agent/report-bodies.ts'
import type { SentVerdict, SentReport } from '#fleet/agent/report-bodies.ts'
import { laneCount } from '#test/support/lane.ts'
import { anyText } from '#test/support/any-text.ts'

const owner = fc.record({ memberUid: fc.uuid(), ipAddress: fc.oneof(fc.ipV4(), fc.ipV6()) })
/** Quotes and backslashes take two octets in JSON, others up to six before they are cleaned. */
const reason = fc.oneof(
  anyText({ maxLength: 400 }),
  fc.constantFrom('"'.repeat(500), '\\'.repeat(200), '\u0000'.repeat(300), '\ud800'.repeat(250)),
)
const said = fc.record(
  {
    ...{ healthy: fc.boolean(), score: fc.double({ min: 0, max: 1, noNaN: true }) },
    rttMs: fc.double({ min: 0, max: 60_000, noNaN: true }),
    ...{ reason, sinceMs: fc.nat({ max: 8e15 }), isWarming: fc.boolean() },
    // Fields of the health bus, which no control node reads here.
    ...{ node: fc.constant('n'.repeat(253)), atMs: fc.nat() },
  },
  { requiredKeys: ['healthy', 'score', 'rttMs'] },
)
const update = fc.record({
  node: fc.constantFrom('a', `n${'x'.repeat(252)}`),
  site: fc.option(fc.constantFrom('', 's'.repeat(63)), { nil: undefined }),
  // The counts are not shrunk from lists of thousands: what one member says is said of many.
  ...{ members: fc.nat({ max: 2_500 }), gone: fc.nat({ max: 2_500 }) },
  ...{
    words: fc.array(said, { minLength: 1, maxLength: 5 }),
    owners: fc.array(owner, { minLength: 1 }),
  },
})

const uid = (i: number): string => `0191f7a4-5b00-7000-8000-${String(i).padStart(12, '0')}`

test('any update is taken whole, in bodies within the limits', () => {
  fc.assert(
    fc.property(update, ({ node, site, members, gone, words, owners }) => {
      const ofMember = (i: number) => ({ ...owners[i % owners.length]!, memberUid: uid(i) })
      const changed: SentVerdict[] = Array.from({ length: members }, (_, i) =>
        asSent({ ...ofMember(i), ...words[i % words.length]! }),
      )
      const withdrawn = Array.from({ length: gone }, (_, i) => ofMember(members + i))
      const sent = { node, ...(site === undefined ? {} : { site }), changed, withdrawn }
      const heard: Record<'changed' | 'withdrawn', unknown[]> = { changed: [], withdrawn: [] }
      for (const body of bodiesOf(sent)) {
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(agentReportLimits.bytesMax)
        const read = readAgentReport(JSON.parse(body), 7)
        if (!read.ok) throw new Error(read.error)
        expect([read.value.node, read.value.site]).toEqual([node, site ?? ''])
        heard.changed.push(...read.value.changed)
        heard.withdrawn.push(...read.value.withdrawn)
      }
      const left = { reason: '', sinceMs: 0, isWarming: false }
      expect(heard.changed).toEqual(changed.map((word) => ({ ...left, ...word, node, atMs: 7 })))
      expect(heard.withdrawn).toEqual(withdrawn)
    }),
    { numRuns: laneCount(60) },
  )
})

const word: SentVerdict = {
  ...{ memberUid: uid(1), ipAddress: '192.0.2.1', healthy: false, score: 1, rttMs: 2 },
}

describe('the number of bodies', () => {
  const bodies = (sent: Partial<SentReport>): number =>
    [...bodiesOf({ node: 'a', changed: [], withdrawn: [], ...sent })].length

  test.each<[string, number, Partial<SentReport>]>([
    ['one where there is nothing new: it confirms', 1, {}],
    [
      'one for the members of one message',
      1,
      { changed: Array.from({ length: 1_000 }, () => word) },
    ],
    ['two for one more', 2, { changed: Array.from({ length: 1_001 }, () => word) }],
    [
      'two for the longest reasons of so many',
      2,
      {
        changed: Array.from({ length: 1_000 }, () => asSent({ ...word, reason: '"'.repeat(900) })),
      },
    ],
  ])('is %s', (_what, count, sent) => {
    expect(bodies(sent)).toBe(count)
  })
})

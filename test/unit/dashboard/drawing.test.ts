// Tests the dashboard's computations for drawings: lines of time, strips of health, places, words.
import { describe, expect, test } from 'vitest'
import { exampleOf } from '#dashboard/forms/example.ts'
import { effectIn } from '#dashboard/api/effect.ts'
import { placeOf } from '#dashboard/map/places.ts'
import { lineAround, stretchOf, ticksOf } from '#dashboard/operations/time-line.ts'
import { finderOf, searchedOf } from '#dashboard/parts/find.ts'
import { fieldTimeOf, labelOf, spanOf, wordsIn, yamlOf } from '#dashboard/parts/formats.ts'
import { joined } from '#dashboard/history/history-line.ts'
import { stripMs, stripsOf } from '#dashboard/health/health-strip.ts'

const now = Date.parse('2026-03-04T12:00:00Z')
const hour = 3_600_000

describe('a stretch of a line of 8 hours, of which 2 have been', () => {
  const line = lineAround(now, 8)
  test.each<[string, number, number | undefined, unknown]>([
    ['all of it', -2, 6, { left: 0, width: 100 }],
    ['the next two hours', 0, 2, { left: 25, width: 25 }],
    ['longer than the line', -9, 99, { left: 0, width: 100 }],
    ['without an end', 2, undefined, { left: 50, width: 50 }],
    ['before it', -9, -3, undefined],
    ['after it', 7, 8, undefined],
    ['a moment, which is still seen', 0, 0, { left: 25, width: 0.6 }],
  ])('%s', (_case, start, end, expected) => {
    const endMs = end === undefined ? undefined : now + end * hour
    expect(stretchOf(line, now + start * hour, endMs)).toEqual(expected)
  })

  test.each([24, 168, 720])('of %i hours has at least two ticks and at most eight', (hours) => {
    const wide = lineAround(now, hours)
    const ticks = ticksOf(wide, 8)
    expect(ticks.length).toBeGreaterThan(1)
    expect(ticks.length).toBeLessThan(10)
    expect(ticks.every((ms) => ms >= wide.fromMs && ms <= wide.toMs)).toBe(true)
  })
})

describe('a strip of health', () => {
  const turn = (minutes: number, healthy: boolean, node = 'fra1') => ({
    ...{ memberId: 'm', node, healthy, since: now - minutes * 60_000 },
  })
  test('is one piece for a verdict older than the strip', () => {
    const verdicts = new Map([['fra1', { healthy: true, since: now - stripMs * 3 }]])
    const [strip] = stripsOf(verdicts, [], now)
    expect(strip?.parts).toEqual([{ left: 0, width: 100, tone: 'up' }])
    expect(strip?.words).toBe('up for 2 h')
  })
  test('has a piece for each change that was heard, and none of other nodes', () => {
    const verdicts = new Map([['fra1', { healthy: true, since: now - 6 * 60_000 }]])
    const trail = [turn(15, true), turn(9, false), turn(12, false, 'nyc1'), turn(6, true)]
    const [strip] = stripsOf(verdicts, trail, now)
    expect(strip?.parts).toEqual([
      { left: 50, width: 20, tone: 'up' },
      { left: 70, width: 10, tone: 'down' },
      { left: 80, width: 20, tone: 'up' },
    ])
    expect(strip?.words).toBe('up for 6 min, 2 changes seen')
  })
})

test.each([
  ['DE', { lon: 10, lat: 51 }],
  ['US-CA', { lon: -99, lat: 40 }],
  ['continent:EU', { lon: 15, lat: 50 }],
  ['SG', { lon: 104, lat: 1 }],
  ['de', undefined],
  ['fra1', undefined],
  ['continent:XX', undefined],
  ['ZZ', undefined],
  ['', undefined],
])('the region %j is at %j', (region, place) => {
  expect(placeOf(region)).toEqual(place)
})

test.each([
  ['', ''],
  ['nonsense', ''],
  ['names=0', 'No name would answer differently now.'],
  [
    'moved=0%; names=1',
    '1 name would answer differently; no client would move to another address.',
  ],
  [
    'moved=12.4%; names=3; later=1',
    '3 names would answer differently; of the clients of one, up to 12.4% would move. ' +
      '1 more may change later.',
  ],
])('the effect %j is said as %j', (header, words) => {
  expect(effectIn(header)).toBe(words)
})

test.each([
  ['www', true],
  ['WWW pool', true],
  ['  ', true],
  ['www fra', false],
])('a search for %j finds it: %j', (query, isFound) => {
  expect(finderOf(query)(searchedOf(['www.example.com', 'Pool-1']))).toBe(isFound)
})

test.each<[unknown, string]>([
  [{ a: 1, b: ['x', 'y z'] }, 'a: 1\nb:\n- x\n- y z'],
  [{ a: 'yes', b: '', c: '1', d: null }, 'a: "yes"\nb: ""\nc: "1"\nd: null'],
  [{ a: [{ b: 1, c: 2 }] }, 'a:\n- b: 1\n  c: 2'],
  [{ a: {}, b: [] }, 'a: {}\nb: []'],
])('%j as YAML', (value, text) => {
  expect(yamlOf(value).trim()).toBe(text)
})

test('fields and spans have their words', () => {
  expect(labelOf('filterChain')).toBe('Filter chain')
  expect(labelOf('ipAddress')).toBe('IP address')
  expect(labelOf('isPending')).toBe('Pending')
  expect(labelOf('island')).toBe('Island')
  expect(['TSIG keys', 'Response rules'].map(wordsIn)).toEqual(['TSIG keys', 'response rules'])
  expect(['1', '89', '90', '5400', '200000'].map((text) => spanOf(Number(text)))).toEqual([
    '1 s',
    '89 s',
    '2 min',
    '2 h',
    '2 d',
  ])
  expect(Date.parse(fieldTimeOf(now))).toBe(now)
})

const commitsOf = (names: string) => [...names].map((commit) => ({ commit }))
test.each([
  ['the same again changes nothing', 'dcb', 'dcba', 'dcba'],
  ['a newer one comes first, and the one that left the page stays', 'edc', 'dcba', 'edcba'],
  ['what meets nothing that was shown begins anew', 'zyx', 'dcba', 'zyx'],
  ['an empty history', '', '', ''],
])('a history that is read again, %s', (_case, newest, shown, expected) => {
  expect(joined(commitsOf(newest), commitsOf(shown))).toEqual(commitsOf(expected))
})

test.each([
  [{ type: 'object', properties: { url: { type: 'string' } } }, { url: '…' }],
  [{ type: 'array', items: { type: 'integer', minimum: 5 } }, [5]],
  [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, true],
  [{ type: 'string', examples: ['www'] }, 'www'],
  [{ enum: ['a', 'b'] }, 'a'],
  [
    {
      ...{ type: 'object', required: ['weight'] },
      properties: { weight: { type: 'integer', default: 10 }, note: { type: 'string' } },
    },
    { weight: 10 },
  ],
])('an example of %o is made of what must be there', (schema, expected) => {
  expect(exampleOf(schema)).toEqual(expected)
})

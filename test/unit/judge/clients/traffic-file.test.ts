// Traffic in a file: what is read, and what is said of a wrong one.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTraffic, trafficIn } from '#judge/clients/traffic-file.ts'
import { tempDir } from '#test/support/temp-dir.ts'

test('counts by country, network and name', () => {
  const read = trafficIn(
    {
      ...{ seconds: 60, sampled: 10, countries: { DE: 1, de: 2, '': 3 } },
      ...{ networks: { '192.0.2.0/24': 4 }, names: { 'WWW.example.com': 5, 'a.example. aaaa': 6 } },
    },
    'it',
  )
  expect(read).toMatchObject({ ok: true, value: { source: 'it', seconds: 60, sampled: 10 } })
  if (!read.ok) throw new Error(read.error)
  expect([...read.value.countries]).toEqual([
    ['DE', 3],
    ['', 3],
  ])
  expect([...read.value.names]).toEqual([
    ['www.example.com.', 5],
    ['a.example. AAAA', 6],
  ])
  expect(read.value.networks).toMatchObject([{ network: '192.0.2.0/24', prefixBits: 24, count: 4 }])
})

const wrong: readonly (readonly [string, unknown, string])[] = [
  ['a list', [], 'write an object such as'],
  ['nothing', null, 'write an object such as'],
  ['a field that is none', { country: { DE: 1 } }, 'write seconds, sampled, countries'],
  ['nobody', { countries: { DE: 0 } }, 'no client is counted'],
  ['names alone', { names: { 'a.example.': 1 } }, 'no client is counted'],
  ['a negative count', { countries: { DE: -1 } }, 'the count of "DE" is -1; write a number'],
  [
    'a count beyond what numbers tell apart',
    { networks: { '::/0': 1e300 } },
    'is 1e+300; write a number from 0 to 9,',
  ],
  ['a text', { countries: { DE: '12' } }, 'is the text "12"; write a number'],
  ['a list as a count', { countries: { DE: [1] } }, 'the count of "DE" is [1]; write a number'],
  ['no country', { countries: { Germany: 1 } }, '"Germany" is no country; write two letters'],
  ['no network', { networks: { '192.0.2.1': 1 } }, 'write 192.0.2.1/32'],
  ['bits beyond the prefix', { networks: { '192.0.2.1/24': 1 } }, 'write 192.0.2.0/24'],
  ['no name', { countries: { DE: 1 }, names: { 'a b c': 1 } }, '"a b c" is no name'],
  ['no time', { seconds: 0, countries: { DE: 1 } }, 'seconds is 0; write a number above 0'],
  ['a list of counts', { countries: [1] }, 'countries must be an object of counts'],
]

test.each(wrong)('%s is refused', (_, value, sentence) => {
  const read = trafficIn(value, 'traffic.json')
  expect(read.ok ? '' : read.error).toContain(sentence)
  expect(read.ok ? '' : read.error).toMatch(/^traffic\.json: /)
})

test.each([
  [
    '{\n "seconds": 60,\n "countries": {\n  "DE": 1,\n  "FR": -1 } }',
    ':5: countries: the count of "FR"',
  ],
  [
    '{ "names": { "countries": 1 },\n "countries": {\n "DE": true } }',
    ':3: countries: the count of',
  ],
  ['{ "networks": {\n "192.0.2.0/24": 1,\n\n "192.0.2.1/24": 1 } }', ':4: networks: 192.0.2.1/24'],
  ['{\n "names": { "a:{\\"": 1 },\n "countries": { "DE": "" }\n}', ':3: countries: the count of'],
  ['{ "countries": { "DE": 1 },\n\r\n "seconds": "" }', ':3: seconds is the text ""; write'],
  ['{ "countries": { "DE": 1 },\n "of": { "x": [{ "of": 1 }] } }', ':2: there is no field "of"'],
  ['{ "countries": { "DE": -1,\n "DE": 1,\n "DE": -1 } }', ':3: countries: the count of "DE"'],
  ['[]', ': write an object such as'],
])('a fault in %j is reported with its place', (text, sentence) => {
  const path = join(tempDir('traffic'), 'traffic.json')
  writeFileSync(path, text)
  const read = readTraffic(path)
  expect(read.ok ? '' : read.error.slice(0, path.length + sentence.length)).toBe(path + sentence)
})

test('a file that is missing, and one that is no JSON', () => {
  const path = join(tempDir('traffic'), 'traffic.json')
  const errorOf = (): string => {
    const read = readTraffic(path)
    return read.ok ? '' : read.error
  }
  expect(errorOf()).toBe(`${path}: there is no such file`)
  writeFileSync(path, '\uFEFF{"countries": {"DE": 1}}')
  expect(errorOf()).toBe('')
  writeFileSync(path, '{"countries": ')
  expect(errorOf()).toMatch(/traffic\.json: .*JSON/)
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { readWrittenRecords } from '#cli/files/written-records-file.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const directory = makeTempDir('written')
afterAll(() => removeTempDir(directory))
const path = join(directory, 'records.json')
const read = (text: string) => {
  writeFileSync(path, text)
  return readWrittenRecords(path)
}
const record = { name: 'Host.example.com', type: 'PTR', value: 'Laptop.example.com.', ttl: 60 }

test('records are read as the API lists them', () => {
  const listed = [record, { ...record, type: 'TXT', value: '"a b"', id: 'x', hiddenBy: null }]
  expect(read(JSON.stringify(listed))).toMatchObject({
    ok: true,
    value: [
      { name: 'host.example.com.', type: 12, ttlSeconds: 60, rdata: expect.any(String) as string },
      { type: 16, rdata: Buffer.from('\x03a b').toString('base64') },
    ],
  })
})

test.each([
  ['no JSON', '[', /cannot be read/],
  ['no list', '{}', /is no list/],
  ['no record', '[1]', /record 1 has no name, type, value and ttl that go/],
  ['a type that nobody writes', JSON.stringify([record, { ...record, type: 'NS' }]), /record 2/],
  ['data of another type', JSON.stringify([{ ...record, type: 'A' }]), /record 1/],
  ['a TTL that is none', JSON.stringify([{ ...record, ttl: -1 }]), /record 1/],
  ['too many', JSON.stringify(Array.from({ length: 50_001 }, () => 1)), /more than 50000/],
])('%s is told', (_what, text, expected) => {
  const found = read(text)
  expect(found.ok ? '' : found.error).toMatch(expected)
})

test('any JSON is read without an exception', () => {
  const some = fc.constantFrom(...Object.keys(record))
  const one = fc.dictionary(some, fc.oneof(fc.jsonValue(), fc.constantFrom('A', 'TXT', 'x.', '1')))
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.array(one).map((all) => JSON.stringify(all)),
      ),
      (text) => {
        expect(typeof read(text).ok).toBe('boolean')
      },
    ),
    { numRuns: 200 },
  )
})

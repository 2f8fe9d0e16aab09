// Sets of keys as text: whatever is printed is read back, and whatever is read does not throw.
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { keyRoles, noTimes, recordOfKey } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { printKeySet, readKeySet } from '#server/signing/key-set.ts'

const keys = [13, 15, 13].map((number) => generateZoneKey(signingAlgorithm(number)!))
const time = fc.option(fc.integer({ min: 0, max: 2 ** 45 }))
const record = fc
  .record({
    zone: fc.constantFrom('example.org.', 'a.example.', '.'),
    key: fc.constantFrom(...keys),
    role: fc.constantFrom(...keyRoles),
    times: fc.record({ createdMs: time, activeMs: time, removedMs: time }),
    isForeign: fc.boolean(),
  })
  .map(({ zone, key, role, times, isForeign }) => {
    const own = recordOfKey(zone, key, role, { ...noTimes, ...times })
    return isForeign ? { ...own, secret: null } : own
  })

test('printed key sets can be read back', () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(record, { maxLength: 8 }), (revision, records) => {
      const read = readKeySet(printKeySet({ revision, records }))
      if (!read.ok) throw new Error(read.error)
      expect(read.value.revision).toBe(revision)
      expect(read.value.records.map(bare)).toEqual(records.map(bare))
    }),
    { numRuns: 60 },
  )
})

const bare = ({ publicKey, secret, ...rest }: ReturnType<typeof recordOfKey>) => ({
  ...rest,
  publicKey: Buffer.from(publicKey).toString('hex'),
  secret: secret === null ? null : Buffer.from(secret).toString('hex'),
})

test('a set that was changed anywhere is refused or read, and never throws', () => {
  const text = printKeySet({ revision: 5, records: [recordOfKey('a.', keys[0]!, 'csk', {})] })
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.string({ maxLength: 4 }), (at, change) => {
      const read = readKeySet(text.slice(0, at) + change + text.slice(at + change.length))
      if (!read.ok) expect(read.error).not.toContain('MIGH')
    }),
    { numRuns: 300 },
  )
})

const corpus = 'test/fuzz/corpus/key-set'
test.each(readdirSync(corpus))('%s is refused', (file) => {
  expect(readKeySet(readFileSync(`${corpus}/${file}`, 'utf8')).ok).toBe(false)
})

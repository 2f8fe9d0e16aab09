// Digests of whole zones.
import { expect, test } from 'vitest'
import { ZoneDigest } from '#dns/dnssec/zone-digest.ts'
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import { Random } from '#lib/random.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

/** RFC 8976 appendix A.1, and A.2 without its ZONEMD records of other kinds. */
const simple = `example. 86400 IN SOA ns1 admin 2018031900 1800 900 604800 86400
 86400 IN NS ns1
 86400 IN NS ns2
ns1 3600 IN A 203.0.113.63
ns2 3600 IN AAAA 2001:db8::63
`
const digest =
  'c68090d90a7aed716bc459f9340e3d7c1370d4d24b7e2fc3a1ddc0b9a87153b9' +
  'a9713b3c9ae5cc27777f98b8e730044c'

function digestOf(text: string, order: (index: number) => number = (i) => i): [string, number] {
  const origin = wireName('example.')
  const parts = { path: 'zone', octets: Buffer.from(`$ORIGIN example.\n${text}`) }
  const { records, faults } = parseZoneFile(parts, { origin })
  expect(faults).toEqual([])
  const digests = new ZoneDigest()
  const all = [...records].map((record, i) => ({ record, at: order(i) }))
  for (const { record } of all.toSorted((a, b) => a.at - b.at)) {
    digests.add({ ...record, ttlSeconds: record.ttl })
  }
  const steps = digests.rdata(2018031900)
  let pauses = 0
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) pauses++
  return [Buffer.from(step.value).toString('hex'), pauses]
}

test('the example of the RFC has its digest', () => {
  const [rdata] = digestOf(simple)
  expect(rdata).toBe(`${(2018031900).toString(16)}0101${digest}`)
})

test.each([
  ['another order of records', simple, true],
  ['a record that is there twice', `${simple}ns1 3600 IN A 203.0.113.63\n`, true],
  ['names in upper case', simple.replaceAll('ns1', 'NS1'), true],
  ['another TTL', simple.replace('3600', '3601'), false],
  ['another address', simple.replace('.63', '.64'), false],
  ['one record less', simple.replace(/ns2 .*\n/, ''), false],
])('with %s', (_what, text, isSame) => {
  const random = new Random(3)
  const [rdata] = digestOf(text, () => random.draw())
  expect(rdata.endsWith(digest)).toBe(isSame)
})

test('a large zone is sorted in steps, whatever its order was', () => {
  const names = Array.from(
    { length: 10_000 },
    (_, i) => `h${(i * 7_919) % 10_000} 60 IN A 192.0.2.1`,
  )
  const text = `${simple}${names.join('\n')}\n`
  const random = new Random(5)
  const [one, pauses] = digestOf(text)
  const [other] = digestOf(text, () => random.draw())
  expect(one).toBe(other)
  expect(pauses).toBeGreaterThan(10)
})

// Tests bundles with records that BIND refuses as a secondary server, and their log lines.
import { expect, test } from 'vitest'
import { encodeBundle } from '#bundle/encode/encode.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import { watchRefused } from '#node/compose/transfers.ts'
import { setsBindRefuses } from '#zones/transfer/sets-bind-refuses.ts'
import { modelOf } from '#test/support/dns/model.ts'
import type { Served } from '#test/support/dns/model.ts'
import { servicesConfig } from '#test/support/dns/many-addresses.ts'

const list = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i))
const head = '@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\n'

function bundleOf(served: Served): Bundle {
  const { bytes, digest } = encodeBundle(modelOf(served), () => -1)
  return adoptBundle(bytes, digest)
}

const written = (lines: readonly string[]) =>
  bundleOf({ name: 'example.com.', text: head + lines.join('\n') + '\n' })
const balanced = (counts: { v4: number; v6: number }) =>
  bundleOf(servicesConfig({ 'example.com.': counts }))
const texts = (count: number) => list(count, (i) => `many 60 TXT "${i}"`)
const types = (count: number) => list(count, (i) => `all 60 TYPE${65_280 + i} \\# 1 00`)

test.each([
  ['100 records of a name', written(texts(100)), []],
  ['101', written(texts(101)), ['many.example.com. TXT: 101 records']],
  ['100 types of a name', written(types(100)), []],
  ['101', written(types(101)), ['all.example.com.: 101 types']],
  ['100 of each family', balanced({ v4: 100, v6: 100 }), []],
  ['101 members', balanced({ v4: 101, v6: 100 }), ['www.example.com. A: 101 records']],
  ['101 of IPv6', balanced({ v4: 1, v6: 101 }), ['www.example.com. AAAA: 101 records']],
])('finds what is too much: %s', (_what, bundle, expected) => {
  expect(setsBindRefuses(bundle)).toEqual({ first: expected, others: 0 })
})

test('a type that has no name, and more than are named', () => {
  const lines = list(707, (i) => {
    const octet = Buffer.of(i % 101).toString('hex')
    return `n${Math.floor(i / 101)} 60 TYPE65280 \\# 1 ${octet}`
  })
  const { first, others } = setsBindRefuses(written(lines))
  expect(first).toHaveLength(5)
  expect(first[0]).toMatch(/^n\d\.example\.com\. TYPE65280: 101 records$/)
  expect(others).toBe(2)
})

test('the log tells it once, and when it is over', () => {
  const told: string[] = []
  const say = (level: string) => (fields: object, message: string) => {
    told.push(`${level} ${JSON.stringify(fields)} ${message}`)
  }
  const watch = watchRefused({ info: say('info'), warn: say('warn') })
  const [few, many] = [written(texts(100)), written(texts(101))]
  watch(few)
  expect(told).toEqual([])
  watch(many)
  watch(written(texts(101)))
  expect(told).toEqual([
    expect.stringMatching(/^warn .*many\.example\.com\. TXT: 101.* max-records-per-type/),
  ])
  watch(few)
  watch(many)
  expect(told.slice(1)).toEqual([expect.stringMatching(/^info /), told[0]])
})

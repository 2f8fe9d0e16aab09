// Keys of another server: which role each has, and what of its life is believed.
import { expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { recordsOfBind } from '#dns/dnssec/imported-keys.ts'
import { bindKeyFiles, readBindKey } from '#dns/dnssec/key-files.ts'
import type { BindKey } from '#dns/dnssec/key-files.ts'
import { keyUses, noTimes } from '#dns/dnssec/key-record.ts'
import type { KeyTimes } from '#dns/dnssec/key-record.ts'
import { zoneKey } from '#dns/dnssec/zone-key.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const nowMs = Date.UTC(2026, 10, 29)
const day = 86_400_000
const used = { createdMs: nowMs - 9 * day, publishedMs: nowMs - 9 * day, activeMs: nowMs - 8 * day }

const keyOf = (flags: number, times: Partial<KeyTimes>): BindKey => ({
  zone: wireName('Example.org'),
  key: zoneKey(signingAlgorithm(13)!.generate(), flags)!,
  times: { ...noTimes, ...times },
})
const uses = (...keys: readonly BindKey[]) =>
  keyUses(recordsOfBind(keys, nowMs)).map(({ record, use }) => [record.role, use])

test.each<[string, readonly BindKey[], readonly (readonly [string, number])[]]>([
  ['one key', [keyOf(257, used)], [['csk', 15]]],
  ['one key without times', [keyOf(257, {})], [['csk', 15]]],
  [
    'a ZSK and a KSK',
    [keyOf(256, used), keyOf(257, used)],
    [
      ['zsk', 3],
      ['ksk', 13],
    ],
  ],
  [
    'a ZSK that is shown and not used yet, and one that is retired',
    [
      keyOf(257, used),
      keyOf(256, { ...used, retiredMs: nowMs - day }),
      keyOf(256, used),
      keyOf(256, { ...used, activeMs: nowMs + day }),
    ],
    [
      ['ksk', 13],
      ['zsk', 1],
      ['zsk', 3],
      ['zsk', 1],
    ],
  ],
  [
    'a key that is gone, and one that is to come',
    [
      keyOf(257, { ...used, removedMs: nowMs - day }),
      keyOf(257, { ...used, retiredMs: nowMs + day, removedMs: nowMs + 2 * day }),
      keyOf(257, { createdMs: nowMs - day, publishedMs: nowMs + day, activeMs: nowMs + day }),
    ],
    [
      ['csk', 15],
      ['csk', 0],
    ],
  ],
])('%s', (_name, keys, expected) => {
  expect(uses(...keys)).toEqual(expected)
})

test('the times of a key go to files of BIND and come back', () => {
  const times = { ...noTimes, ...used, dsSubmittedMs: nowMs, dsSeenMs: nowMs, retiredMs: nowMs }
  const one = keyOf(257, times)
  const { record, secret } = bindKeyFiles(one, one.times)
  const read = readBindKey(record, secret)
  expect(read.ok && read.value.times).toEqual(times)
  const [stored] = recordsOfBind([one], nowMs)
  expect(stored).toMatchObject({ zone: 'example.org.', times: { dsSeenMs: null } })
})

// The keys of zones on a node that only answers: what it takes, keeps and refuses.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { recordOfKey } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { createKeyCopy } from '#server/signing/key-copy.ts'
import { printKeySet } from '#server/signing/key-set.ts'
import { PulledKeys } from '#server/signing/pulled-keys.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const record = recordOfKey('example.org.', generateZoneKey(signingAlgorithm(15)!), 'csk', {})
const text = (revision: number, records = [record]) => printKeySet({ revision, records })
const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const key = Buffer.alloc(32, 9)

function opened(path = join(tempDir('pulled'), 'copy')): { keys: PulledKeys; path: string } {
  const keys = new PulledKeys(createKeyCopy(path, key, log))
  keys.start()
  return { keys, path }
}

test('a newer set takes the place of all before, also after a restart', () => {
  const { keys, path } = opened()
  expect(keys.take(7, text(7)).ok).toBe(true)
  expect(keys.keys().get('example.org.')).toEqual([record])
  const later = opened(path).keys
  expect(later.revision).toBe(7)
  expect(later.keys().get('example.org.')).toEqual([record])
  expect(later.take(8, text(8, [])).ok).toBe(true)
  expect(later.keys().size).toBe(0)
})

test.each([
  ['of a lower revision: replayed', 6, text(6, []), /revision 6, and 7 is here/],
  ['of another revision than its envelope says', 9, text(8), /of another revision/],
  ['that is none', 9, '{}', /no set of keys/],
])('a set %s is refused, and the keys stay', (_what, revision, said, why) => {
  const { keys } = opened()
  keys.take(7, text(7))
  expect(keys.take(revision, said)).toEqual({
    ok: false,
    error: expect.stringMatching(why) as string,
  })
  expect(keys.revision).toBe(7)
  expect(keys.keys().get('example.org.')).toEqual([record])
})

test('a copy that is damaged is as none', () => {
  const { keys, path } = opened()
  keys.take(7, text(7))
  writeFileSync(path, 'v1.AAAA')
  expect(opened(path).keys.revision).toBe(0)
})

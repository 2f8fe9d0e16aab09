// The keys of zones on a node that only answers: what it takes, keeps and refuses.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { recordOfKey } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { err, ok } from '#lib/result.ts'
import { createKeyCopy } from '#server/signing/key-copy.ts'
import { printKeySet } from '#server/signing/key-set.ts'
import { PulledKeys } from '#server/signing/pulled-keys.ts'
import type { OwnKeyFiles } from '#server/signing/pulled-keys.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const record = recordOfKey('example.org.', generateZoneKey(signingAlgorithm(15)!), 'csk', {})
const text = (revision: number, records = [record]) => printKeySet({ revision, records })
const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const key = Buffer.alloc(32, 9)

function opened(
  path = join(tempDir('pulled'), 'copy'),
  files: OwnKeyFiles | null = null,
): { keys: PulledKeys; path: string } {
  const keys = new PulledKeys(createKeyCopy(path, key, log), files)
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

/** A zone that a file signs, as a node of an earlier version has it. */
const zone = 'example.org.'
const fileKey = generateZoneKey(signingAlgorithm(13)!)
const ofFile = (times = {}) => recordOfKey(zone, fileKey, 'csk', times)
const other = recordOfKey('other.example.', generateZoneKey(signingAlgorithm(13)!), 'csk', {})
const files = (hasFile = true): OwnKeyFiles => ({
  directory: '/data/dnssec',
  read: () => ok(new Map(hasFile ? [[zone, { zone: wireName(zone), key: fileKey }]] : [])),
})

test('a zone signs on by its file while what is sent has another key, and says so', () => {
  const { keys, path } = opened(undefined, files())
  expect(keys.take(7, text(7, [record, other])).ok).toBe(true)
  expect([...keys.keys().keys()]).toEqual(['other.example.'])
  const said = new RegExp(`^example.org. is signed by the key ${fileKey.tag} in /data/dnssec here,`)
  expect(keys.troubles()).toEqual([expect.stringMatching(said)])
  expect(keys.troubles()[0]).toContain('POST /api/v1/dnssec/zones/example.org./keys')
  // After a start the same set is sent again: the files may have been moved away.
  const again = opened(path, files()).keys
  expect([again.revision, again.keys().size]).toEqual([6, 1])
  again.take(7, text(7, [record, other]))
  expect([again.revision, again.keys().size, again.troubles().length]).toEqual([7, 1, 1])
  const moved = opened(path, files(false)).keys
  moved.take(7, text(7, [record, other]))
  expect([moved.keys().get(zone), moved.troubles()]).toEqual([[record], []])
})

test('a zone goes over to keys that are sent once its own signs there, for good', () => {
  const { keys, path } = opened(undefined, files())
  keys.take(7, text(7, [record, ofFile({ publishedMs: 1 })]))
  expect(keys.keys().size).toBe(0)
  expect(keys.troubles()).toEqual([expect.stringContaining('until that key signs on the control')])
  keys.take(8, text(8, [record, ofFile({ publishedMs: 1, activeMs: 2 })]))
  expect([keys.keys().get(zone)?.length, keys.troubles()]).toEqual([2, []])
  // It rolled, and its file still lies there.
  keys.take(9, text(9, [record]))
  const later = opened(path, files()).keys
  later.take(10, text(10, [record]))
  expect([later.keys().get(zone), later.troubles()]).toEqual([[record], []])
})

test('where keys came before and cannot be read, old files hold nothing back', () => {
  const { keys, path } = opened()
  keys.take(7, text(7))
  writeFileSync(path, 'v1.AAAA')
  const node = opened(path, files()).keys
  node.take(7, text(7))
  expect([node.keys().get(zone), node.troubles()]).toEqual([[record], []])
})

test('nothing is taken while the folder of the files cannot be read', () => {
  const { keys } = opened(undefined, { directory: '/data', read: () => err('no access') })
  expect(keys.take(7, text(7))).toEqual({ ok: false, error: 'no access' })
  expect([keys.revision, keys.keys().size]).toEqual([0, 0])
})

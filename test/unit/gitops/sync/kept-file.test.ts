// Tests kept commits: reading one gives what was written, and any other content of the file is
// refused without a throw.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { loadScriptCheck } from '#routing/script/check.ts'
import { readFile } from '#compiler/read/read-file.ts'
import { objectIdOf } from '#gitops/git/disk-driver.ts'
import { decodeObjects, encodeList, encodeObjects } from '#config/kept-objects.ts'
import { blobsIn, decodeKept, encodeKept, keptObjects, readingsIn } from '#gitops/sync/kept-file.ts'
import { Random } from '#lib/random.ts'
import { kindNames } from '#schemas/kinds.ts'
import { countFrom, testSeed } from '#test/support/random.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'

const root = join(import.meta.dirname, '../../../..')
const key = newSigningKey()
const head = {
  ...{ stamp: 'a', commit: 'b', tree: 'c', digest: 'd', total: 1 },
  diagnostics: [],
}

/** Texts of examples, of golden trees, and of all cases of diagnostics. */
function texts(): string[] {
  const files = globSync(['examples/**/*.yaml', 'test/golden/compile/**/*.yaml'], { cwd: root })
  const cases = globSync('test/fixtures/diagnostics/*.txtar', { cwd: root })
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  return [...files.map(read), ...cases.flatMap((path) => read(path).split(/^-- .* --\n/m))]
}

// Some of them have scripts.
await loadScriptCheck()

const readings = texts().flatMap((text, index) => {
  const bytes = Buffer.from(text)
  const file = readFile(objectIdOf('blob', bytes), bytes)
  return file.object === undefined ? [] : [{ path: `tenants/t/${index}.yaml`, file }]
})

test('a file restored from its kept parts equals the file that was read', () => {
  assert(readings.length > 500)
  assert(readings.some(({ file }) => file.findings.length > 0))
  const bytes = Buffer.concat(encodeKept(head, readings, key)!)
  const kept = decodeKept(bytes, key)
  assert(kept.ok)
  assert.deepEqual(kept.value.head, head)
  const byBlob = new Map(readings.map(({ file }) => [file.blobId, file]))
  const again = readingsIn(kept.value)
  assert.equal(again.length, readings.length)
  for (const file of again) assert.deepStrictEqual(file, byBlob.get(file.blobId))
  assert.deepEqual(
    [...blobsIn(kept.value.ids)].sort(),
    readings.map(({ file }) => file.blobId).sort(),
  )
})

test('a commit with a file that says nothing is not kept', () => {
  const file = readFile('0'.repeat(40), Buffer.from('kind: ['))
  assert.equal(encodeKept(head, [{ path: 'gslb.yaml', file }], key), undefined)
})

test('a list of values is their JSON, up to a size', () => {
  for (const values of [[1], ['ä', { a: [] }, null]]) {
    const whole = Buffer.from(JSON.stringify(values))
    assert.deepEqual(encodeList(values, whole.length), whole)
    assert.equal(encodeList(values, whole.length - 1), undefined)
  }
  assert.equal(encodeList([], 0)?.length, 0)
})

test('objects are encoded if they fit', () => {
  const objects = keptObjects(readings.slice(0, 9))
  const bytes = encodeObjects(objects, 1e6)!
  const again = kindNames.flatMap((kind) =>
    decodeObjects(encodeObjects(objects, bytes.length)!, kind),
  )
  assert.deepEqual(new Set(again), new Set(objects))
  assert.equal(encodeObjects(objects, bytes.length - 1), undefined)
})

test('a file that is cut, flipped, of another key or of nobody is refused', () => {
  const bytes = Buffer.concat(encodeKept(head, readings.slice(0, 3), key)!)
  assert.equal(decodeKept(bytes, newSigningKey()).ok, false)
  for (let length = 0; length < bytes.length; length++) {
    assert.equal(decodeKept(bytes.subarray(0, length), key).ok, false)
  }
  const random = new Random(testSeed)
  for (let run = 0; run < countFrom('GSLB_FUZZ_RUNS', 500); run++) {
    const flipped = Buffer.from(bytes)
    const at = random.next() % bytes.length
    flipped[at] = flipped[at]! ^ (1 << (random.next() % 8))
    assert.equal(decodeKept(flipped, key).ok, false)
    const noise = Buffer.from(Array.from({ length: run }, () => random.next() & 255))
    assert.equal(decodeKept(noise, key).ok, false)
    assert.equal(decodeKept(Buffer.concat([bytes.subarray(0, 13), noise]), key).ok, false)
  }
})

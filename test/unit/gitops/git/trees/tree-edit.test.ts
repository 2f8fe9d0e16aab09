// A raw tree edited as bytes: what Git would have written, from any tree and any changes.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { test } from 'vitest'
import { editTree, foldersIn } from '#gitops/git/trees/tree-edit.ts'
import type { TreeChange } from '#gitops/git/trees/tree-edit.ts'
import { formatTree, isFolder } from '#gitops/git/objects/tree-object.ts'
import type { TreeEntry } from '#gitops/git/objects/tree-object.ts'

const oidOf = (text: string): string => hash('sha1', text)
const file = (name: string, mode = '100644'): TreeEntry => ({ mode, name, oid: oidOf(name) })
const folder = (name: string): TreeEntry => file(name, '40000')

/** Names around the slash that Git puts behind a folder's: `-` and `.` are before it, `0` after. */
const name = fc.constantFrom('a', 'a-b', 'a.b', 'a0', 'aa', 'b', 'B', 'ä', 'z z')
const mode = fc.constantFrom('100644', '100755', '120000', '160000', '40000')
const entries = fc.uniqueArray(fc.record({ name, mode, oid: fc.nat(9).map(String).map(oidOf) }), {
  selector: (entry) => entry.name,
})
const change = fc.oneof(
  fc.constant(null),
  fc.record({ oid: fc.nat(9).map(String).map(oidOf), isFolder: fc.boolean() }),
)
const changes = fc.array(fc.tuple(name, change)).map((pairs) => new Map(pairs))

function edited(before: readonly TreeEntry[], edits: ReadonlyMap<string, TreeChange | null>) {
  const byName = new Map(before.map((entry) => [entry.name, entry]))
  for (const [key, value] of edits) {
    const kept = byName.get(key)?.mode ?? ''
    const plain = kept.startsWith('100') ? kept : '100644'
    if (value === null) byName.delete(key)
    else byName.set(key, { mode: value.isFolder ? '40000' : plain, name: key, oid: value.oid })
  }
  return formatTree(byName.values())
}

test('a tree edited as bytes is the tree of the edited entries', () => {
  fc.assert(
    fc.property(entries, changes, (before, edits) => {
      assert.deepEqual(editTree(formatTree(before), edits), edited(before, edits))
    }),
  )
})

test('folders are found by name, and files of that name are not', () => {
  fc.assert(
    fc.property(entries, fc.array(name), (given, names) => {
      const wanted = new Set(names)
      const expected = given.filter((entry) => isFolder(entry) && wanted.has(entry.name))
      const pairs = expected.map((entry): [string, string] => [entry.name, entry.oid])
      assert.deepEqual(foldersIn(formatTree(given), wanted), new Map(pairs))
    }),
  )
})

const good = formatTree([file('a'), folder('b'), file('c')])
const two = (...given: readonly TreeEntry[]): Buffer =>
  Buffer.concat(given.map((entry) => formatTree([entry])))
const damaged: readonly [what: string, raw: Uint8Array][] = [
  ['files out of order', two(file('b'), file('a'))],
  ['a folder where a file of its name would be', two(folder('a'), file('a.b'))],
  ['a name twice', two(file('a'), file('a'))],
  ['an id cut short', good.subarray(0, -1)],
  ['a name without an end', Buffer.from('100644 a')],
  ['no name', Buffer.from('100644')],
]

test.each(damaged)('%s: the bytes are not taken for a tree', (_what, raw) => {
  assert.equal(editTree(raw, new Map()), undefined)
  assert.equal(foldersIn(raw, new Set()), undefined)
})

test('the bytes of entries that stay are the bytes that were there', () => {
  assert.deepEqual(editTree(good, new Map()), good)
})

// Edits entries of a raw tree in one pass over its bytes, for folders of many thousand files.
import { assert } from '#lib/assert.ts'

export interface TreeChange {
  readonly oid: string
  readonly isFolder: boolean
}

const idBytes = 20
const space = 0x20
const slash = 0x2f
/** First octet of the mode of a folder; no other mode begins with it. */
const folderMark = 0x34

/**
 * @returns the ids of the folders in the tree; undefined when the bytes are no tree in Git's order
 */
export function foldersIn(
  raw: Uint8Array,
  names: ReadonlySet<string>,
): Map<string, string> | undefined {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const found = new Map<string, string>()
  const isTree = walk(raw, ({ at, nameAt, end, after }) => {
    if (raw[at] !== folderMark) return
    const name = bytes.toString('utf8', nameAt, end)
    if (names.has(name)) found.set(name, bytes.toString('hex', end + 1, after))
  })
  return isTree ? found : undefined
}

/**
 * @param changes by name; null removes the entry of that name, if there is one
 *
 * @returns undefined when the bytes are no tree in Git's order
 */
export function editTree(
  raw: Uint8Array,
  changes: ReadonlyMap<string, TreeChange | null>,
): Buffer | undefined {
  const edits = editsOf(changes)
  const parts: Uint8Array[] = []
  let next = 0
  let keptFrom = 0
  const isTree = walk(raw, (span) => {
    for (; next < edits.length; next++) {
      const { key, change } = edits[next]!
      const order = compareKey(key, raw, span)
      if (order > 0) return
      parts.push(raw.subarray(keptFrom, span.at))
      keptFrom = order === 0 ? span.after : span.at
      if (change !== null)
        parts.push(entryBytes(key, change, order === 0 ? fileMode(raw, span) : ''))
    }
  })
  if (!isTree) return undefined
  parts.push(raw.subarray(keptFrom))
  for (const { key, change } of edits.slice(next)) {
    if (change !== null) parts.push(entryBytes(key, change, ''))
  }
  return Buffer.concat(parts)
}

/**
 * Position of an entry: mode from `at`, name from `nameAt` to `end`, the next entry from `after`.
 */
interface Span {
  at: number
  nameAt: number
  end: number
  after: number
}

/**
 * @param visit gets the same span each time.
 * @returns whether all of it is in Git's order
 */
function walk(raw: Uint8Array, visit: (span: Readonly<Span>) => void): boolean {
  let span: Span = { at: 0, nameAt: 0, end: 0, after: 0 }
  let before: Span = { ...span }
  while (span.after < raw.length) {
    ;[span, before] = [before, span]
    span.at = before.after
    span.nameAt = span.at
    while (raw[span.nameAt] !== space && span.nameAt < raw.length) span.nameAt++
    span.nameAt++
    span.end = span.nameAt
    while (raw[span.end] !== 0 && span.end < raw.length) span.end++
    span.after = span.end + 1 + idBytes
    if (span.after > raw.length) return false
    if (span.at > 0 && compareSpans(raw, before, span) >= 0) return false
    visit(span)
  }
  return true
}

interface Edit {
  /** Key in Git's order: the name of a folder ends in a slash. */
  readonly key: Buffer
  readonly change: TreeChange | null
}

/** Sorts the edits in Git's order. A file that becomes a folder is removed, and vice versa. */
function editsOf(changes: ReadonlyMap<string, TreeChange | null>): Edit[] {
  const edits = Array.from(changes, ([name, change]): [Edit, Edit] => [
    { key: Buffer.from(name), change: change?.isFolder === true ? null : change },
    { key: Buffer.from(`${name}/`), change: change?.isFolder === true ? change : null },
  ])
  return edits.flat().sort((a, b) => Buffer.compare(a.key, b.key))
}

function entryBytes(key: Buffer, { oid, isFolder: isDirectory }: TreeChange, kept: string): Buffer {
  assert(oid.length === 2 * idBytes, 'an entry of a tree names an object')
  const name = isDirectory ? key.subarray(0, -1) : key
  // An executable file stays executable; a link becomes a file.
  const mode = isDirectory ? '40000' : kept.startsWith('100') ? kept : '100644'
  return Buffer.concat([Buffer.from(`${mode} `), name, Buffer.of(0), Buffer.from(oid, 'hex')])
}

function fileMode(raw: Uint8Array, { at, nameAt }: Span): string {
  return Buffer.from(raw.subarray(at, nameAt - 1)).toString('latin1')
}

/** Below 0: the key comes before the entry. */
function compareKey(key: Uint8Array, raw: Uint8Array, span: Span): number {
  const length = keyLength(raw, span)
  for (let i = 0; i < key.length && i < length; i++) {
    const octet = keyOctet(raw, span, i)
    if (key[i] !== octet) return key[i]! - octet
  }
  return key.length - length
}

function compareSpans(raw: Uint8Array, a: Span, b: Span): number {
  const [lengthA, lengthB] = [keyLength(raw, a), keyLength(raw, b)]
  for (let i = 0; i < lengthA && i < lengthB; i++) {
    const difference = keyOctet(raw, a, i) - keyOctet(raw, b, i)
    if (difference !== 0) return difference
  }
  return lengthA - lengthB
}

function keyLength(raw: Uint8Array, { at, nameAt, end }: Span): number {
  return end - nameAt + (raw[at] === folderMark ? 1 : 0)
}

function keyOctet(raw: Uint8Array, { nameAt, end }: Span, i: number): number {
  return nameAt + i < end ? raw[nameAt + i]! : slash
}

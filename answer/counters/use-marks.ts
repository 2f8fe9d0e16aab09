// Marks queried names and answered members: a bit each, set by all threads, taken by the control
// thread.
import { nameOfNode, uidOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { bundleLimits } from '#bundle/format/limits.ts'

/** Bits by node and by member of a bundle. */
export interface UseMarks {
  readonly names: Int32Array<SharedArrayBuffer>
  readonly members: Int32Array<SharedArrayBuffer>
}

/** Names with their final dot, and uids. */
export interface UsedObjects {
  readonly names: readonly string[]
  readonly members: readonly string[]
  /** Response rules and redirects. */
  readonly rules: readonly string[]
}

const wordsOf = (rows: number): number => (rows + 31) >>> 5

/** In whole cache lines: the cells behind belong to one thread each. */
export function markBytes({ counts }: Bundle): number {
  return ((wordsOf(counts.nodes) + wordsOf(counts.members)) * 4 + 63) & ~63
}

/** Size for the largest bundle. */
export const markBytesMax =
  (wordsOf(bundleLimits.bytesMax / (NodeCell.Words * 4)) + wordsOf(bundleLimits.membersMax)) * 4 +
  64

/** A view of the first octets of a buffer; without a buffer, marks that nobody reads. */
export function useMarks(bundle: Bundle, shared?: SharedArrayBuffer): UseMarks {
  const { nodes, members } = bundle.counts
  const buffer = shared ?? new SharedArrayBuffer(markBytes(bundle))
  const names = new Int32Array(buffer, 0, wordsOf(nodes))
  return { names, members: new Int32Array(buffer, names.byteLength, wordsOf(members)) }
}

/** A larger configuration is not tracked: each object would be a row of SQL. */
export const useLimits = { objectsMax: 200_000 } as const

/** Returns the objects marked since the last call and clears their marks. */
export function takeMarked(
  bundle: Bundle,
  marks: UseMarks,
): Pick<UsedObjects, 'names' | 'members'> {
  const names: string[] = []
  takeRows(marks.names, (node) => names.push(nameOfNode(bundle, node)))
  const members: string[] = []
  takeRows(marks.members, (member) => members.push(uidOf(bundle.memberUid, member)))
  return { names, members }
}

/** All objects whose use can be tracked. */
export function objectsOf(bundle: Bundle): UsedObjects {
  const { nodes, members, responseRules, redirects } = bundle.counts
  const uids = (column: Uint8Array, length: number): string[] =>
    Array.from({ length }, (_, row) => uidOf(column, row))
  return {
    names: Array.from({ length: nodes }, (_, node) => nameOfNode(bundle, node)),
    members: uids(bundle.memberUid, members),
    rules: [...uids(bundle.responseUid, responseRules), ...uids(bundle.redirectUid, redirects)],
  }
}

function takeRows(marks: Int32Array, take: (row: number) => void): void {
  for (let word = 0; word < marks.length; word++) {
    if (marks[word] === 0) continue
    // Bits set after the exchange count for the next call.
    let bits = Atomics.exchange(marks, word, 0)
    while (bits !== 0) {
      const bit = 31 - Math.clz32(bits)
      bits &= ~(1 << bit)
      take(word * 32 + bit)
    }
  }
}

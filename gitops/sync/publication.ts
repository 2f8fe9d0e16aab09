// What a publisher hands to the node: a signed channel record with the next sequence number, and
// its bundle.
import { assert } from '#lib/assert.ts'
import type { Publication } from '#bundle/signature/publication.ts'

/** A publication, and the commit that its bundle was made of. */
export interface CommitPublication extends Publication {
  readonly commit: string
}

/** A bundle's place in the order of its channel. */
export interface Position {
  readonly seq: number
  /** SHA-256, hex; '' before the first. */
  readonly digest: string
}

/** What the node runs. */
export interface ServedPosition extends Position {
  /** In shared memory, where the node has it at hand. Taken away by who needs it. */
  bundle?: Uint8Array | undefined
}

export interface NextPosition {
  readonly seq: number
  /** Digest that `seq - 1` named, when it is known. */
  readonly previous: string
  /** False when the node runs just this. */
  readonly isNews: boolean
}

/**
 * Where a bundle goes: behind everything that this publisher or the node has seen. A digest that is
 * already the newest keeps its seq, so that a restart or a lost message publishes the same again.
 */
export function nextPosition(
  stored: Position & { readonly previous: string },
  node: Position | null,
  digest: string,
): NextPosition {
  const isNodeAhead = node !== null && node.seq > stored.seq
  const newest = isNodeAhead ? node : stored
  assert(Number.isSafeInteger(newest.seq + 1), 'the next number of a channel can be counted')
  // The same seq with two digests must not get a third meaning: step over it.
  const isForked = node !== null && node.seq === stored.seq && node.digest !== stored.digest
  if (newest.digest === digest && newest.seq > 0 && !isForked) {
    const isNews = node === null || node.seq !== newest.seq || node.digest !== digest
    return { seq: newest.seq, previous: isNodeAhead ? '' : stored.previous, isNews }
  }
  return { seq: newest.seq + 1, previous: newest.digest, isNews: true }
}

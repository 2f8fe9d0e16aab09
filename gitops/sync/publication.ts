// Defines what a publisher hands to the node: a bundle, and a signed channel record with the next
// sequence number.
import { assert } from '#lib/assert.ts'
import type { Publication } from '#bundle/signature/publication.ts'

/** A publication, and the commit that its bundle was compiled from. */
export interface CommitPublication extends Publication {
  readonly commit: string
}

/** A bundle's place in the order of its channel. */
export interface Position {
  readonly seq: number
  /** SHA-256 of the bundle in hex; '' before the first. */
  readonly digest: string
}

/** The position of the bundle that the node serves. */
export interface ServedPosition extends Position {
  /** The bundle in shared memory, if the node has it at hand. It is cleared when it is taken. */
  bundle?: Uint8Array | undefined
}

interface NextPosition {
  readonly seq: number
  /** Digest of the bundle at `seq - 1`, when it is known. */
  readonly previous: string
  /** False when the node serves this bundle already. */
  readonly isNews: boolean
}

/**
 * The position of a bundle: after every one that this publisher or the node has seen. A digest that
 * is the newest already keeps its seq, so that a restart or a lost message publishes the same
 * record again.
 */
export function nextPosition(
  stored: Position & { readonly previous: string },
  node: Position | null,
  digest: string,
): NextPosition {
  const isNodeAhead = node !== null && node.seq > stored.seq
  const newest = isNodeAhead ? node : stored
  assert(Number.isSafeInteger(newest.seq + 1), 'the next number of a channel can be counted')
  // The stored seq names two digests already: it is skipped, so that it does not name a third.
  const isForked = node !== null && node.seq === stored.seq && node.digest !== stored.digest
  if (newest.digest === digest && newest.seq > 0 && !isForked) {
    const isNews = node === null || node.seq !== newest.seq || node.digest !== digest
    return { seq: newest.seq, previous: isNodeAhead ? '' : stored.previous, isNews }
  }
  return { seq: newest.seq + 1, previous: newest.digest, isNews: true }
}

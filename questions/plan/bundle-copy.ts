// Copies the active bundle for threads that read it for longer than it may live.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import type { LiveNode } from '#server/node/live-node.ts'

export interface BundleCopy {
  readonly bundle: Uint8Array
  readonly digest: string
}

/** A copy, since the memory of a generation belongs to another one after the next swap. */
export function copyOfBundle({ bundle: { bytes, digest } }: LiveNode): BundleCopy {
  return { bundle: sharedCopy(bytes), digest }
}

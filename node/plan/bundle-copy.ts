// A copy of the bundle that answers, for threads that look at it for longer than it may live.
import type { LiveNode } from '#server/node/live-node.ts'

export interface BundleCopy {
  readonly bundle: Uint8Array
  readonly digest: string
}

/** Its generation may be another one's memory after the next swap. */
export function copyOfBundle({ bundle: { bytes, digest } }: LiveNode): BundleCopy {
  const bundle = new Uint8Array(new SharedArrayBuffer(bytes.length))
  bundle.set(bytes)
  return { bundle, digest }
}

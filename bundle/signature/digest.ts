// Computes the digest that names a bundle.
import { hash } from 'node:crypto'
import { layout } from '#bundle/format/format.ts'

/**
 * SHA-256 in hex of the header and the manifest. The manifest has the digest of every section, and
 * `loadBundle` checks that these match and that all padding is zero: in a loaded bundle only the
 * signature can vary. (ADR 15)
 */
export function bundleDigest(bytes: Uint8Array): string {
  const manifestBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true)
  return hash('sha256', bytes.subarray(0, layout.headerBytes + manifestBytes))
}

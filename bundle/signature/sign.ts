// Signs a bundle in place: Ed25519 over the manifest, which holds a digest of every section.
import { sign } from 'node:crypto'
import type { SigningKey } from './channel.ts'
import { layout } from '#bundle/format/format.ts'

/** The octets that the signature covers: a domain, then the manifest as it is in the file. */
export function signedManifest(bytes: Uint8Array): Buffer {
  const manifestBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true)
  const manifest = bytes.subarray(layout.headerBytes, layout.headerBytes + manifestBytes)
  return Buffer.concat([Buffer.from(layout.signatureDomain), manifest])
}

/** The id of the key that has signed a bundle; not verified. */
export function signerOf(bytes: Uint8Array): string {
  const block = bytes.subarray(bytes.length - layout.signatureBytes)
  return Buffer.from(block.subarray(8, 24)).toString('latin1')
}

/** Fills the signature block at the end of an encoded bundle. The digest does not change. */
export function signBundle(bytes: Uint8Array, key: SigningKey): void {
  const block = bytes.subarray(bytes.length - layout.signatureBytes)
  block.fill(0)
  block.set(Buffer.from(layout.signatureMagic), 0)
  block.set(Buffer.from(key.keyId, 'ascii'), 8)
  block.set(sign(null, signedManifest(bytes), key.privateKey), 24)
}

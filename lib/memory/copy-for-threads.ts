// Copies octets to memory that threads share: other memory would be copied for each.

export function sharedCopy(octets: Uint8Array): Uint8Array<SharedArrayBuffer> {
  const copy = new Uint8Array(new SharedArrayBuffer(octets.length))
  copy.set(octets)
  return copy
}

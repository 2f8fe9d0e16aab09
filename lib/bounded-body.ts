// Reads a stream of octets into memory, up to a limit.

/** @param body null: there is none. Past `bytesMax` it is read no further, and the call throws. */
export async function boundedBytes(
  body: AsyncIterable<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let count = 0
  for await (const chunk of body ?? []) {
    count += chunk.length
    if (count > bytesMax) throw new TypeError(`the answer has more than ${bytesMax} octets`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

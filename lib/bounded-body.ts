// Reads a stream of octets into memory, up to a limit.

/** What a body has that says no end, or too late. */
export class BodyTooLong extends TypeError {
  constructor(bytesMax: number) {
    super(`the answer has more than ${bytesMax} octets`)
  }
}

export type Body = AsyncIterable<Uint8Array> | null

const firstBytes = 16_384

/**
 * Parts of one octet each cost no more than any others: they are not kept. Time is for the caller
 * to bound.
 *
 * @param body null: there is none. Past `bytesMax` it is read no further.
 * @throws BodyTooLong, and what the stream throws
 */
export async function boundedBytes(body: Body, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  let buffer = new ArrayBuffer(Math.min(firstBytes, bytesMax))
  let count = 0
  for await (const part of body ?? []) {
    const end = count + part.length
    if (end > bytesMax) throw new BodyTooLong(bytesMax)
    if (end > buffer.byteLength) {
      buffer = buffer.transfer(Math.min(bytesMax, Math.max(end, 2 * buffer.byteLength)))
    }
    new Uint8Array(buffer).set(part, count)
    count = end
  }
  return new Uint8Array(buffer.transfer(count))
}

/**
 * The same where the length is known before: nothing else is in memory.
 *
 * @returns octets that came
 * @throws BodyTooLong, and what the stream throws
 */
export async function fillFrom(body: Body, target: Uint8Array): Promise<number> {
  let count = 0
  for await (const part of body ?? []) {
    if (count + part.length > target.length) throw new BodyTooLong(target.length)
    target.set(part, count)
    count += part.length
  }
  return count
}

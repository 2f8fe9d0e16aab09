// Reads a stream of octets into memory, up to a limit.

/** Thrown for a body that is too long. */
export class BodyTooLong extends TypeError {
  constructor(bytesMax: number) {
    super(`the answer has more than ${bytesMax} octets`)
  }
}

type Body = AsyncIterable<Uint8Array> | null

const firstBytes = 16_384

/**
 * Small chunks cost no more than large ones, since they are copied. Time is limited by the caller.
 *
 * @param body null: there is none. It is read no further than `bytesMax`.
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
 * Reads a body of known length into `target`, without other memory.
 *
 * @returns octets that arrived
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

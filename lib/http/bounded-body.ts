// Reads a stream of octets into memory, whole or by lines, up to a limit.

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
  const held = new Held(bytesMax)
  for await (const part of body ?? []) held.add(part)
  return new Uint8Array(held.buffer.transfer(held.count))
}

/**
 * The lines of a body, each as soon as it has arrived, without its line feed. What follows the last
 * line feed is no line. Time is limited by the caller.
 *
 * @param bytesMax of one line
 * @throws BodyTooLong, and what the stream throws
 */
export async function* boundedLines(
  body: Exclude<Body, null>,
  bytesMax: number,
): AsyncGenerator<string> {
  const held = new Held(bytesMax)
  for await (const part of body) {
    let from = 0
    for (;;) {
      const end = part.indexOf(lineFeed, from)
      if (end === -1) break
      held.add(part.subarray(from, end))
      yield Buffer.from(held.buffer, 0, held.count).toString('utf8')
      held.count = 0
      from = end + 1
    }
    held.add(part.subarray(from))
  }
}

const lineFeed = 0x0a

/** Octets that arrived so far, in memory that doubles. */
class Held {
  readonly #bytesMax: number
  buffer: ArrayBuffer
  count = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.buffer = new ArrayBuffer(Math.min(firstBytes, bytesMax))
  }

  /** @throws BodyTooLong */
  add(part: Uint8Array): void {
    const end = this.count + part.length
    if (end > this.#bytesMax) throw new BodyTooLong(this.#bytesMax)
    const { byteLength } = this.buffer
    if (end > byteLength) {
      this.buffer = this.buffer.transfer(Math.min(this.#bytesMax, Math.max(end, 2 * byteLength)))
    }
    new Uint8Array(this.buffer).set(part, this.count)
    this.count = end
  }
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

import { describe, expect, test } from 'vitest'
import { BodyTooLong, boundedBytes, fillFrom } from '#lib/http/bounded-body.ts'

/** A body without an end, unless it is left. */
class Endless {
  sent = 0
  isLeft = false

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        this.sent += 1
        yield new Uint8Array(1)
      }
    } finally {
      this.isLeft = true
    }
  }
}

describe('a body of bounded size', () => {
  const rows: readonly [string, readonly string[], number][] = [
    ['is empty', [], 0],
    ['comes in one part', ['abc'], 8],
    ['comes in parts, some of them empty', ['ab', '', 'c'], 8],
    ['is as long as it may be', ['ab', 'c'], 3],
  ]
  test.each(rows)('%s: it is read whole', async (_what, parts, bytesMax) => {
    const read = await boundedBytes(new Blob([...parts]).stream(), bytesMax)
    expect(Buffer.from(read).toString()).toBe(parts.join(''))
  })

  test('is not there: nothing is read', async () => {
    expect(await boundedBytes(null, 8)).toHaveLength(0)
  })

  test('is too long: it is left at the first octet too many', async () => {
    const body = new Endless()
    await expect(boundedBytes(body, 3)).rejects.toThrow('the answer has more than 3 octets')
    expect(body).toMatchObject({ sent: 4, isLeft: true })
  })

  test('comes octet by octet: it is read whole', async () => {
    const parts = async function* (): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < 40_000; at++) yield Uint8Array.of(at)
    }
    const read = await boundedBytes(parts(), 100_000)
    expect(read).toEqual(Uint8Array.from({ length: 40_000 }, (_, at) => at))
    expect(read.buffer.byteLength).toBe(40_000)
  })

  test.each([
    ['fits', ['ab', 'c'], 3],
    ['is short', ['ab'], 2],
  ])('%s in a place of its size', async (_what, parts, count) => {
    const place = new Uint8Array(3)
    expect(await fillFrom(new Blob(parts).stream(), place)).toBe(count)
    expect(Buffer.from(place.subarray(0, count)).toString()).toBe(parts.join(''))
  })

  test('is longer than its place: it is left, and nothing is written beyond', async () => {
    const body = new Endless()
    const whole = new Uint8Array(4).fill(7)
    await expect(fillFrom(body, whole.subarray(0, 3))).rejects.toThrow(BodyTooLong)
    expect([...whole]).toEqual([0, 0, 0, 7])
    expect(body).toMatchObject({ sent: 4, isLeft: true })
  })

  test('breaks off: the reason goes on', async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new Error('reset')),
    })
    await expect(boundedBytes(broken, 8)).rejects.toThrow('reset')
  })
})

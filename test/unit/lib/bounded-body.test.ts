import { describe, expect, test } from 'vitest'
import { boundedBytes } from '#lib/bounded-body.ts'

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

  test('breaks off: the reason goes on', async () => {
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new Error('reset')),
    })
    await expect(boundedBytes(broken, 8)).rejects.toThrow('reset')
  })
})

// Messages come out of a stream as they went in, however it was cut.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MessageReader, ReplyBatch } from '#server/stream/tcp-framing.ts'
import { framed } from '../../../support/dns/client.ts'

function readAll(chunks: readonly Uint8Array[]): { messages: Buffer[]; isPartial: boolean } {
  const reader = new MessageReader()
  const into = new Uint8Array(65_535)
  const messages: Buffer[] = []
  for (const chunk of chunks) {
    reader.push(chunk)
    for (let length; (length = reader.next(into)) >= 0;)
      messages.push(Buffer.from(into.slice(0, length)))
  }
  return { messages, isPartial: reader.isPartial }
}

test('the same messages come out wherever the stream is cut', () => {
  const message = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.uint8Array({ minLength: 3_000, maxLength: 9_000 }),
  )
  const cut = fc.integer({ min: 1, max: 5_000 })
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 8 }),
      fc.array(cut, { minLength: 1 }),
      (sent, cuts) => {
        const stream = framed(...sent.map((bytes) => Buffer.from(bytes)))
        const chunks: Buffer[] = []
        for (let at = 0, i = 0; at < stream.length; i++) {
          const size = cuts[i % cuts.length] as number
          chunks.push(stream.subarray(at, at + size))
          at += size
        }
        const { messages, isPartial } = readAll(chunks)
        expect(messages).toEqual(sent.map((bytes) => Buffer.from(bytes)))
        expect(isPartial).toBe(false)
      },
    ),
  )
})

test('a stream that stops inside a message, or inside its length, is partial', () => {
  const stream = framed(Buffer.alloc(20))
  expect(readAll([stream.subarray(0, 1)]).isPartial).toBe(true)
  expect(readAll([stream.subarray(0, 21)]).isPartial).toBe(true)
  expect(readAll([stream]).isPartial).toBe(false)
})

test('a length that announces nothing is a message of no octets', () => {
  expect(readAll([Buffer.from([0, 0])]).messages).toEqual([Buffer.alloc(0)])
})

test('a batch refuses a reply that does not fit, and takes the largest one when empty', () => {
  const batch = new ReplyBatch()
  const reply = new Uint8Array(65_535)
  expect(batch.append(reply, 65_535)).toBe(true)
  expect(batch.append(reply, 12)).toBe(false)
  expect(batch.used).toBe(65_537)
})

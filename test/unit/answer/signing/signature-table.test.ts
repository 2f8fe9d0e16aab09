// The table that all threads share: what is found, what drives what away, and what a reader sees of
// a slot that another thread writes.
import { expect, test } from 'vitest'
import {
  createSignatureMemory,
  hasRoomFor,
  SignatureTable,
} from '#answer/signing/signature-table.ts'
import { Found, signatureBytes, signatureLimits } from '#answer/signing/signature-table.ts'

const signature = (octet: number): Uint8Array =>
  Uint8Array.from({ length: signatureBytes }, (_, i) => (octet * 31 + i * 7) & 0xff)

function open() {
  const memory = createSignatureMemory(1_900_000_000, 0)
  const table = new SignatureTable(memory)
  const reply = new DataView(new ArrayBuffer(256))
  const found = (
    digest0: number,
    digest1: number,
    inception: number,
    isAnyName = false,
    before = inception,
  ) => {
    const found = table.copy(digest0, digest1, inception, before, isAnyName, reply, 33)
    if (found === Found.None) return undefined
    expect(found).toBe(before === inception ? Found.Newest : Found.Before)
    return new Uint8Array(reply.buffer.slice(33, 33 + signatureBytes))
  }
  return { memory, table, found }
}

test('a signature is found only by its digest and its time', () => {
  const { table, found } = open()
  table.keep(5, -6, 100, false, signature(1))
  expect(found(5, -6, 100)).toEqual(signature(1))
  expect([found(5, -6, 101), found(5, -7, 100), found(6, -6, 100)]).toEqual(
    Array(3).fill(undefined),
  )
  // What names of clients have is apart.
  expect(found(5, -6, 100, true)).toBeUndefined()
  table.keep(5, -6, 101, false, signature(2))
  expect(found(5, -6, 101)).toEqual(signature(2))
  expect(found(5, -6, 100)).toBeUndefined()
})

test('the signature before is found where it may still be answered', () => {
  const { table, found } = open()
  table.keep(5, -6, 100, false, signature(1))
  expect(found(5, -6, 200, false, 100)).toEqual(signature(1))
  expect(found(5, -6, 200, false, 150)).toBeUndefined()
  table.keep(5, -6, 200, false, signature(2))
  expect(found(5, -6, 200)).toEqual(signature(2))
})

test('a set has four; a fifth drives one of them away', () => {
  const { table, found } = open()
  const digests = [0, 1, 2, 3, 4].map((i) => i * signatureLimits.ofZoneMin)
  for (const digest of digests) table.keep(digest, 9, 1, false, signature(digest & 7))
  expect(digests.filter((digest) => found(digest, 9, 1) !== undefined)).toHaveLength(4)
  expect(found(digests[4]!, 9, 1)).toBeDefined()
})

test('a signature that another thread has written in part is none', () => {
  const { memory, table, found } = open()
  table.keep(5, -6, 100, false, signature(1))
  const before = new Int32Array(memory).slice()
  table.keep(5, -6, 200, false, signature(2))
  const after = new Int32Array(memory).slice()
  const words = new Int32Array(memory)
  const changed = [...after.keys()].filter((i) => after[i] !== before[i])
  for (const wanted of [100, 200]) {
    for (let some = 1; some < changed.length - 1; some++) {
      words.set(before)
      for (const i of changed.slice(0, some)) words[i] = after[i]!
      // The version, which comes first, says nothing to a reader.
      const isWhole = some === 1 && wanted === 100
      expect(found(5, -6, wanted) !== undefined).toBe(isWhole)
    }
  }
})

test.each([
  [0, 16_384],
  [8_192, 16_384],
  [8_193, 32_768],
  [50_000, 131_072],
  [600_000, 1_048_576],
  [10_000_000, 1_048_576],
])('for %i rrsets there are %i slots, and those of any name', (rrsets, slots) => {
  const memory = createSignatureMemory(0, rrsets)
  expect(memory.byteLength).toBe((8 + (slots + signatureLimits.ofAnyName) * 20) * 4)
  expect(hasRoomFor(memory, rrsets)).toBe(true)
  const isLargest = slots === signatureLimits.ofZoneMax
  expect(hasRoomFor(memory, slots / 2 + 1)).toBe(isLargest)
})

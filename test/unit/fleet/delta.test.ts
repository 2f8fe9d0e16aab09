// Deltas of bundles: what is made of them is the new bundle, and nothing that is sent as one harms.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BundleDeltas } from '#fleet/bundle-deltas.ts'
import { readerOf } from '#test/support/octet-reader.ts'
import { applyDelta, makeDelta } from '#fleet/delta.ts'
import { PackedBundles } from '#fleet/packed-bundles.ts'
import { Random } from '#lib/random.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { signedBundle } from '#test/support/bundle-source.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const bytesMax = 64 * 1024 * 1024
const key = newSigningKey()
const [one, two] = [signedBundle(key, 1), signedBundle(key, 2)]

/** Laid out as a bundle is, with sections of any content. */
function bundleWith(sections: Readonly<Record<string, Uint8Array>>): Uint8Array {
  let end = 0
  const rows = Object.entries(sections).map(([name, { length: bytes }]) => {
    const offset = end
    end = Math.ceil((end + bytes) / 64) * 64
    return { name, offset, bytes }
  })
  const manifest = Buffer.from(JSON.stringify({ sections: rows }))
  const base = Math.ceil((64 + manifest.length) / 64) * 64
  const made = Buffer.alloc(base + end + 128, 0)
  made.writeUInt32LE(manifest.length, 12)
  manifest.copy(made, 64)
  for (const { name, offset } of rows) made.set(sections[name]!, base + offset)
  return made
}

function noise(bytes: number, seed: number): Buffer {
  const random = new Random(seed)
  return Buffer.from(Uint8Array.from({ length: bytes }, () => random.below(256)))
}

/** @returns octets of the delta; -1: there is nothing to be gained */
async function roundTrip(from: Uint8Array, to: Uint8Array): Promise<number> {
  const delta = await makeDelta(readerOf(from), readerOf(to))
  if (delta === undefined) return -1
  const made = await applyDelta(delta, readerOf(from), bytesMax)
  if (!made.ok) throw new Error(made.error)
  expect(Buffer.compare(made.value, to)).toBe(0)
  return delta.length
}

describe('a delta', () => {
  test('makes one real bundle of another', async () => {
    expect(await roundTrip(one.bytes, two.bytes)).toBeGreaterThan(0)
    expect(await roundTrip(one.bytes, one.bytes)).toBeLessThan(100)
  })

  const big = noise(2_500_000, 1)
  const small = noise(70_000, 2)
  const before = bundleWith({ big, small })
  const changed = Buffer.from(big)
  changed.fill(9, 1_200_000, 1_200_004)
  const longer = Buffer.concat([big.subarray(0, 500), noise(16, 3), big.subarray(500)])
  test.each<[string, Uint8Array, number]>([
    ['four octets that changed', bundleWith({ big: changed, small }), 2_000],
    ['a row that came', bundleWith({ big: longer, small }), 2_000],
    ['a row that went', bundleWith({ big: big.subarray(16), small }), 2_000],
    ['a section that came', bundleWith({ big, other: small, small }), 75_000],
    ['a section that went', bundleWith({ big }), 2_000],
    ['another order', bundleWith({ small, big }), 2_000],
  ])('has little for %s', async (_what, after, bytesAtMost) => {
    const bytes = await roundTrip(before, after)
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThan(bytesAtMost)
  })

  test('is not there when it would be half of the bundle', async () => {
    expect(await roundTrip(before, bundleWith({ big: noise(2_500_000, 4), small }))).toBe(-1)
  })

  test('between any two bundles makes the second', async () => {
    const section = fc.uint8Array({ maxLength: 300 })
    const names = fc.constantFrom('a', 'b', 'c')
    const sections = fc.dictionary(names, section)
    await fc.assert(
      fc.asyncProperty(sections, sections, async (a, b) => {
        await roundTrip(bundleWith(a), bundleWith(b))
      }),
      { numRuns: 40, seed: 14 },
    )
  })
})

describe('a malformed delta is refused:', () => {
  const old = readerOf(one.bytes)
  const deltaOf = (head: unknown, data = Buffer.alloc(0)): Buffer => {
    const packed = zstdCompressSync(typeof head === 'string' ? head : JSON.stringify(head))
    const prefix = Buffer.alloc(12)
    prefix.write('GSLBDLT1')
    prefix.writeUInt32LE(packed.length, 8)
    return Buffer.concat([prefix, packed, data])
  }
  const zeros = zstdCompressSync(Buffer.alloc(900_000))
  const eight = zstdCompressSync(Buffer.alloc(8))
  const noHead = Buffer.from('GSLBDLT1\xff\xff\xff\x7f', 'latin1')
  test.each<[string, Uint8Array]>([
    ['nothing', Buffer.alloc(0)],
    ['a page', Buffer.from('<!doctype html><title>Log in</title>')],
    ['a bundle', one.bytes],
    ['a head that is longer than all', noHead],
    ['a head that unpacks to much', deltaOf(' '.repeat(2_000_000))],
    ['a head of something else', deltaOf({ pieces: 7 })],
    ['a piece of words', deltaOf({ pieces: [['a', 0, 0, 0]] })],
    ['a piece before the beginning', deltaOf({ pieces: [[1, -1, 0, 0]] })],
    ['a piece of half an octet', deltaOf({ pieces: [[1.5, 0, 0, 0]] })],
    ['a copy from behind the end', deltaOf({ pieces: [[1, one.bytes.length, 0, 0]] })],
    ['a dictionary from behind the end', deltaOf({ pieces: [[1, 9, one.bytes.length, 5]] })],
    ['more than a bundle may have', deltaOf({ pieces: [[bytesMax + 1, 0, 0, 0]] })],
    ['too many pieces', deltaOf({ pieces: Array(9_000).fill([0, 0, 0, 0]) })],
    ['data that is not there', deltaOf({ pieces: [[10, 0, 0, 10]] })],
    ['data that nobody wants', deltaOf({ pieces: [] }, Buffer.from('x'))],
    ['a little that unpacks to much', deltaOf({ pieces: [[10, 0, 0, zeros.length]] }, zeros)],
    ['a piece of five numbers', deltaOf({ pieces: [[8, 0, 8, eight.length, 1]] }, eight)],
    ['a little that unpacks to less', deltaOf({ pieces: [[1e6, 0, 0, zeros.length]] }, zeros)],
  ])('%s', async (_what, delta) => {
    expect((await applyDelta(delta, old, bytesMax)).ok).toBe(false)
  })

  test('any octet that is changed: refused, or something is made, no throw', async () => {
    const good = Buffer.from((await makeDelta(old, readerOf(two.bytes)))!)
    const at = fc.nat(good.length - 1)
    await fc.assert(
      fc.asyncProperty(at, fc.integer({ min: 1, max: 255 }), async (place, flip) => {
        const bad = Buffer.from(good)
        bad[place]! ^= flip
        const made = await applyDelta(bad, old, 1_000_000)
        if (made.ok) expect(made.value.length).toBeLessThanOrEqual(1_000_000)
      }),
      { numRuns: 150, seed: 14 },
    )
  })
})

describe('a control node', () => {
  function scene() {
    const directory = tempDir('deltas')
    const put = ({ digest, bytes }: typeof one): void =>
      writeFileSync(join(directory, digest), bytes)
    let reads = 0
    const pathOf = (digest: string): string => {
      reads++
      return join(directory, digest)
    }
    return { directory, put, pathOf, reads: () => reads }
  }

  test('makes a delta once for all who ask', async () => {
    const { put, pathOf, reads } = scene()
    put(one)
    put(two)
    const deltas = new BundleDeltas(pathOf)
    const given = await Promise.all(
      Array.from({ length: 50 }, () => deltas.get(one.digest, two.digest)),
    )
    expect(new Set(given).size).toBe(1)
    expect(given[0]).toBeDefined()
    expect(await deltas.get(one.digest, two.digest)).toBe(given[0])
    expect(reads()).toBe(2)
  })

  test('has none of a bundle that it does not have, until it has it', async () => {
    const { put, pathOf } = scene()
    put(two)
    const deltas = new BundleDeltas(pathOf)
    expect(await deltas.get(one.digest, two.digest)).toBe(undefined)
    put(one)
    expect(await deltas.get(one.digest, two.digest)).toBeDefined()
  })

  test('makes only so many at once: the others have the whole bundle', async () => {
    const { put, pathOf } = scene()
    put(one)
    put(two)
    const deltas = new BundleDeltas(pathOf)
    const others = Array.from({ length: 20 }, (_, i) =>
      deltas.get(i.toString(16).padStart(64, '0'), two.digest),
    )
    expect(await deltas.get(one.digest, two.digest)).toBe(undefined)
    await Promise.all(others)
    expect(await deltas.get(one.digest, two.digest)).toBeDefined()
  })

  test('compresses a bundle once, and forgets those that are gone', async () => {
    const { directory, put, pathOf } = scene()
    put(one)
    const packed = join(directory, 'packed')
    const bundles = new PackedBundles(packed, pathOf)
    const paths = await Promise.all(Array.from({ length: 20 }, () => bundles.path(one.digest)))
    expect(new Set(paths)).toEqual(new Set([join(packed, `${one.digest}.zst`)]))
    expect(await bundles.path(two.digest)).toBe(undefined)
  })

  test('goes on without a disk that takes compressed bundles', async () => {
    const { directory, put, pathOf } = scene()
    put(one)
    writeFileSync(join(directory, 'packed'), 'a file in the way')
    expect(await new PackedBundles(join(directory, 'packed'), pathOf).path(one.digest)).toBe(
      undefined,
    )
    mkdirSync(join(directory, 'free'))
    expect(await new PackedBundles(join(directory, 'free'), pathOf).path(one.digest)).toBeDefined()
  })
})

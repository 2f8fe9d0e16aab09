// TXT records that become a bundle, here or in a thread: the same one, and the main loop goes on.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { encodeBundle } from '#bundle/encode/encode.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { encodedHere, WrittenEncoder } from '#zones/dynamic/written-encoder.ts'
import { WrittenRecords } from '#zones/dynamic/written-records.ts'
import { modelOf } from '#test/support/dns/model.ts'
import { laneCount } from '#test/support/lane.ts'
import { storedTxt } from '#test/support/txt-records.ts'

function mainOf(more: string): Bundle {
  const text = `@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\n${more}`
  const { bytes, digest } = encodeBundle(modelOf({ name: 'example.com.', text }), () => -1)
  return adoptBundle(bytes, digest)
}
const main = mainOf('')
const other = mainOf('n1 60 TXT static\n')

let texts: WrittenRecords
let encoder: WrittenEncoder
beforeEach(() => {
  texts = new WrittenRecords()
  encoder = new WrittenEncoder(texts)
})
afterEach(() => encoder.stop())

const add = (...names: readonly string[]): void => {
  const added = names.map((name) => storedTxt([`${name}.example.com.`, 'x']))
  encoder.changed(texts.change({ revision: texts.revision + 1, removed: [], added }))
}
const remove = (name: string): void => {
  const removed = [`${name}.example.com. x`]
  encoder.changed(texts.change({ revision: texts.revision + 1, removed, added: [] }))
}
const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `n${i}`)

test('a few are encoded at once', () => {
  add(...many(encodedHere.names))
  const encoded = encoder.encode(main)
  expect(encoded).toMatchObject({ revision: 1, mainDigest: main.digest, outside: 0, leftOut: 0 })
})

test('many are encoded in a thread, to the same octets; so is each change', async () => {
  add(...many(encodedHere.names + 1))
  const expectSame = async (bundle: Bundle): Promise<void> => {
    const { handed, revision } = await encoder.encode(bundle)
    const here = encodeWritten(texts.snapshot().records, bundle).handed
    expect(handed?.digest).toBe(here!.digest)
    expect(Buffer.compare(handed!.bytes, here!.bytes)).toBe(0)
    expect(revision).toBe(texts.revision)
  }
  await expectSame(main)
  add('new', 'other')
  await expectSame(main)
  remove('n7')
  await expectSame(main)
  await expectSame(other)
  for (const name of many(encodedHere.names + 1)) if (name !== 'n7') remove(name)
  remove('new')
  await expectSame(main)
  remove('other')
  expect((await encoder.encode(main)).handed).toBeNull()
})

test('those that ask while others are encoded are encoded together', async () => {
  add(...many(encodedHere.names + 1))
  const first = encoder.encode(main)
  const rest = ['a', 'b', 'c'].map((name) => {
    add(name)
    return Promise.resolve(encoder.encode(main))
  })
  const elsewhere = encoder.encode(other)
  expect((await elsewhere).mainDigest).toBe(other.digest)
  expect((await first).revision).toBeLessThanOrEqual(4)
  expect((await Promise.all(rest)).map(({ revision }) => revision)).toEqual([4, 4, 4])
})

test('a thread that dies fails its job, and the next one starts another', async () => {
  add(...many(encodedHere.names + 1))
  await encoder.encode(main)
  const damaged = { ...main, bytes: new Uint8Array(8), digest: 'damaged' }
  await expect(encoder.encode(damaged)).rejects.toThrow()
  expect((await encoder.encode(main)).handed).not.toBeNull()
})

test('the main loop goes on while tens of thousands are encoded', async () => {
  const count = laneCount(50_000, 10_000)
  add(...many(count))
  await encoder.encode(main)
  add('new')
  let turns = 0
  const ticking = setInterval(() => turns++, 1)
  const sum = ({ user, system }: NodeJS.CpuUsage): number => user + system
  const [here, everywhere] = [process.threadCpuUsage(), process.cpuUsage()]
  await encoder.encode(main)
  const share = sum(process.threadCpuUsage(here)) / sum(process.cpuUsage(everywhere))
  clearInterval(ticking)
  // A share of the work, whatever the machine: if it were done here, nearly all of it.
  expect(share).toBeLessThan(0.5)
  expect(turns).toBeGreaterThan(5)
})

// Which memory the generations of a node lie in.
import { expect, test } from 'vitest'
import { GenerationMemory } from '#server/node/generation-memory.ts'

const octets = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value)

/** Takes the memory of a generation; without `cursors`, it has some of its own. */
function take(memory: GenerationMemory, value: number, isFree = true, cursors?: SharedArrayBuffer) {
  const bundle = memory.bundle(octets(10, value), isFree)
  const routing = memory.routing(isFree)
  const hits = memory.hits(8, isFree)
  const queries = memory.queries(8, isFree)
  return { bundle, table: routing.table(8), cursors: cursors ?? routing.cursors(8), hits, queries }
}

function serve(...args: Parameters<typeof take>) {
  const taken = take(...args)
  args[0].publish(taken.bundle, taken, taken, null)
  return taken
}

test('generations take turns in two buffers, each as large as it has to be', () => {
  const memory = new GenerationMemory(1)
  const { table, cursors, hits, queries } = serve(memory, 0)
  const buffers = [10, 20, 30, 5].map((length, value) => {
    const bundle = memory.bundle(octets(length, value), true)
    expect(bundle).toEqual(octets(length, value))
    memory.publish(bundle, { table, cursors }, { hits, queries }, null)
    return bundle.buffer
  })
  expect(buffers[2]).toBe(buffers[0])
  expect(buffers[3]).toBe(buffers[1])
  expect(buffers[1]).not.toBe(buffers[0])
})

test('memory that a thread may still read is left to it', () => {
  const memory = new GenerationMemory(1)
  const first = serve(memory, 1)
  serve(memory, 2)
  const third = serve(memory, 3, false)
  expect(third.bundle.buffer).not.toBe(first.bundle.buffer)
  expect(first.bundle).toEqual(octets(10, 1))
})

test.each([true, false])('memory asked for again, for more, is the same; free: %s', (isFree) => {
  const memory = new GenerationMemory(1)
  serve(memory, 1)
  serve(memory, 2)
  const first = memory.networks(8, isFree)
  new Uint8Array(first).fill(7)
  const larger = memory.networks(64, isFree)
  expect(larger).toBe(first)
  expect(new Uint8Array(larger, 0, 9)).toEqual(new Uint8Array([7, 7, 7, 7, 7, 7, 7, 7, 0]))
})

test('memory given out while a thread lagged is not reused for the next one', () => {
  const memory = new GenerationMemory(1)
  const first = serve(memory, 1, false)
  serve(memory, 2, false)
  expect(serve(memory, 3, false).table).not.toBe(first.table)
})

test('generations that come to nothing leave the published one alone', () => {
  const memory = new GenerationMemory(1)
  const published = serve(memory, 1)
  for (const value of [2, 3]) {
    const failed = take(memory, value)
    expect(failed.table).not.toBe(published.table)
    expect(failed.cursors).not.toBe(published.cursors)
  }
  expect(published.bundle).toEqual(octets(10, 1))
})

test('cursors that a generation keeps are not given to the next one', () => {
  const memory = new GenerationMemory(1)
  const { cursors } = serve(memory, 1)
  take(memory, 2)
  serve(memory, 3, true, cursors)
  expect(serve(memory, 4).cursors).not.toBe(cursors)
})

test('memory that is used again is zero', () => {
  const memory = new GenerationMemory(1)
  for (let generation = 0; generation < 3; generation++) {
    const table = new Uint8Array(serve(memory, generation).table, 0, 8)
    expect(table).toEqual(octets(8, 0))
    table.fill(7)
  }
})

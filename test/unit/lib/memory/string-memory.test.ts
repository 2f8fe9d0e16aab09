// Strings that are equal become one string, and data stays what it says.
import { expect, test } from 'vitest'
import { exposedCollector } from '#lib/memory/exposed-collector.ts'
import { shared, shareStrings } from '#lib/memory/string-memory.ts'

/** An equal string that shares nothing with another one. */
const copyOf = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')

test.each([
  ['empty', ''],
  ['short', 'Service'],
  ['as long as is looked up', 'n'.repeat(36)],
  ['longer', 'n'.repeat(37)],
  ['of any characters', 'Zürich 🏔 \u0000'],
  ['half a pair', 'a lone \ud83c surrogate'],
])('a string stays what it says: %s', (_, text) => {
  expect([shared(text), shared(`${text}`)]).toEqual([text, text])
})

test('thousands of others between two equal ones change neither', () => {
  const texts = Array.from({ length: 20_000 }, (_, i) => `service-${i}`)
  expect(texts.map((text) => shared(text))).toEqual(texts)
})

test('plain data of any depth stays what it says', () => {
  const data = (): unknown => ({
    kind: 'Pool',
    spec: { members: [{ name: 'a', port: 53, enabled: true, site: null }, 'a', ['a', undefined]] },
  })
  const given = data()
  shareStrings(given)
  expect(given).toEqual(data())
})

const collect = exposedCollector()
const used = (): number => {
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  return process.memoryUsage().heapUsed
}

test('a part of a large text does not keep the text', () => {
  const large = 2 ** 20
  const before = used()
  const parts = Array.from({ length: 32 }, (_, i) => {
    const text = copyOf(`${'x'.repeat(large)}a-name-of-thirty-characters-${i}`)
    return shared(text.slice(large))
  })
  expect(used() - before).toBeLessThan(4 * large)
  expect(parts[31]).toBe('a-name-of-thirty-characters-31')
})

test('a text in a hundred thousand objects takes its memory once', () => {
  const text = 'weighted-round-robin-of-a-service'
  const objects = Array.from({ length: 100_000 }, () => ({ algorithm: copyOf(text) }))
  const before = used()
  shareStrings(objects)
  const saved = before - used()
  expect(objects[99_999]).toEqual({ algorithm: text })
  expect(saved).toBeGreaterThan(objects.length * text.length)
})

// XML of APIs: whatever is printed is read back, and whatever is read does not throw.
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeXml, parseXml, xmlLimits } from '#integrations/zone-push/xml.ts'
import type { XmlElement } from '#integrations/zone-push/xml.ts'

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,8}$/)
/** XML 1.0 has no other characters, not even as references. */
const notOfXml = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu
const text = fc.string({ unit: 'binary' }).map((one) => one.replaceAll(notOfXml, ''))
const elementOf = (depth: number): fc.Arbitrary<XmlElement> =>
  fc.record({
    ...{ name, text },
    children: depth === 0 ? fc.constant([]) : fc.array(elementOf(depth - 1), { maxLength: 3 }),
  })
const element = elementOf(3)

const printed = ({ name, children, text }: XmlElement): string =>
  `<${name} a="x>y">${escapeXml(text)}${children.map(printed).join('')}</${name}>`

test('a printed element is read back', () => {
  fc.assert(
    fc.property(element, (one) => {
      expect(parseXml(printed(one))).toEqual({ ok: true, value: one })
    }),
    { numRuns: 200 },
  )
})

test('a text that was changed anywhere is refused or read, and never throws', () => {
  const [one] = fc.sample(element, { numRuns: 1, seed: 7 })
  const text = printed(one!)
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.string({ maxLength: 4 }), (at, change) => {
      parseXml(text.slice(0, at) + change + text.slice(at + change.length))
    }),
    { numRuns: 300 },
  )
})

const corpus = 'test/fuzz/corpus/xml'
test.each(readdirSync(corpus))('%s', (file) => {
  const read = parseXml(readFileSync(`${corpus}/${file}`, 'utf8'))
  expect(read.ok ? 'read' : 'refused').toBe(file.split('.').at(-1))
})

test('elements that are too deep, and too many, are refused in linear time', () => {
  expect(parseXml('<a>'.repeat(xmlLimits.depthMax + 1)).ok).toBe(false)
  expect(parseXml('<a>'.repeat(1_000_000)).ok).toBe(false)
  expect(parseXml(`<a>${'<b/>'.repeat(xmlLimits.elementsMax)}</a>`).ok).toBe(false)
  expect(parseXml(`<!--${'-'.repeat(1_000_000)}`).ok).toBe(false)
  expect(parseXml(`<a ${'b="c" '.repeat(100_000)}`).ok).toBe(false)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { repeatedKeyIn } from '#http/repeated-key.ts'

/** Few, so that some stand twice, and with what is syntax outside of strings. */
const pieces = ['a', 'b', '"', '\\', ':', '{', '}', ',', '[', '😀', '__proto__', '0', ' ']

const piece = fc.tuple(fc.constantFrom(...pieces), fc.boolean()).map(([text, isEscaped]) => {
  if (!isEscaped) return JSON.stringify(text).slice(1, -1)
  const units = text.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  return units.map((unit) => `\\u${unit}`).join('')
})
const literal = fc.array(piece, { maxLength: 2 }).map((all) => `"${all.join('')}"`)
const blank = fc.constantFrom('', '', '', ' ', '\n\t\r ')

/** Texts whose objects may have a key twice. */
const { json } = fc.letrec<{ json: string }>((tie) => {
  const element = fc.tuple(blank, tie('json'), blank).map((parts) => parts.join(''))
  const member = fc.tuple(blank, literal, blank, element)
  const members = member.map(([before, key, after, value]) => `${before}${key}${after}:${value}`)
  return {
    json: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('0', '-1.5e3', 'true', 'null'),
      literal,
      fc.array(element, { maxLength: 4 }).map((all) => `[${all.join()}]`),
      fc.array(members, { maxLength: 4 }).map((all) => `{${all.join()}}`),
      fc.array(members, { maxLength: 40 }).map((all) => `{${all.join()}}`),
    ),
  }
})

/** A part of the text is left out or stands twice: most of these are no JSON any more. */
const broken = fc
  .tuple(json, fc.nat(), fc.nat({ max: 8 }), fc.boolean())
  .map(([text, seed, length, isDoubled]) => {
    const at = seed % (text.length + 1)
    const rest = text.slice(isDoubled ? at : at + length)
    return text.slice(0, at) + (isDoubled ? text.slice(at, at + length) : '') + rest
  })

/** As a key. V8 14.6, once it has seen one, takes other escaped keys for it. */
const loneBackslash = /"(\\\\|\\u005c)"\s*:/i

/** `JSON.parse` drops the first of two: then the value has fewer keys than the text. */
function hasRepeatedKey(text: string, value: unknown): boolean {
  const given = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1
  return given !== countKeys(value)
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Object.values(value).reduce<number>((sum, each) => sum + countKeys(each), 0)
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length)
}

test('a key that stands twice is found in every text that JSON.parse takes', () => {
  const seen = { none: 0, some: 0 }
  const property = fc.property(fc.oneof(json, broken), (text) => {
    if (loneBackslash.test(text)) return
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return
    }
    const has = hasRepeatedKey(text, value)
    expect(repeatedKeyIn(text) !== undefined, text).toBe(has)
    seen[has ? 'some' : 'none']++
  })
  fc.assert(property, { numRuns: 5_000 })
  // What is always the same proves nothing.
  expect(seen.none).toBeGreaterThan(500)
  expect(seen.some).toBeGreaterThan(500)
})

test('a text printed from a value has no key twice', () => {
  const property = fc.property(fc.jsonValue(), fc.nat({ max: 3 }), (value, indent) => {
    expect(repeatedKeyIn(JSON.stringify(value, null, indent))).toBeUndefined()
  })
  fc.assert(property, { numRuns: 1_000 })
})

// What is told of a text that is no JSON, compared with what V8 tells of it.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonFaultAt } from '#http/json-fault.ts'

function faultOf(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** A text that is nearly JSON: a few characters are taken out, or put in. */
const nearly = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'{}[],:"\\ \n0-.etn', '')), {
      maxLength: 3,
    }),
  )
  .map(([json, cuts]) =>
    cuts.reduce((text, [at, count, sign]) => {
      const from = at % (text.length + 1)
      return text.slice(0, from) + sign + text.slice(from + count)
    }, json),
  )

test('the place is that of V8, or of the token around it; JSON has none', () => {
  fc.assert(
    fc.property(nearly, (text) => {
      const at = jsonFaultAt(text)
      const fault = faultOf(text)
      if (fault === undefined) {
        expect(at).toBe(text.length)
        return
      }
      // It tells no place of some faults.
      const said = /^Unexpected end/.test(fault) ? text.length : /position (\d+)/.exec(fault)?.[1]
      if (said === undefined) return
      const theirs = Number(said)
      expect(at).toBeLessThanOrEqual(theirs)
      expect(text.slice(at, theirs)).toMatch(/^[^[\]{}:,"]*$/)
    }),
  )
})

test('a long text is read once: nothing is gone back to', () => {
  const texts = [`"${'a'.repeat(2e5)}`, `"${'\\n'.repeat(1e5)}`, '['.repeat(2e5), '1'.repeat(2e5)]
  for (const text of texts) expect(jsonFaultAt(text)).toBe(text.length)
})

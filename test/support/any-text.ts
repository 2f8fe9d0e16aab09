// Generates any text of code points. The unit `binary` of fast-check does the same, but takes two
// seconds of CPU time to start.
import fc from 'fast-check'

const codePoint = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((code) => String.fromCodePoint(code))

/** @param limits lengths, in code points */
export const anyText = (
  limits: { readonly minLength?: number; readonly maxLength?: number } = {},
): fc.Arbitrary<string> => fc.string({ unit: codePoint, ...limits })

// Defines a case of a policy test, with the fields that it inherits from its file and their places.
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { Entry } from '#compiler/tree/tree.ts'
import { samplesDefault } from '#schemas/objects/policy-test.ts'
import type { Expected, Given } from '#schemas/objects/policy-test.ts'

export interface PolicyCase {
  readonly entry: Entry<'Test'>
  /** Position in the `cases` of its file. */
  readonly index: number
  /** `NAME OF THE TEST: name of the case`. */
  readonly title: string
  readonly given: Given
  readonly expect: Expected
}

export function casesOf(entry: Entry<'Test'>): readonly PolicyCase[] {
  const { metadata, spec } = entry.object
  return spec.cases.map(({ name, given, expect }, index) => ({
    entry,
    index,
    title: `${metadata.name}: ${name ?? `case ${index + 1}`}`,
    given: { ...spec.given, ...given },
    expect: { ...spec.expect, ...expect },
  }))
}

/** How many answers are drawn for the shares of a case. */
export function samplesOf({ given, expect }: PolicyCase): number {
  return expect.share === undefined ? 0 : (given.samples ?? samplesDefault)
}

export const placeOfCase = ({ index }: PolicyCase): Place => valueAt('spec', 'cases', index)

export function placeOfGiven(one: PolicyCase, field: keyof Given, ...rest: number[]): Place {
  return valueAt(...homeOf(one, 'given', field), ...rest)
}

export function placeOfExpected(
  one: PolicyCase,
  field: keyof Expected,
  ...rest: readonly (string | number)[]
): Place {
  return valueAt(...homeOf(one, 'expect', field), ...rest)
}

/** Where a field stands: in the case, which overrides the file, or in the file. */
function homeOf({ entry, index }: PolicyCase, group: 'given' | 'expect', field: string) {
  const own = entry.object.spec.cases[index]![group]
  const isOwn = own !== undefined && Object.hasOwn(own, field)
  return isOwn ? ['spec', 'cases', index, group, field] : ['spec', group, field]
}

// A case of a policy test with what it takes over from its file, and where each of it stands.
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { Entry } from '#compiler/tree/tree.ts'
import { samplesDefault } from '#schemas/objects/policy-test.ts'
import type { Expected, Given } from '#schemas/objects/policy-test.ts'

export interface PolicyCase {
  readonly entry: Entry<'Test'>
  /** Position in `cases` of its file. */
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

/** How many answers are drawn for its shares. */
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

/** What a case says goes before what its file says. */
function homeOf({ entry, index }: PolicyCase, group: 'given' | 'expect', field: string) {
  const own = entry.object.spec.cases[index]![group]
  const isOwn = own !== undefined && Object.hasOwn(own, field)
  return isOwn ? ['spec', 'cases', index, group, field] : ['spec', group, field]
}

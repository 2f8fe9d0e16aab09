// Runs the policy tests of a commit, and reports each that fails, with its place.
import type { Bundle } from '#bundle/format/bundle.ts'
import { keyAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import type { PolicyTests } from '#compiler/tree/policy-tests.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry, TreeReport } from '#compiler/tree/tree.ts'
import type { Simulation } from '#judge/simulate/simulation.ts'
import { Asker, sceneKeyOf } from './asker.ts'
import {
  addressIn,
  fieldOfService,
  isBetween,
  mismatchesOf,
  stickyStepOf,
  whyNeverFails,
} from './expectations.ts'
import type { FoundMismatch } from './expectations.ts'
import { policyTestLimits } from './limits.ts'
import { casesOf, placeOfCase, placeOfExpected, placeOfGiven, samplesOf } from './test-case.ts'
import type { PolicyCase } from './test-case.ts'
import { situationOf, traceLine } from './trace-line.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'

export interface CaseResult {
  readonly case: PolicyCase
  /** Empty: all expectations hold. */
  readonly mismatches: readonly FoundMismatch[]
  /** Fault of the case itself, or why it was not judged; '': none. */
  readonly fault: string
  /** null: the case could not be asked. */
  readonly simulation: Simulation | null
}

export interface PolicyTestRun {
  /** Results by file, in the order of the cases. */
  readonly results: readonly CaseResult[]
  readonly bundle: Bundle
}

/** @param options `isWanted` selects cases; `onRun` receives every result, for people */
export function createPolicyTests(
  options: {
    readonly isWanted?: (one: PolicyCase) => boolean
    readonly onRun?: (run: PolicyTestRun) => void
  } = {},
): PolicyTests {
  const { isWanted = () => true, onRun } = options
  return (bundle, tests, report) => {
    const cases = tests.flatMap(casesOf).filter(isWanted)
    if (isTooMuch(tests, cases, report)) return
    const results = runAll(bundle, cases, report)
    onRun?.({ results, bundle })
  }
}

/** Whether the cases exceed the limits, which do not depend on the speed of a machine. */
function isTooMuch(
  tests: readonly Entry<'Test'>[],
  cases: readonly PolicyCase[],
  report: TreeReport,
): boolean {
  const { casesMax, samplesMax } = policyTestLimits
  const samples = cases.reduce((sum, one) => sum + samplesOf(one), 0)
  const args =
    cases.length > casesMax
      ? [`${cases.length} cases`, String(casesMax)]
      : samples > samplesMax
        ? [`for ${samples} samples`, String(samplesMax)]
        : undefined
  if (args === undefined) return false
  report('tests-too-many', placeIn(tests.at(-1)!, keyAt('spec', 'cases')), { args })
  return true
}

function runAll(bundle: Bundle, cases: readonly PolicyCase[], report: TreeReport): CaseResult[] {
  const shares = cases.flatMap(({ expect }) => expect.share ?? [])
  const asker = new Asker(bundle, new Set(shares.map(({ member }) => addressIn(member))))
  // Sorted so that cases of one scene follow each other: setting up a scene costs more than a
  // question.
  const keys = new Map(cases.map((one) => [one, sceneKeyOf(one.given)]))
  const ordered = cases.toSorted((a, b) => byCodeUnits(keys.get(a)!, keys.get(b)!))
  const results = new Map<PolicyCase, CaseResult>()
  try {
    for (const one of ordered) results.set(one, runOne(asker, one, report))
  } finally {
    asker.close()
  }
  return cases.map((one) => results.get(one)!)
}

type Tell = (
  code: DiagnosticCode,
  place: Place,
  args: readonly string[],
  suggestion?: string,
) => void

/** @returns the name of an expected share that is no member's; undefined: all are members' */
function checkShares(
  asker: Asker,
  one: PolicyCase,
  simulation: Simulation,
  tell: Tell,
): string | undefined {
  const { tenant } = one.entry
  const { share = [] } = one.expect
  const strange = share.findIndex(
    ({ member }) => !asker.hasMember(addressIn(member), tenant, simulation),
  )
  if (strange >= 0) {
    const { member } = share[strange]!
    const near = asker.nearAddress(member, tenant, simulation)
    const place = placeOfExpected(one, 'share', strange, 'member')
    tell('test-share-unknown', place, [member, one.title], near)
    return member
  }
  const step = share.some(isBetween) ? stickyStepOf(simulation) : undefined
  if (step !== undefined) {
    tell('test-share-sticky', placeOfExpected(one, 'share'), [one.title, step])
  }
  return undefined
}

function runOne(asker: Asker, one: PolicyCase, report: TreeReport): CaseResult {
  const { entry, given, expect, title } = one
  const tell: Tell = (code, place, args, suggestion) => {
    const isCase = place.path.length === 3
    const other = isCase ? {} : { other: placeIn(entry, placeOfCase(one)) }
    report(code, placeIn(entry, place), { args, ...other, suggestion })
  }
  const faulty = (fault: string, simulation: Simulation | null = null): CaseResult => {
    return { case: one, mismatches: [], fault, simulation }
  }
  const never = whyNeverFails(expect, given)
  if (never !== undefined) tell('test-cannot-fail', placeOfCase(one), [title, never])
  const [unknown] = asker.unknownDown(given)
  if (unknown !== undefined) {
    const name = given.down![unknown]!
    const near = asker.nearTo(name, given, entry.tenant)
    tell('test-member-unknown', placeOfGiven(one, 'down', unknown), [name], near)
    return faulty(`there is no member "${name}"`)
  }
  const owners =
    entry.tenant === '' ? [] : (given.down ?? []).map((name) => asker.tenantOfDown(name))
  const foreign = owners.findIndex((owner) => owner !== entry.tenant)
  if (foreign >= 0) {
    const name = given.down![foreign]!
    const args = [title, entry.tenant, name, owners[foreign]!]
    tell('test-member-foreign', placeOfGiven(one, 'down', foreign), args)
    return faulty(`"${name}" is of another tenant`)
  }
  const count = Math.max(samplesOf(one), policyTestLimits.drawsPerCase)
  const simulation = asker.ask(given, count)
  const { service, tenant, rule } = simulation
  const name = given.name!
  if (entry.tenant !== '' && tenant !== null && tenant !== entry.tenant) {
    tell('test-name-foreign', placeOfGiven(one, 'name'), [title, entry.tenant, tenant])
    return faulty(`${name} is a name of another tenant`)
  }
  if (entry.tenant !== '' && tenant === null) {
    tell('test-name-free', placeOfGiven(one, 'name'), [title, entry.tenant, name])
    return faulty(`${name} is a name of nobody`)
  }
  const isRuled = rule !== null && rule.action !== 'passthru'
  const field = service === null && !isRuled ? fieldOfService(expect) : undefined
  if (field !== undefined) {
    tell('test-service-missing', placeOfExpected(one, field), [name, title])
    return faulty(`no service answers for ${name}`, simulation)
  }
  const stopped = asker.stoppedScript()
  if (stopped !== '') {
    tell('test-not-judged', placeOfCase(one), [title, stopped])
    return faulty(stopped, simulation)
  }
  const strange = checkShares(asker, one, simulation, tell)
  if (strange !== undefined) return faulty(`there is no member "${strange}"`, simulation)
  const mismatches = mismatchesOf(expect, simulation)
  const situation = situationOf(given, (member) => asker.tenantOfDown(member) === tenant)
  for (const { field: wrong, path, expected, got } of mismatches) {
    const args = [title, expected, got, traceLine(simulation), name, situation]
    tell('test-failed', placeOfExpected(one, wrong, ...path), args)
  }
  return { case: one, mismatches, fault: '', simulation }
}

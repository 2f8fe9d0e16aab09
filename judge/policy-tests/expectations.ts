// Lists what a case can expect, and how each expectation is compared with an answer.
import { formatAddress, parseAddress } from '#dns/address.ts'
import { firstOrNone } from '#lib/text/first-of.ts'
import { sticky, stickyWeighted } from '#routing/ways/sticky.ts'
import type { Expected, Given } from '#schemas/objects/policy-test.ts'
import type { Simulation } from '#judge/simulate/simulation.ts'

type Field = keyof Expected
type Share = Required<Expected>['share'][number]

interface Mismatch {
  /** Path inside the value, with positions of lists. */
  readonly path: readonly (string | number)[]
  readonly expected: string
  readonly got: string
}

interface Expectation<F extends Field> {
  /** True when the expectation is about a service, so that one has to answer. */
  readonly isOfService: boolean
  readonly mismatches: (
    value: NonNullable<Expected[F]>,
    simulation: Simulation,
  ) => readonly Mismatch[]
  /** Says why the expectation holds for any answer; undefined: it may fail. */
  readonly alwaysHolds?: (value: NonNullable<Expected[F]>, given: Given) => string | undefined
}

const table: { readonly [F in Field]: Expectation<F> } = {
  members: {
    isOfService: true,
    mismatches: (members, simulation) => {
      const wanted = canonical(members)
      const got = simulation.service?.mayAnswer ?? []
      const isSame = wanted.size === got.length && got.every((one) => wanted.has(one))
      return isSame ? [] : [{ path: [], expected: listed([...wanted]), got: gotOf(simulation) }]
    },
  },
  oneOf: {
    isOfService: true,
    mismatches: (members, simulation) => {
      const wanted = canonical(members)
      const got = simulation.service?.mayAnswer ?? []
      const isRight = got.length > 0 && got.every((one) => wanted.has(one))
      const expected = `one of ${listed([...wanted])}`
      return isRight ? [] : [{ path: [], expected, got: gotOf(simulation) }]
    },
  },
  share: {
    isOfService: true,
    mismatches: (shares, simulation) => {
      const counts = simulation.service?.distribution ?? []
      const total = counts.reduce((sum, { count }) => sum + count, 0)
      return shares.flatMap(({ member, percent, tolerance }, index) => {
        const address = addressIn(member)
        const count = counts.find(({ ipAddress }) => ipAddress === address)?.count ?? 0
        const share = (count * 100) / total
        // Without an answer no member has a share, not even one of 0 %.
        const isRight =
          total === 0 ? isAny({ percent, tolerance }) : isNear(share, percent, tolerance)
        if (isRight) return []
        const expected = `${percent} % ± ${tolerance} of the answers for ${address}`
        const step = stickyStepOf(simulation)
        const why = step === undefined ? '' : `, all for one client network, by which ${step} goes`
        const got = total === 0 ? gotOf(simulation) : `${share.toFixed(1)} % of ${total}${why}`
        return [{ path: [index], expected, got }]
      })
    },
    alwaysHolds: (shares) =>
      shares.every(isAny) ? 'its shares may be anything from 0 to 100 %' : undefined,
  },
  rcode: {
    isOfService: false,
    mismatches: (rcode, simulation) =>
      rcode === simulation.rcode ? [] : [{ path: [], expected: rcode, got: simulation.rcode }],
  },
  ttl: {
    isOfService: false,
    mismatches: (ttl, { records }) => {
      const ttls = [...new Set(records.map((record) => Number(record.split(' ')[1])))]
      if (ttls.length === 1 && ttls[0] === ttl) return []
      const got = ttls.length === 0 ? 'an answer without records' : `TTL ${ttls.join(' and ')}`
      return [{ path: [], expected: `TTL ${ttl}`, got }]
    },
  },
  scopeAtMost: {
    isOfService: false,
    mismatches: (most, { ecsScope }) => {
      if (ecsScope !== null && ecsScope <= most) return []
      const got = ecsScope === null ? 'none: the case gives no subnet' : `scope /${ecsScope}`
      return [{ path: [], expected: `a scope of at most /${most}`, got }]
    },
    alwaysHolds: (most, { subnet = '' }) => {
      const bitsMax = addressBitsOf(subnet)
      // Without a subnet the expectation never holds.
      return bitsMax > 0 && most >= bitsMax ? `no scope is above /${bitsMax}` : undefined
    },
  },
  records: {
    isOfService: false,
    mismatches: (records, simulation) => {
      const wanted = records.map((record) => record.trim().replace(/\s+/g, ' '))
      const isSame = wanted.toSorted().join('\n') === simulation.records.toSorted().join('\n')
      return isSame ? [] : [{ path: [], expected: listed(wanted), got: listed(simulation.records) }]
    },
  },
}

const isNear = (share: number, percent: number, tolerance: number): boolean =>
  Math.abs(share - percent) <= tolerance

/** The step that gives a client the same member each time; undefined: there is none. */
export function stickyStepOf({ service }: Simulation): string | undefined {
  if (service === null || service.distribution.length > 1) return undefined
  const steps = service.trace?.steps ?? []
  return steps.find(({ name, before }) => stickyNames.includes(name) && before.length > 1)?.name
}

const stickyNames: readonly string[] = [sticky.name, stickyWeighted.name]

/** Whether any share fits. */
const isAny = ({ percent, tolerance }: Pick<Share, 'percent' | 'tolerance'>): boolean =>
  percent <= tolerance && percent + tolerance >= 100

/** Whether a share is impossible for a client of a sticky step, which has 0 or 100 %. */
export const isBetween = ({ percent, tolerance }: Pick<Share, 'percent' | 'tolerance'>): boolean =>
  percent - tolerance > 0 && percent + tolerance < 100

export interface FoundMismatch extends Mismatch {
  readonly field: Field
}

export function mismatchesOf(expect: Expected, simulation: Simulation): readonly FoundMismatch[] {
  return fieldsOf(expect).flatMap((field) => mismatchesIn(field, expect, simulation))
}

function mismatchesIn<F extends Field>(
  field: F,
  { [field]: value }: Expected,
  simulation: Simulation,
): readonly FoundMismatch[] {
  const found = value === undefined ? [] : table[field].mismatches(value, simulation)
  return found.map((one) => ({ ...one, field }))
}

/** The first expectation about the members of a service. */
export function fieldOfService(expect: Expected): Field | undefined {
  return fieldsOf(expect).find((field) => table[field].isOfService)
}

/** Says why no answer can fail the expectations; undefined: one can. */
export function whyNeverFails(expect: Expected, given: Given): string | undefined {
  const fields = fieldsOf(expect)
  if (fields.length === 0) return 'it expects nothing'
  const reasons = fields.map((field) => whyAlways(field, expect, given))
  return reasons.includes(undefined) ? undefined : reasons.join(', ')
}

function whyAlways<F extends Field>(
  field: F,
  { [field]: value }: Expected,
  given: Given,
): string | undefined {
  return value === undefined ? undefined : table[field].alwaysHolds?.(value, given)
}

function fieldsOf(expect: Expected): readonly Field[] {
  return (Object.keys(table) as Field[]).filter((field) => expect[field] !== undefined)
}

/** @param subnet an address or a network; any other text has 0 bits */
function addressBitsOf(subnet: string): number {
  const address = parseAddress(subnet.split('/')[0]!)
  return address.ok ? address.value.length * 8 : 0
}

const canonical = (members: readonly string[]): ReadonlySet<string> =>
  new Set(members.map(addressIn))

/** The address in the form of the answer path. */
export function addressIn(text: string): string {
  const address = parseAddress(text)
  return address.ok ? formatAddress(address.value) : `${text.toLowerCase().replace(/\.$/, '')}.`
}

const listed = (texts: readonly string[]): string => firstOrNone(texts, 8)

function gotOf({ service, rcode }: Simulation): string {
  if (service === null) return rcode
  return service.mayAnswer.length === 0 ? 'an answer without members' : listed(service.mayAnswer)
}

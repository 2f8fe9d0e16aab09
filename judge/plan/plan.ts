// Plans a change: compares two bundles, and reports which clients get another answer and what may
// follow.
import { textOf } from '#bundle/format/bundle.ts'
import { formatName } from '#dns/name.ts'
import { firstOf } from '#lib/text/first-of.ts'
import type { ScriptPort } from '#routing/script/port.ts'
import { AsnTable, CountryTable } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { unpackCode } from '#routing/geo/countries.ts'
import { scriptBodiesOf } from '#routing/script/bodies.ts'
import { rangeSource } from '#judge/clients/sources.ts'
import { noPlaces, Partitions } from '#judge/clients/partition.ts'
import type { ClientSpaces, Places } from '#judge/clients/partition.ts'
import { countedSpaces } from '#judge/clients/traffic.ts'
import type { Traffic } from '#judge/clients/traffic.ts'
import { changesOf } from './changes.ts'
import { Comparer } from './compare.ts'
import type { MovementLimits, PlaceNames } from './movement.ts'
import { MostOfCountries } from './places.ts'
import { signingChanges } from '#judge/simulate/signing.ts'
import { findDifferences, tenantsOfName } from '#judge/rows/names.ts'
import type { Differences } from '#judge/rows/names.ts'
import { laterChanges } from '#judge/rows/later.ts'
import { TrafficSums } from './expected.ts'
import { listedEntriesMax, ListedChanges } from './listed.ts'
import { Totals } from './totals.ts'
import { createSide } from '#judge/sides/side.ts'
import type { Moment, Source } from '#judge/sides/side.ts'
import { seesName } from '#judge/sides/viewer.ts'
import type { Viewer } from '#judge/sides/viewer.ts'
import type {
  AnswerChange,
  ClientWeights,
  Plan,
  PlannedScenario,
  PlannedSide,
} from '#judge/document/model.ts'

export interface PlanRequest {
  readonly base: Source & Pick<PlannedSide, 'source'>
  readonly head: Source & Pick<PlannedSide, 'source'>
  /** At least one instant. */
  readonly moments: readonly Moment[]
  /** The databases by which the plan shows where clients are. */
  readonly geo: GeoBuffers
  /** null: scripts are not run. */
  readonly scripts: ScriptPort | null
  readonly limits?: Partial<MovementLimits>
  /** Where clients are; left out: everywhere. */
  readonly spaces?: ClientSpaces
  /** Counted traffic to weigh clients by; left out: addresses are weighed. */
  readonly traffic?: Traffic | null
  /** The tenant who sees the plan; left out: everything is shown. */
  readonly viewer?: Viewer
  /** Receives each answer that differs at an instant; the plan lists only a limited number. */
  readonly onChange?: (change: AnswerChange, moment: Moment) => void
  /** Limit over all scenarios; left out: the constant `listedEntriesMax`. */
  readonly listedEntriesMax?: number
  /** Called before each name in each scenario; the first number is 1. */
  readonly onName?: (number: number, all: number) => void
}

export const planLimits: MovementLimits = Object.freeze({
  networksMax: 65_536,
  scriptRunsMax: 256,
})

/** Networks of all names together; each name gets at least `networksLeast`. */
const networksOfAll = 4_194_304
const networksLeast = 4_096

/** The more names, the fewer networks for each: errors grow, and the time stays the same. */
export function networksFor(names: number): number {
  const each = Math.floor(networksOfAll / Math.max(1, names))
  return Math.min(planLimits.networksMax, Math.max(networksLeast, each))
}

export function makePlan(request: PlanRequest): Plan {
  const { base, head, moments, geo, scripts, viewer = null, traffic = null } = request
  const { listedEntriesMax: entriesMax = listedEntriesMax } = request
  const differences = seenBy(viewer, findDifferences(base.bundle, head.bundle), request)
  const counted = traffic === null ? null : countedSpaces(traffic, geo.country)
  const partitions = new Partitions(placesOf(geo), counted ?? request.spaces)
  const warnings = new Warnings()
  const onName = countedNames(request, differences.names.length * moments.length)
  for (const sentence of counted?.warnings ?? []) warnings.add(sentence)
  const totals = new Totals()
  const scenarios = moments.map((moment): PlannedScenario => {
    const sides = {
      base: createSide(base, moment, scripts),
      head: createSide(head, moment, scripts),
    }
    // A tenant would read of members of others, and asks with the health of the node alone.
    if (viewer === null) warnings.addUnknown(sides.base.unknownMembers, sides.head.unknownMembers)
    const networksMax = networksFor(differences.names.length)
    const limits = { ...planLimits, networksMax, ...request.limits }
    const names = placeNames(geo)
    const asked = { partitions, limits, placeNames: names, viewer }
    const comparer = new Comparer({ ...sides, ...asked })
    const listed = new ListedChanges(entriesMax / moments.length)
    const sums = new TrafficSums(traffic, counted?.part6 ?? 0)
    const countries = partitions.hasCountries ? new MostOfCountries(names.country) : null
    for (const change of changesOf(comparer, base.bundle, head.bundle, differences, onName)) {
      listed.add(change)
      totals.add(change)
      sums.add(change)
      if (change.kind !== 'added') {
        for (const moved of comparer.byCountry(change)) countries?.add(change.name, moved)
      }
      request.onChange?.(change, moment)
    }
    const changes = listed.all
    warnings.addOf(comparer)
    warnings.addUncounted([...sums.uncountedNames])
    return {
      at: new Date(moment.atMs).toISOString(),
      health: moment.health === null ? 'all-up' : 'given',
      traffic: sums.expected,
      countries: countries?.list ?? null,
      changes,
      omitted: listed.count - changes.length,
    }
  })
  const isScripted = [base, head].some(({ bundle }) => scriptBodiesOf(bundle).length > 0)
  if (scripts === null && isScripted)
    warnings.add('scripts are not run: their steps change nothing')
  for (const sentence of signingChanges(base.bundle, head.bundle)) warnings.add(sentence)
  const later = laterChanges(base.bundle, head.bundle, differences, totals.names).filter(
    // Changes of settings and redirects have no tenant: only a viewer of everything sees them.
    ({ tenant }) => viewer === null || tenant === viewer.tenant,
  )
  return {
    format: 1,
    base: sideOf(base),
    head: sideOf(head),
    weights: weightsOf(traffic),
    summary: totals.summary(differences, later.length),
    scenarios,
    later,
    warnings: warnings.all,
  }
}

function countedNames({ onName }: PlanRequest, all: number): () => void {
  let number = 0
  return () => onName?.(++number, all)
}

/** Names of other tenants are not asked at all. */
function seenBy(
  viewer: Viewer,
  differences: Differences,
  { base, head }: Pick<PlanRequest, 'base' | 'head'>,
): Differences {
  if (viewer === null) return differences
  const names = differences.names.filter((one) =>
    seesName(viewer, formatName(one.qname), tenantsOfName(base.bundle, head.bundle, one)),
  )
  const tenants = Array.from(head.bundle.serviceTenant, (at) => textOf(head.bundle, at))
  const services = tenants.filter((tenant) => tenant === viewer.tenant).length
  return { ...differences, names, compared: services + viewer.names.size }
}

function weightsOf(traffic: Traffic | null): ClientWeights {
  if (traffic === null) return { by: 'addresses', source: '', seconds: null, sampled: null }
  const { source, seconds, sampled } = traffic
  return { by: 'traffic', source, seconds, sampled }
}

function sideOf({ source, bundle }: PlanRequest['base']): PlannedSide {
  return { source, commit: bundle.manifest.commit, digest: bundle.digest }
}

function placesOf({ country, asn }: GeoBuffers): Places {
  return {
    ...noPlaces,
    country: country === null ? null : rangeSource(country.ranges),
    operator: asn === null ? null : rangeSource(asn.ranges),
  }
}

function placeNames({ country, asn }: GeoBuffers): PlaceNames {
  const countries = country === null ? null : new CountryTable(country)
  const operators = asn === null ? null : new AsnTable(asn)
  return {
    country: (row) => {
      if (countries === null || row === 0) return ''
      const [code, continent] = [countries.countryCode[row]!, countries.continentCode[row]!]
      return code === 0 ? `continent:${unpackCode(continent)}` : unpackCode(code)
    },
    operator: (row) => {
      if (operators === null || row === 0) return ''
      return `AS${operators.asnNumber[row]} ${operators.organisation(row)}`.trim()
    },
  }
}

/** Collects what the plan could not know, each warning once. */
class Warnings {
  readonly #all = new Set<string>()

  get all(): readonly string[] {
    return [...this.#all]
  }

  add(sentence: string): void {
    this.#all.add(sentence)
  }

  /** A member that is on one side only is no mistake. */
  addUnknown(base: readonly string[], head: readonly string[]): void {
    const unknown = base.filter((name) => head.includes(name))
    if (unknown.length === 0) return
    this.add(`the health names members that neither side has: ${listed(unknown)}`)
  }

  addUncounted(names: readonly string[]): void {
    if (names.length === 0) return
    this.add(`the traffic has no count of ${listed(names)}: they add nothing to what members get`)
  }

  addOf({ withoutDatabase, measured }: Comparer): void {
    if (withoutDatabase.size > 0) {
      const names = listed([...withoutDatabase])
      this.add(`without --geoip or --asn every client is unknown to ${names}`)
    }
    if (measured.size > 0) {
      this.add(`what browsers have measured is not looked at: ${listed([...measured])}`)
    }
  }
}

const listed = (names: readonly string[]): string => firstOf(names, 5)

// A small world for routing: client networks with country, operator and place, pools, and a
// thread's scratch objects.
import type { AsnRuleModel, BundleModel } from '#bundle/format/model.ts'
import { unitVector } from '#bundle/encode/routing-columns.ts'
import { firstPolicyCode, placeCode } from '#bundle/format/routing-cells.ts'
import { parseAddress } from '#dns/address.ts'
import { Random } from '#lib/random.ts'
import { asnPreferences } from '#routing/geo/asn-rules.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { Chain } from '#routing/chain/chain.ts'
import { choose } from '#routing/choose/choose.ts'
import { createEnvironment, routingSettingsOf } from '#routing/choose/environment.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { parseCidr } from '#routing/tables/cidr.ts'
import { countryRow, fillCountryColumns, geoCountryRows, packCode } from '#routing/geo/countries.ts'
import { regionTable, regionsWithSubdivisions } from '#routing/geo/region-table.ts'
import { outerSubdivision } from '#routing/geo/subdivisions.ts'
import { SubdivisionRows } from '#inputs/geo/columns.ts'
import { AsnTable } from '#routing/geo/geo-tables.ts'
import type { CountryBuffers, GeoBuffers } from '#routing/geo/geo-tables.ts'
import { buildRangeTable } from '#routing/tables/range-table-builder.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { createPolicies } from '#routing/choose/policy.ts'
import type { ScriptPort } from '#routing/script/port.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { Family } from '#routing/state/query.ts'
import { traceChoice } from '#routing/choose/trace.ts'
import type { Trace } from '#routing/choose/trace.ts'
import { serviceCell } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { bundleOf } from './bundle-models.ts'
import { prefixesToRanges } from './prefix-ranges.ts'
import type { ValuedCidr } from './prefix-ranges.ts'

/** Content of the databases; of nested networks the longest prefix counts. */
export interface World {
  /** `US`, or with its subdivision `US-CA`. */
  readonly countries?: readonly (readonly [cidr: string, code: string])[]
  readonly operators?: readonly (readonly [cidr: string, asn: number, organisation: string])[]
  readonly places?: readonly (readonly [cidr: string, lat: number, lon: number])[]
  /** The buffer of a RumStore. */
  readonly rum?: SharedArrayBuffer
}

export function geoBuffersOf({ countries = [], operators = [], places = [] }: World): GeoBuffers {
  const column = (values: readonly number[]): SharedArrayBuffer => {
    const floats = new Float32Array(new SharedArrayBuffer(values.length * 4))
    floats.set(values)
    return floats.buffer
  }
  const points = places.map(([, lat, lon]) => unitVector(lat, lon))
  return {
    ...countryBuffersOf(countries),
    asn: operators.length === 0 ? null : asnBuffersOf(operators),
    location:
      places.length === 0
        ? null
        : {
            ranges: rangesOf(places.map(([cidr], i) => [cidr, i + 1])),
            x: column([0, ...points.map(([x]) => x)]),
            y: column([0, ...points.map(([, y]) => y)]),
            z: column([0, ...points.map(([, , z]) => z)]),
            countryRow: new SharedArrayBuffer((places.length + 1) * 2),
          },
  }
}

function countryBuffersOf(
  countries: NonNullable<World['countries']>,
): Pick<GeoBuffers, 'country' | 'subdivision'> {
  if (countries.length === 0) return { country: null, subdivision: null }
  const countryCode = new Uint16Array(new SharedArrayBuffer(geoCountryRows * 2))
  const continentCode = new Uint16Array(new SharedArrayBuffer(geoCountryRows * 2))
  fillCountryColumns(countryCode, continentCode)
  const rowOf = (code: string): number => countryRow(packCode(code.slice(0, 2)))
  const subdivisions = new SubdivisionRows()
  const rows = countries.map(([cidr, code]) => {
    const inner = code.length > 2 ? placeCode(code) : 0
    const place = { inner, outer: outerSubdivision(inner) }
    return [cidr, subdivisions.row(place, rowOf(code))] as const
  })
  return {
    country: {
      ranges: rangesOf(countries.map(([cidr, code]) => [cidr, rowOf(code)])),
      countryCode: countryCode.buffer,
      continentCode: continentCode.buffer,
      subdivisionCode: new SharedArrayBuffer(geoCountryRows * 4),
      outerSubdivisionCode: new SharedArrayBuffer(geoCountryRows * 4),
    },
    subdivision:
      subdivisions.count === 0
        ? null
        : { ranges: rangesOf(rows), ...subdivisions.columns({ countryCode, continentCode }) },
  }
}

function asnBuffersOf(operators: NonNullable<World['operators']>): NonNullable<GeoBuffers['asn']> {
  const texts = ['', ...operators.map(([, , organisation]) => organisation)]
  const numbers = new Uint32Array(new SharedArrayBuffer(texts.length * 4))
  numbers.set([0, ...operators.map(([, asn]) => asn)])
  const offsets = new Uint32Array(new SharedArrayBuffer((texts.length + 1) * 4))
  const octets = Buffer.from(texts.join(''))
  for (const [i, text] of texts.entries()) offsets[i + 1] = offsets[i]! + Buffer.byteLength(text)
  const organisationText = new Uint8Array(new SharedArrayBuffer(Math.max(1, octets.length)))
  organisationText.set(octets)
  return {
    ranges: rangesOf(operators.map(([cidr], i) => [cidr, i + 1])),
    asnNumber: numbers.buffer,
    organisationOffset: offsets.buffer,
    organisationText: organisationText.buffer,
  }
}

function rangesOf(networks: readonly (readonly [string, number])[]): SharedArrayBuffer {
  const { ranges4, ranges6 } = prefixesToRanges(networks.map(valued))
  return buildRangeTable(ranges4, ranges6)
}

function valued([text, value]: readonly [string, number]): ValuedCidr {
  const cidr = parseCidr(text)
  if (!cidr.ok) throw new Error(cidr.error)
  return { ...cidr.value, value }
}

function regionsOf(bundle: Bundle, { subdivision }: GeoBuffers): CountryBuffers | null {
  const places = regionsWithSubdivisions(bundle)
  return subdivision === null || places.size === 0 ? null : regionTable(subdivision, places)
}

export function asnRule(endpoint: string, parts: Partial<AsnRuleModel>): AsnRuleModel {
  return { asn: null, org: '', endpoint, ...parts }
}

/** The result of one choice. */
interface Chosen {
  readonly addresses: readonly number[]
  readonly scope: number
}

export interface RoutingSite {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly chain: Chain
  /**
   * Chooses for a client from the state of a fresh start.
   *
   * @param turn answers that the service has given, and the seed
   */
  readonly choose: (client: string, parts?: { turn?: number; family?: Family }) => Chosen
  /** Like `choose`, but continues random numbers and cursors. */
  readonly chooseNext: (client: string, service?: number, family?: Family) => Chosen
  /** Repeats the last choice without the work around it. @returns the number chosen */
  readonly runAgain: () => number
  /** Repeats the last choice step by step. */
  readonly traceAgain: () => Trace
}

export function routingSite(
  model: BundleModel,
  world: World = {},
  scripts: ScriptPort | null = null,
): RoutingSite {
  const bundle = bundleOf(model)
  const state = createRoutingState(bundle, 1)
  const geo = geoBuffersOf(world)
  const { asnRules } = routingSettingsOf(bundle)
  const asn = geo.asn === null ? null : asnPreferences(new AsnTable(geo.asn), asnRules)
  const regions = regionsOf(bundle, geo)
  const tables: RoutingTables = { geo, asn, regions, rum: world.rum ?? null }
  const policies = createPolicies(createEnvironment(bundle, tables, scripts))
  const chain = new Chain(new Random(1))
  let last = { policy: policies[0]!, pool: 0 }
  chain.adopt(bundle, state, packNetworks(bundle))
  const chooseNext = (client: string, service = 0, family: Family = Family.V4): Chosen => {
    const address = parseAddress(client)
    if (!address.ok) throw new Error(`${client} is no address`)
    const code = serviceCell(bundle, service, NodeCell.Algorithm)
    const policy = policies[code - firstPolicyCode]
    if (policy === undefined) throw new Error(`service ${service} has no policy`)
    chain.client.set(address.value, 0, address.value.length)
    chain.serviceIndex = service
    chain.family = family
    chain.wantsScope = true
    last = { policy, pool: serviceCell(bundle, service, NodeCell.Pool) - 1 }
    const count = choose(chain, policy, last.pool)
    return { addresses: [...chain.members.subarray(0, count)], scope: chain.scope }
  }
  return {
    bundle,
    state,
    chain,
    chooseNext,
    runAgain: () => choose(chain, last.policy, last.pool),
    traceAgain: () => traceChoice(chain, last.policy, last.pool),
    choose: (client, { turn = 0, family } = {}) => {
      ;(chain as { random: Random }).random = new Random(turn)
      state.serviceCursor.fill(turn)
      return chooseNext(client, 0, family)
    },
  }
}

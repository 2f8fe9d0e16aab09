// What the choice of a member needs beyond pools: policies, endpoints, and the routing settings.
import { canonicalJson } from '#bundle/format/canonical-json.ts'
import type { Json } from '#bundle/format/canonical-json.ts'
import type { OnAllDown, RoutingModel, ServiceModel } from '#bundle/format/model.ts'
import type { StringTable } from '#bundle/format/string-table.ts'

/**
 * A row of `policyRow`: how a service chooses that is not plain. `Text`: canonical JSON of a
 * PolicyText. `OnAllDown`: one of OnAllDownCode. `FallbackPool`: index + 1; 0 none.
 */
export const PolicyCell = {
  Words: 4,
  Text: 0,
  OnAllDown: 1,
  FallbackPool: 2,
  AnswerCount: 3,
} as const

export const OnAllDownCode = { Empty: 0, All: 1, Pool: 2 } as const

/** The `Algorithm` cell of a node holds a strategy's code, or this plus a row of `policyRow`. */
export const firstPolicyCode = 256

/** The steps of a policy, before they are bound. */
export interface PolicyText {
  readonly algorithm: string
  readonly filterChain: readonly string[]
}

/** A row of `endpointVector`: a point on the unit sphere, times `vectorUnit`; then 1 if known. */
export const EndpointCell = { Words: 4, X: 0, Y: 1, Z: 2, IsKnown: 3 } as const
export const vectorUnit = 0x4000_0000

/** Rows for the addresses that the settings name. Row 0 stands for all others. */
export class EndpointTable {
  readonly #rows = new Map<string, number>()
  readonly #vectors: number[] = [0, 0, 0, 0]

  constructor({ mapRules, asnRules, endpointLocations }: RoutingModel) {
    for (const { endpoints } of [...mapRules.v4, ...mapRules.v6]) endpoints.forEach(this.#add)
    for (const { endpoint } of asnRules) this.#add(endpoint)
    for (const { endpoint, lat, lon } of endpointLocations) {
      this.#add(endpoint)
      const at = this.#rows.get(endpoint)! * EndpointCell.Words
      const [x, y, z] = unitVector(lat, lon)
      this.#vectors[at + EndpointCell.X] = Math.round(x * vectorUnit)
      this.#vectors[at + EndpointCell.Y] = Math.round(y * vectorUnit)
      this.#vectors[at + EndpointCell.Z] = Math.round(z * vectorUnit)
      this.#vectors[at + EndpointCell.IsKnown] = 1
    }
  }

  readonly #add = (endpoint: string): void => {
    if (this.#rows.has(endpoint)) return
    this.#rows.set(endpoint, this.#rows.size + 1)
    this.#vectors.push(0, 0, 0, 0)
  }

  /** 0 when the settings do not name the address. */
  rowOf(ipAddress: string): number {
    // Mostly the settings name none, and there are many members.
    return this.#rows.size === 0 ? 0 : (this.#rows.get(ipAddress) ?? 0)
  }

  vectors(): Int32Array {
    return Int32Array.from(this.#vectors)
  }
}

/** The point on the unit sphere; degrees in. Nearer points have the larger dot product. */
export function unitVector(lat: number, lon: number): readonly [number, number, number] {
  const phi = (lat * Math.PI) / 180
  const lambda = (lon * Math.PI) / 180
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)]
}

/**
 * A region as a number: two upper-case letters, the first in the high octet; `continent:EU`
 * likewise with the top bit. 0: another label.
 */
export function placeCode(region: string): number {
  const match = /^(continent:)?([A-Z])([A-Z])$/.exec(region)
  if (match === null) return 0
  const letters = (match[2]!.charCodeAt(0) << 8) | match[3]!.charCodeAt(0)
  return match[1] === undefined ? letters : letters | continentBit
}
export const continentBit = 0x8000

/** Collects the distinct policies of the services. */
export class PolicyTable {
  readonly #strings: StringTable
  readonly #indexOfPool: Uint32Array
  readonly #rows: number[] = []
  readonly #codes = new Map<string, number>()

  constructor(strings: StringTable, indexOfPool: Uint32Array) {
    this.#strings = strings
    this.#indexOfPool = indexOfPool
  }

  /** @returns the `Algorithm` cell of a service that is not plain */
  codeOf(service: ServiceModel): number {
    const { algorithm, filterChain, onAllDown, answerCount } = service
    const text: PolicyText = { algorithm: filterChain.length > 0 ? '' : algorithm, filterChain }
    const row = [
      this.#strings.add(canonicalJson(text as unknown as Json)),
      onAllDownCode(onAllDown),
      typeof onAllDown === 'string' ? 0 : this.#indexOfPool[onAllDown.pool]! + 1,
      answerCount,
    ]
    const key = row.join(' ')
    const known = this.#codes.get(key)
    if (known !== undefined) return known
    const code = firstPolicyCode + this.#codes.size
    this.#codes.set(key, code)
    this.#rows.push(...row)
    return code
  }

  rows(): Uint32Array {
    return Uint32Array.from(this.#rows)
  }
}

/** Of a service that needs no policy, the algorithm's own code is in its row. */
export function isPlain(service: ServiceModel, hasGeoRules: boolean): boolean {
  const { filterChain, onAllDown, answerCount } = service
  return filterChain.length === 0 && onAllDown === 'empty' && answerCount === 1 && !hasGeoRules
}

function onAllDownCode(onAllDown: OnAllDown): number {
  if (typeof onAllDown !== 'string') return OnAllDownCode.Pool
  return onAllDown === 'all' ? OnAllDownCode.All : OnAllDownCode.Empty
}

/** The settings as text: what is read once for a bundle, not for a query. */
export interface RoutingText {
  readonly asnRules: readonly {
    readonly asn: number | null
    readonly org: string
    /** Row in `endpointVector`. */
    readonly endpoint: number
  }[]
  readonly signals: RoutingModel['signals']
  readonly latency: RoutingModel['latency']
}

export function routingText(routing: RoutingModel, endpoints: EndpointTable): string {
  const { signals, latency } = routing
  const asnRules = routing.asnRules.map(({ asn, org, endpoint }) => ({
    asn,
    org,
    endpoint: endpoints.rowOf(endpoint),
  }))
  return canonicalJson({ asnRules, signals, latency } as unknown as Json)
}

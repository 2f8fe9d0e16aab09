// Encodes routing beyond pools as columns: policies, endpoints and the routing settings.
import { canonicalJson } from '#lib/text/canonical-json.ts'
import type { Json } from '#lib/text/canonical-json.ts'
import type { OnAllDown, RoutingModel, ServiceModel } from '#bundle/format/model.ts'
import {
  EndpointCell,
  firstPolicyCode,
  OnAllDownCode,
  vectorUnit,
} from '#bundle/format/routing-cells.ts'
import type { PolicyText } from '#bundle/format/routing-cells.ts'
import { routingValues } from '#bundle/format/routing-text.ts'
import type { StringTable } from '#bundle/format/string-table.ts'

/** Rows for the addresses in the settings. Row 0 stands for every other address. */
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
    // Usually the settings name no address, and there are many members.
    return this.#rows.size === 0 ? 0 : (this.#rows.get(ipAddress) ?? 0)
  }

  vectors(): Int32Array {
    return Int32Array.from(this.#vectors)
  }
}

/**
 * Converts degrees to a point on the unit sphere. The nearer two points, the larger their dot
 * product.
 */
export function unitVector(lat: number, lon: number): readonly [number, number, number] {
  const phi = (lat * Math.PI) / 180
  const lambda = (lon * Math.PI) / 180
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)]
}

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

/** A plain service needs no policy: its row holds the code of the algorithm. */
export function isPlain(service: ServiceModel, hasGeoRules: boolean): boolean {
  const { filterChain, onAllDown, answerCount } = service
  return filterChain.length === 0 && onAllDown === 'empty' && answerCount === 1 && !hasGeoRules
}

function onAllDownCode(onAllDown: OnAllDown): number {
  if (typeof onAllDown !== 'string') return OnAllDownCode.Pool
  return onAllDown === 'all' ? OnAllDownCode.All : OnAllDownCode.Empty
}

export function routingText(routing: RoutingModel, endpoints: EndpointTable): string {
  const asnRules = routing.asnRules.map(({ asn, org, endpoint }) => ({
    asn,
    org,
    endpoint: endpoints.rowOf(endpoint),
  }))
  const { rateLimitExempt = [], zoneDigests = {}, absentZones = [] } = routing
  // Left out when empty, so that the text is the same as before these settings existed.
  const lists = {
    ...(rateLimitExempt.length > 0 && { rateLimitExempt }),
    ...(Object.keys(zoneDigests).length > 0 && { zoneDigests }),
    ...(absentZones.length > 0 && { absentZones }),
  }
  return canonicalJson({ asnRules, ...routingValues(routing), ...lists } as unknown as Json)
}

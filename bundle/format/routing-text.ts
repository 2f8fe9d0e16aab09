// The JSON texts of routing in a bundle: policies, and the settings of ways.
import { bundleLimits } from './limits.ts'
import type { PolicyText } from '#bundle/format/routing-cells.ts'
import { isFields, parseJson } from '#lib/text/json.ts'

/** Settings of the filter `signal-weight`. */
interface SignalsModel {
  /** 0 to 1: share of the signal in the blended score. */
  readonly weight: number
  /** Signal by region; lower is better. */
  readonly static: Readonly<Record<string, number>>
}

/** Settings of the algorithm `latency`. */
interface LatencyModel {
  readonly regionBonusMultiplier: number
  readonly minRttThresholdMs: number
  readonly fallbackRegion: string
}

interface ValueRow<Value> {
  /** The value when the repository sets none. */
  readonly plain: Value
  readonly isWhole: (value: unknown) => boolean
}

const signals: ValueRow<SignalsModel> = {
  plain: { weight: 0.5, static: {} },
  isWhole: isSignals,
}

const latency: ValueRow<LatencyModel> = {
  plain: { regionBonusMultiplier: 1, minRttThresholdMs: 5, fallbackRegion: 'unknown' },
  isWhole: isLatency,
}

/** Settings copied into a bundle unchanged. A way with a new setting adds its row here. */
const valueTable = { signals, latency } as const

/** Settings that a way can read, by their names in `gslb.yaml`. */
export type ValueName = keyof typeof valueTable
export type RoutingValues = { readonly [Name in ValueName]: (typeof valueTable)[Name]['plain'] }

export const valueNames = Object.keys(valueTable) as readonly ValueName[]

export const plainValues: RoutingValues = Object.freeze(valuesOf((name) => valueTable[name].plain))

/** Picks the routing values out of a larger model. */
export function routingValues(model: RoutingValues): RoutingValues {
  return valuesOf((name) => model[name])
}

function valuesOf(valueOf: (name: ValueName) => unknown): RoutingValues {
  return Object.fromEntries(
    valueNames.map((name) => [name, valueOf(name)]),
  ) as unknown as RoutingValues
}

/** The settings as text, parsed once per bundle. */
export interface RoutingText extends RoutingValues {
  readonly asnRules: readonly {
    readonly asn: number | null
    readonly org: string
    /** Row in `endpointVector`. */
    readonly endpoint: number
  }[]
  /** Client networks exempt from rate limits: `192.0.2.0/24`. Left out: none. */
  readonly rateLimitExempt?: readonly string[]
  /** By name of the zone: whether its transfers have a ZONEMD record. Left out: none says. */
  readonly zoneDigests?: Readonly<Record<string, boolean>>
  /** Zones from elsewhere whose records are not here. Left out: none. */
  readonly absentZones?: readonly string[]
}

const isNumber = (value: unknown): boolean => Number.isFinite(value)
const isText = (value: unknown): boolean => typeof value === 'string'

/** @returns undefined when the text is not a policy of this version */
export function parsePolicyText(text: string): PolicyText | undefined {
  const value = parseJson(text)
  if (!isFields(value) || !isText(value['algorithm'])) return undefined
  const chain = value['filterChain']
  if (!Array.isArray(chain) || !chain.every(isStep)) return undefined
  if (chain.length > bundleLimits.filtersPerChainMax) return undefined
  return value as unknown as PolicyText
}

function isStep(value: unknown): boolean {
  return typeof value === 'string' && value.length <= bundleLimits.filterLengthMax
}

/** @returns undefined when the text does not hold the routing settings of this version */
export function parseRoutingText(text: string): RoutingText | undefined {
  const value = parseJson(text)
  if (!isFields(value)) return undefined
  const { asnRules: rules } = value
  if (!Array.isArray(rules) || !rules.every(isAsnRule)) return undefined
  if (rules.length > bundleLimits.asnRulesMax) return undefined
  if (!isExemptList(value['rateLimitExempt'])) return undefined
  if (!areDigests(value['zoneDigests'])) return undefined
  if (!isZoneList(value['absentZones'])) return undefined
  const isWhole = valueNames.every((name) => valueTable[name].isWhole(value[name]))
  return isWhole ? (value as unknown as RoutingText) : undefined
}

function isExemptList(value: unknown): boolean {
  if (value === undefined) return true
  if (!Array.isArray(value) || value.length > bundleLimits.rateLimitExemptMax) return false
  return value.every((text) => isText(text) && (text as string).length <= cidrLengthMax)
}

function areDigests(value: unknown): boolean {
  if (value === undefined) return true
  if (!isFields(value)) return false
  const all = Object.values(value)
  return all.length <= bundleLimits.zoneDigestsMax && all.every((one) => typeof one === 'boolean')
}

function isZoneList(value: unknown): boolean {
  if (value === undefined) return true
  if (!Array.isArray(value) || value.length > bundleLimits.zonesMax) return false
  return value.every((text) => isText(text) && (text as string).length <= nameTextMax)
}

/** Each octet of a name as \\DDD. */
const nameTextMax = 1_100

/** `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255/128` */
const cidrLengthMax = 49

function isAsnRule(value: unknown): boolean {
  if (!isFields(value)) return false
  const { org, asn, endpoint } = value
  if (typeof org !== 'string' || org.length > bundleLimits.asnOrgLengthMax) return false
  return (asn === null || isRow(asn)) && isRow(endpoint)
}

function isRow(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isSignals(value: unknown): boolean {
  if (!isFields(value) || !isNumber(value['weight'])) return false
  const regions = value['static']
  if (!isFields(regions)) return false
  const signals = Object.values(regions)
  return signals.length <= bundleLimits.signalRegionsMax && signals.every(isNumber)
}

function isLatency(value: unknown): boolean {
  if (!isFields(value)) return false
  const { regionBonusMultiplier, minRttThresholdMs, fallbackRegion } = value
  return isNumber(regionBonusMultiplier) && isNumber(minRttThresholdMs) && isText(fallbackRegion)
}

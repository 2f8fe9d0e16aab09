// Parses and validates the routing parts of a bundle that are stored as JSON text.
import { bundleLimits } from './limits.ts'
import type { LatencyModel, SignalsModel } from './model.ts'
import type { RoutingText } from './routing-cells.ts'
import type { PolicyText } from '#bundle/format/routing-cells.ts'

type Fields = Record<string, unknown>

const isNumber = (value: unknown): boolean => Number.isFinite(value)
const isText = (value: unknown): boolean => typeof value === 'string'

/** @returns undefined when the text is no policy of this version */
export function parsePolicyText(text: string): PolicyText | undefined {
  const value = fieldsOf(text)
  if (value === undefined || !isText(value['algorithm'])) return undefined
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
  const value = fieldsOf(text)
  const rules = value?.['asnRules']
  if (value === undefined || !Array.isArray(rules) || !rules.every(isAsnRule)) return undefined
  if (rules.length > bundleLimits.asnRulesMax) return undefined
  const isWhole = isSignals(value['signals']) && isLatency(value['latency'])
  return isWhole ? (value as unknown as RoutingText) : undefined
}

function fieldsOf(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isAsnRule(value: unknown): boolean {
  if (!isFields(value)) return false
  const { org, asn, endpoint } = value
  if (typeof org !== 'string' || org.length > bundleLimits.asnOrgLengthMax) return false
  return (asn === null || isRow(asn)) && isRow(endpoint)
}

function isRow(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isSignals(value: unknown): value is SignalsModel {
  if (!isFields(value) || !isNumber(value['weight'])) return false
  const regions = value['static']
  if (!isFields(regions)) return false
  const signals = Object.values(regions)
  return signals.length <= bundleLimits.signalRegionsMax && signals.every(isNumber)
}

function isLatency(value: unknown): value is LatencyModel {
  if (!isFields(value)) return false
  const { regionBonusMultiplier, minRttThresholdMs, fallbackRegion } = value
  return isNumber(regionBonusMultiplier) && isNumber(minRttThresholdMs) && isText(fallbackRegion)
}

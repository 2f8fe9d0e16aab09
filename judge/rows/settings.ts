// Finds settings of the whole configuration that differ, by the ways to choose that use them.
import { addressOfMember, textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as clientRanges from '#bundle/format/client-ranges.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { firstPolicyCode, PolicyCell } from '#bundle/format/routing-cells.ts'
import { parsePolicyText, valueNames } from '#bundle/format/routing-text.ts'
import type { ValueName } from '#bundle/format/routing-text.ts'
import { assert } from '#lib/assert.ts'
import { routingSettingsOf } from '#routing/choose/environment.ts'
import { algorithmNamed, filterNamed, wayOfCode } from '#routing/choose/ways.ts'
import type { Way, WayNeed } from '#routing/choose/way.ts'
import { areNetworksAlike } from './pools.ts'
import type { PoolPairs } from './pools.ts'

const { mapTable } = clientRanges

/** From a need of a way, or a value that it reads, to the name of the setting that differs. */
export type SettingsDifference = ReadonlyMap<WayNeed | ValueName, string>

export function differingSettings(base: Bundle, head: Bundle): SettingsDifference {
  const differing = new Map<WayNeed | ValueName, string>()
  const [one, other] = [base, head].map(endpointNames) as [EndpointName, EndpointName]
  if (!areNetworksAlike([base, mapTable, one], [head, mapTable, other])) {
    differing.set('map-rules', 'mapFile.rules')
  }
  const [was, is] = [routingSettingsOf(base), routingSettingsOf(head)]
  const rulesOf = ({ asnRules }: typeof was, nameOf: EndpointName): string =>
    JSON.stringify(asnRules.map(({ asn, org, endpoint }) => [asn, org, nameOf(endpoint)]))
  if (rulesOf(was, one) !== rulesOf(is, other)) differing.set('asn-rules', 'asn.rules')
  for (const name of valueNames) {
    if (JSON.stringify(was[name]) !== JSON.stringify(is[name])) differing.set(name, name)
  }
  return differing
}

type EndpointName = (row: number) => string

/** Names rows by addresses of members: a row without a member has no name. */
function endpointNames(bundle: Bundle): EndpointName {
  const names = new Map<number, string>()
  for (const [member, row] of bundle.memberEndpoint.entries()) {
    if (row > 0 && !names.has(row)) names.set(row, addressOfMember(bundle, member))
  }
  return (row) => names.get(row) ?? 'nobody'
}

/** Compares how services choose, by their `Algorithm` cells. */
export class PolicyPairs {
  readonly #known = new Map<number, boolean>()
  readonly #base: Bundle
  readonly #head: Bundle
  readonly #pools: PoolPairs
  readonly #settings: SettingsDifference

  constructor(base: Bundle, head: Bundle, pools: PoolPairs, settings: SettingsDifference) {
    this.#base = base
    this.#head = head
    this.#pools = pools
    this.#settings = settings
  }

  areAlike(base: number, head: number): boolean {
    const key = base * 0x10_0000 + head
    let known = this.#known.get(key)
    if (known === undefined) this.#known.set(key, (known = this.#compare(base, head)))
    return known
  }

  #compare(base: number, head: number): boolean {
    if (base < firstPolicyCode || head < firstPolicyCode) return base === head
    const one = policyAt(this.#base, base)
    const other = policyAt(this.#head, head)
    if (one.text !== other.text || one.onAllDown !== other.onAllDown) return false
    if (one.answerCount !== other.answerCount) return false
    const { twin, isSame } = this.#pools
    const hasFallback = one.fallbackPool >= 0
    if (hasFallback !== other.fallbackPool >= 0) return false
    if (hasFallback && twin[one.fallbackPool] !== other.fallbackPool) return false
    if (hasFallback && isSame[one.fallbackPool] === 0) return false
    return !waysOf(one.text).some(({ needs, reads }) => {
      if (reads !== undefined && this.#settings.has(reads)) return true
      return needs.some((need) => this.#settings.has(need))
    })
  }
}

export function policyAt({ policyRow, ...bundle }: Bundle, code: number) {
  const at = (code - firstPolicyCode) * PolicyCell.Words
  return {
    text: textOf(bundle, policyRow[at + PolicyCell.Text]!),
    onAllDown: policyRow[at + PolicyCell.OnAllDown]!,
    fallbackPool: policyRow[at + PolicyCell.FallbackPool]! - 1,
    answerCount: policyRow[at + PolicyCell.AnswerCount]!,
  }
}

function waysOf(text: string): readonly Way[] {
  const policy = parsePolicyText(text)
  assert(policy !== undefined, 'the loader has read every policy')
  const { algorithm, filterChain } = policy
  if (filterChain.length === 0) return [algorithmNamed(algorithm)!]
  return filterChain.flatMap((name) => filterNamed(name)?.way ?? [])
}

/** The algorithm, or the steps of the chain, as people write them. */
export function policyLabel(bundle: Bundle, node: number): string {
  const code = bundle.nodeRow[node * NodeCell.Words + NodeCell.Algorithm]!
  if (code < firstPolicyCode) return wayOfCode(code)?.name ?? ''
  const { text, answerCount } = policyAt(bundle, code)
  const policy = parsePolicyText(text)
  if (policy === undefined) return ''
  const { filterChain, algorithm } = policy
  const words = filterChain.length === 0 ? algorithm : filterChain.join(', ')
  return answerCount > 1 ? `${words} (answerCount: ${answerCount})` : words
}

// Checks services against their pools: data for the algorithm, and size of answers.
import { isRegionOfClients, suggestRegion } from '#compiler/lower/regions.ts'
import { memberAddresses, poolFacts, settingsFacts } from '#compiler/lower/routing-facts.ts'
import type { PoolFacts, SettingsFacts } from '#compiler/lower/routing-facts.ts'
import { placeIn, valueIn } from '#compiler/tree/tree.ts'
import type { Entry, TreeReport } from '#compiler/tree/tree.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import type { WayNeed } from '#routing/choose/way.ts'
import { algorithmNamed, filterNamed } from '#routing/choose/ways.ts'
import { continentCodes } from '#routing/geo/countries.ts'
import { scriptLimits } from '#routing/script/contract.ts'
import type { SubdivisionSource, TreeRule } from './tree-rule.ts'

/** Checks that a service's algorithm has its data: regions, places, rules, probes. */
export const serviceRouting: TreeRule = ({ tree, subdivisions }, report) => {
  // Settings that could not be read may have the missing data.
  let settings: SettingsFacts | undefined
  const known = new Map<Entry<'Pool'>, PoolFacts>()
  const byRegion = new Set<Entry<'Pool'>>()
  for (const entry of tree.of.Service) {
    const { spec } = entry.object
    const steps = stepsOf(entry)
    if (steps.length === 0 && spec.answerCount === 1) continue
    const pool = spec.pool === null ? undefined : tree.poolNamed.get(spec.pool)
    if (pool?.tenant !== entry.tenant || pool.object.spec.members.length === 0) continue
    if (!tree.faulty.settings) settings ??= settingsFacts(tree.settings)
    const facts = known.get(pool) ?? poolFacts(pool, settings)
    known.set(pool, facts)
    checkAnswerCount(entry, facts, report)
    for (const { needs, place } of steps) {
      if (needs.includes('regions')) byRegion.add(pool)
      const need = needs.map((name) => needTable[name]).find(({ isMissing }) => isMissing(facts))
      if (need === undefined) continue
      const args = [facts.name, ...(need.detail?.(facts) ?? [])]
      report(need.code, placeIn(entry, place), { args })
    }
  }
  for (const pool of byRegion) checkRegions(pool, subdivisions, report)
}

/** Checks the regions of a pool that the filter geo-ip looks at. */
function checkRegions(
  pool: Entry<'Pool'>,
  { name, has }: SubdivisionSource,
  report: TreeReport,
): void {
  for (const [i, { region }] of pool.object.spec.members.entries()) {
    const at = valueIn(pool, 'spec', 'members', i, 'region')
    if (!isRegionOfClients(region)) {
      const continents = [...continentCodes, '*'].map((code) => `continent:${code}`).join(', ')
      const args = [region, continents]
      report('region-of-nobody', at, { args, suggestion: suggestRegion(region) })
    } else if (region[2] === '-' && !has(region)) {
      report('subdivision-of-nobody', at, { args: [region, name, region.slice(0, 2)] })
    }
  }
}

interface Need {
  readonly code: DiagnosticCode
  readonly isMissing: (facts: PoolFacts) => boolean
  /** Arguments of the message after the name of the pool. */
  readonly detail?: (facts: PoolFacts) => readonly string[]
}

/** For each need of a way, the test of a pool and the finding where it fails. */
const needTable: Readonly<Record<WayNeed, Need>> = Object.freeze({
  locations: {
    code: 'geo-ip-without-locations',
    isMissing: ({ hasLocation }) => hasLocation === false,
  },
  regions: { code: 'geo-ip-without-regions', isMissing: ({ regions }) => regions.size === 0 },
  'two-regions': {
    code: 'geo-ip-one-region',
    isMissing: (facts) => facts.members > 1 && facts.regions.size === 1 && !facts.hasNoRegion,
    detail: ({ regions }) => [...regions],
  },
  'map-rules': {
    code: 'map-file-without-rules',
    isMissing: ({ hasMapRule }) => hasMapRule === false,
  },
  'asn-rules': { code: 'asn-without-rules', isMissing: ({ hasAsnRule }) => hasAsnRule === false },
  'round-trips': {
    code: 'latency-without-check',
    isMissing: ({ unmeasured }) => unmeasured !== undefined,
    detail: ({ unmeasured = '' }) => [unmeasured],
  },
  'rum-urls': { code: 'rum-without-urls', isMissing: ({ hasRumUrl }) => !hasRumUrl },
  signals: {
    code: 'signal-weight-without-signals',
    isMissing: ({ hasSignal }) => hasSignal === false,
  },
  'small-pool': {
    code: 'script-pool-large',
    isMissing: ({ addressesMax }) => addressesMax > scriptLimits.candidatesInTime,
    detail: ({ addressesMax }) => [String(addressesMax), String(scriptLimits.candidatesInTime)],
  },
})

interface NeedyStep {
  readonly needs: readonly WayNeed[]
  readonly place: Place
}

function stepsOf({ object: { spec } }: Entry<'Service'>): readonly NeedyStep[] {
  if (spec.filterChain.length === 0) {
    const needs = algorithmNamed(spec.algorithm)?.needs ?? []
    return needs.length === 0 ? [] : [{ needs, place: valueAt('spec', 'algorithm') }]
  }
  const ways = spec.filterChain.map((text) => filterNamed(text)?.way)
  const firstDropping = ways.findIndex((way) => way !== undefined && way.leaves !== 'all')
  return ways.flatMap((way, i) => {
    const isBehind = firstDropping >= 0 && firstDropping < i
    // The number of members that earlier steps leave is unknown here.
    const needs = (way?.needs ?? []).filter((need) => need !== 'small-pool' || !isBehind)
    return needs.length === 0 ? [] : [{ needs, place: valueAt('spec', 'filterChain', i) }]
  })
}

function checkAnswerCount(
  entry: Entry<'Service'>,
  { name, addressesMax }: PoolFacts,
  report: TreeReport,
): void {
  const { answerCount } = entry.object.spec
  if (answerCount <= addressesMax || answerCount === 1) return
  const at = valueIn(entry, 'spec', 'answerCount')
  report('answer-count-unreached', at, { args: [String(answerCount), name, String(addressesMax)] })
}

/** RFC 1035 section 4.2.2: the length prefix of a message over TCP has two octets. */
const messageBytesMax = 65_535
/** The header, type and class of the question, and an OPT record without options. */
const messageBytesBesides = 12 + 4 + 11
/** Octets of a record without its rdata, with its owner name compressed. */
const recordBytes = 12

interface Family {
  readonly type: string
  readonly count: number
  readonly bytes: number
}

/**
 * Notes services with more addresses of a family than a DNS message holds. Nodes answer a few of
 * them; a secondary server gets all, and cannot answer.
 */
export const serviceSizes: TreeRule = ({ tree }, report) => {
  const isLarge = ({ object }: Entry<'Pool'>): boolean => object.spec.members.length >= membersMin
  if (!tree.of.Pool.some(isLarge)) return
  const known = new Map<Entry<'Pool'>, readonly Family[]>()
  for (const entry of tree.of.Service) {
    const { spec } = entry.object
    const { domainKey } = entry.file
    const pool = spec.pool === null ? undefined : tree.poolNamed.get(spec.pool)
    if (domainKey === undefined || pool?.tenant !== entry.tenant) continue
    if (!isLarge(pool)) continue
    const families = known.get(pool) ?? familiesOf(pool)
    known.set(pool, families)
    for (const { type, count, bytes } of families) {
      // The wire form of a name has one octet more than its text.
      const all = messageBytesBesides + domainKey.length + 1 + bytes
      if (all <= messageBytesMax) continue
      const args = [String(count), type, domainKey, String(all), String(messageBytesMax)]
      report('service-too-large', valueIn(entry, 'spec', 'pool'), { args })
    }
  }
}

/** With fewer members, even the longest name and the larger family fit. */
const membersMin = 2_000

/** The records in a transfer: each address of enabled members once. */
function familiesOf(pool: Entry<'Pool'>): readonly Family[] {
  const { answer, members } = pool.object.spec
  if (answer === 'cname') return []
  const addresses = memberAddresses(pool).filter((_, i) => {
    const { enabled, ipAddress } = members[i]!
    return enabled && ipAddress !== ''
  })
  const distinct = [...new Set(addresses)]
  const count6 = distinct.filter((address) => address.includes(':')).length
  return [familyOf('A', 4, distinct.length - count6), familyOf('AAAA', 16, count6)]
}

const familyOf = (type: string, addressBytes: number, count: number): Family => ({
  ...{ type, count },
  bytes: count * (recordBytes + addressBytes),
})

// Checks that every index in a bundle is in bounds, so that the answer path need not.
import {
  address6Row,
  nodeFlags,
  nodeNameBytes,
  poolOfService,
  serviceCell,
  serviceOfNode,
} from '#bundle/format/bundle.ts'
import type { Bundle, BundleColumns, ServiceColumns } from '#bundle/format/bundle.ts'
import { inlineNameBytes, NodeCell, NodeFlag } from '#bundle/format/cells.ts'
import { checkHealthChecks } from './check-health.ts'
import { checkNetworks, checkPolicies, checkRoutingSettings } from './check-routing.ts'
import { checkAliases, checkHostnames } from './check-hostnames.ts'
import { faultOfIndex } from '#bundle/format/hash-index.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { checkMemberExtra } from '#bundle/format/member-extra.ts'
import type { Manifest } from '#bundle/format/manifest.ts'
import { deepestName } from '#bundle/format/name-depth.ts'
import { checkOverlays } from '#bundle/format/overlays.ts'
import { firstPolicyCode, PolicyCell } from '#bundle/format/routing-cells.ts'
import { checkRedirectIndex, checkRedirectRows } from './check-redirects.ts'
import { checkResponseIndex, checkResponseRows } from './check-response.ts'
import { checkNodeRrsets, checkRrsets } from './check-rrsets.ts'

/**
 * @param known a bundle that passed
 * @param same columns equal to those of `known`, which has the same counts
 * @returns the first fault as half a sentence, or undefined when there is none
 */
export function checkColumns(
  columns: BundleColumns,
  manifest: Manifest,
  known: Bundle | undefined,
  same: ReadonlySet<keyof BundleColumns>,
): string | undefined {
  for (const { reads, run } of checks) {
    if (reads !== null && reads.every((name) => same.has(name))) continue
    const fault = run(columns, manifest, known)
    if (fault !== undefined) return fault
  }
  return undefined
}

interface Check {
  /** All columns that it reads; null: it is too quick to skip. */
  readonly reads: readonly (keyof BundleColumns)[] | null
  readonly run: Run<BundleColumns>
}

type Run<Columns> = (columns: Columns, manifest: Manifest, known?: Bundle) => string | undefined

const quick = (run: Check['run']): Check => ({ reads: null, run })

/** Makes a check that reads only the listed columns, as the types enforce. */
function reading<Name extends keyof BundleColumns>(
  reads: readonly Name[],
  run: Run<Pick<BundleColumns, Name>>,
): Check {
  return { reads, run }
}

const redirectColumnNames = ['redirectIndex', 'redirectRow', 'redirectText'] as const

/** Ordered: a later check may index with values that an earlier one has proved. */
const checks: readonly Check[] = Object.freeze([
  quick(checkCounts),
  quick(checkIndices),
  reading(['nodeRow', 'serviceNode', 'policyRow'], checkRows),
  quick(checkTexts),
  quick(checkPools),
  quick(checkHostnames),
  quick(checkMemberExtra),
  reading(['poolHealthCheck', 'poolUid', 'stringBytes', 'stringOffset'], checkHealthChecks),
  quick(checkNetworks),
  quick(checkPolicies),
  quick(checkAliases),
  quick(checkRoutingSettings),
  quick(checkOverlays),
  reading(['rrsetRow', 'rrsetData', 'targetNode'], checkRrsets),
  reading(['names', 'nodeRow', 'zoneNode', 'zoneParent'], checkNames),
  reading(['nodeRow', 'rrsetRow', 'rrsetData', 'zoneNode'], checkNodeRrsets),
  reading(['names', 'nodeRow', 'nameIndex'], checkNameIndex),
  quick(checkResponseRows),
  quick(checkResponseIndex),
  reading(redirectColumnNames, checkRedirectRows),
  reading(redirectColumnNames, checkRedirectIndex),
  reading(['names', 'nodeRow', 'responseNames', 'responseRow'], checkDepth),
])

type NameColumns = Pick<BundleColumns, 'names' | 'nodeRow'>

function checkCounts(_columns: BundleColumns, { counts }: Manifest): string | undefined {
  const over = [
    ['zones', counts.zones, bundleLimits.zonesMax],
    ['rrsets', counts.rrsets, bundleLimits.rrsetsMax],
    ['services', counts.services, bundleLimits.servicesMax],
    ['pools', counts.pools, bundleLimits.poolsMax],
    ['members', counts.members, bundleLimits.membersMax],
    ['response rules', counts.responseRules, bundleLimits.responseRulesMax],
    ['redirects', counts.redirects, bundleLimits.redirectsMax],
  ] as const
  const first = over.find(([, count, max]) => count > max)
  return first === undefined
    ? undefined
    : `it has ${first[1]} ${first[0]}, the limit is ${first[2]}`
}

function checkIndices(c: BundleColumns, { counts }: Manifest): string | undefined {
  const texts = c.stringOffset.length - 1
  const rows: readonly (readonly [string, Uint32Array | Int32Array, number])[] = [
    ['zoneNode', c.zoneNode, counts.nodes],
    ['zoneParent', c.zoneParent, counts.zones],
    ['targetNode', c.targetNode, counts.nodes],
    ['memberPool', c.memberPool, counts.pools],
    ['serviceName', c.serviceName, texts],
    ['serviceTenant', c.serviceTenant, texts],
    ['poolName', c.poolName, texts],
    ['poolTenant', c.poolTenant, texts],
    ['poolHealthCheck', c.poolHealthCheck, texts],
    ['memberName', c.memberName, texts],
    ['memberRegion', c.memberRegion, texts],
  ]
  for (const [name, column, count] of rows) {
    const lowest = column instanceof Int32Array ? -1 : 0
    for (let i = 0; i < column.length; i++) {
      if (column[i]! >= count || column[i]! < lowest) return `${name} ${i} points outside its table`
    }
  }
  return undefined
}

function checkRows(
  c: ServiceColumns & Pick<BundleColumns, 'policyRow'>,
  { counts }: Manifest,
): string | undefined {
  let named = 0
  for (let at = 0; at < c.nodeRow.length; at += NodeCell.Words) {
    const node = at / NodeCell.Words
    if (c.nodeRow[at + NodeCell.Service]! > counts.services) {
      return `node ${node} points outside its table`
    }
    if (c.nodeRow[at + NodeCell.Zone]! >= counts.zones) return `node ${node} has no zone`
    if (serviceOfNode(c, node) >= 0) named++
  }
  const codeEnd = firstPolicyCode + c.policyRow.length / PolicyCell.Words
  for (let service = 0; service < counts.services; service++) {
    const node = c.serviceNode[service]!
    if (node >= counts.nodes || serviceOfNode(c, node) !== service) {
      return `service ${service} has no name`
    }
    if (poolOfService(c, service) >= counts.pools) return `service ${service} has no such pool`
    // The routing node checks plain algorithm codes itself.
    const algorithm = serviceCell(c, service, NodeCell.Algorithm)
    if (algorithm >= codeEnd) return `service ${service} has no such policy`
    const ttlSeconds = serviceCell(c, service, NodeCell.TtlSeconds)
    if (ttlSeconds > bundleLimits.ttlSecondsMax) return `service ${service} has too long a TTL`
  }
  // Each service has its own node: an extra one would answer with unchecked cells.
  return named === counts.services ? undefined : 'a service has two names'
}

function checkTexts({ stringOffset, stringBytes }: BundleColumns): string | undefined {
  if (stringOffset.length < 2) return 'there is no empty text'
  for (let i = 1; i < stringOffset.length; i++) {
    if (stringOffset[i]! < stringOffset[i - 1]!) return `text ${i} ends before it starts`
  }
  return stringOffset.at(-1) === stringBytes.length ? undefined : 'the texts have another length'
}

function checkPools(c: BundleColumns, { counts }: Manifest): string | undefined {
  const rows6 = c.memberAddress6.length / 16
  let next = 0
  for (let pool = 0; pool < counts.pools; pool++) {
    const size = c.poolCount4[pool]! + c.poolCount6[pool]!
    if (c.poolMemberStart[pool] !== next)
      return `pool ${pool} does not start where the last one ends`
    if (size > bundleLimits.membersPerPoolMax) return `pool ${pool} has too many members`
    if (c.poolMinHealthy[pool]! > bundleLimits.membersPerPoolMax) {
      return `pool ${pool} wants more healthy members than it could have`
    }
    next += size
    if (next > counts.members) return `pool ${pool} has members outside the table`
    for (let i = next - c.poolCount6[pool]!; i < next; i++) {
      if (address6Row(c, i) >>> 0 >= rows6) return `member ${i} has no address`
    }
  }
  if (next !== counts.members) return 'there are members without a pool'
  for (let i = 0; i < counts.members; i++) {
    if (c.memberWeight[i]! > bundleLimits.weightMax) return `member ${i} weighs too much`
  }
  return undefined
}

function checkNames(
  c: NameColumns & Pick<BundleColumns, 'zoneNode' | 'zoneParent'>,
  { counts }: Manifest,
): string | undefined {
  const { buffer, byteOffset, byteLength } = c.nodeRow
  const octets = new Uint8Array(buffer, byteOffset, byteLength)
  for (let node = 0; node < counts.nodes; node++) {
    const start = c.nodeRow[node * NodeCell.Words + NodeCell.NameOffset]!
    let at = start
    const end = at + nodeNameBytes(c, node)
    if (end > c.names.length) return `name ${node} ends outside`
    while (at < end && c.names[at] !== 0 && c.names[at]! <= 63) at += c.names[at]! + 1
    if (at !== end - 1 || c.names[at] !== 0) return `name ${node} is not a name`
    if (!isInlineEqual(c.names, start, end, octets, node)) return `name ${node} has two spellings`
  }
  for (let zone = 0; zone < counts.zones; zone++) {
    if ((nodeFlags(c, c.zoneNode[zone]!) & NodeFlag.Apex) === 0) return `zone ${zone} has no apex`
    if (c.zoneParent[zone] === zone) return `zone ${zone} is its own parent`
  }
  return undefined
}

/**
 * Checks the inline name: lookups compare a short name by the words of its row, leading zeros
 * included; all else reads `names`.
 */
function isInlineEqual(
  names: Uint8Array,
  start: number,
  end: number,
  octets: Uint8Array,
  node: number,
): boolean {
  if (end - start > inlineNameBytes) return true
  const inlineEnd = (node + 1) * NodeCell.Words * 4
  const inlineStart = inlineEnd - (end - start)
  for (let at = inlineEnd - inlineNameBytes; at < inlineStart; at++)
    if (octets[at] !== 0) return false
  for (let at = inlineStart; at < inlineEnd; at++) {
    if (names[start + at - inlineStart] !== octets[at]) return false
  }
  return true
}

/** The answer path does not look for deeper names. */
function checkDepth(
  c: Parameters<typeof deepestName>[0],
  { nameLabelsMax }: Manifest,
): string | undefined {
  return deepestName(c) === nameLabelsMax ? undefined : 'its deepest name has another depth'
}

function checkNameIndex(
  c: NameColumns & Pick<BundleColumns, 'nameIndex'>,
  { nameSeed }: Manifest,
): string | undefined {
  const { Words: words, NameOffset: cell } = NodeCell
  const names = { names: c.names, rows: c.nodeRow, words, cell }
  return faultOfIndex(c.nameIndex, names, nameSeed, 'the name index', 'name')
}

// Finds the names whose answers may differ, because their rows in the two bundles differ.
import {
  nodeFlags,
  rrsetCount,
  serviceOfNode,
  textOf,
  wireNameOf,
  zoneOfNode,
} from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell, NodeFlag } from '#bundle/format/cells.ts'
import { responseRuleAt } from '#bundle/format/response-rules.ts'
import { RrsetCell } from '#bundle/format/rrsets.ts'
import { rrsetsOfNode } from '#bundle/load/rrset-values.ts'
import { foldName, formatName, labelOffsets, parseName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { findStored } from '#bundle/load/find-node.ts'
import { aliasesMax } from '#answer/transaction.ts'
import { pairPools } from './pools.ts'
import type { PoolPairs } from './pools.ts'
import { RrsetPairs } from './rrsets.ts'
import { differingSettings, PolicyPairs } from './settings.ts'
import type { SettingsDifference } from './settings.ts'

export interface NameDifference {
  /** Name in wire form. */
  readonly qname: Uint8Array
  /** Index of the node of that name, or -1. */
  readonly base: number
  readonly head: number
}

export interface Differences {
  /** Differing names in order. */
  readonly names: readonly NameDifference[]
  readonly pools: PoolPairs
  readonly settings: SettingsDifference
  /** How many names either side has. */
  readonly compared: number
}

/** @param most the search ends when it has found one name more than this */
export function findDifferences(base: Bundle, head: Bundle, most = Infinity): Differences {
  const pools = pairPools(base, head)
  const settings = differingSettings(base, head)
  const pairs = new NodePairs(base, head, pools, settings)
  const names = new Map<string, NameDifference>()
  const addName = (qname: Uint8Array): void => {
    const name = formatName(qname)
    if (names.has(name) || names.size > most) return
    const both = { base: findStored(base, qname, 0), head: findStored(head, qname, 0) }
    names.set(name, { qname, ...both })
  }
  const add = (bundle: Bundle, node: number): void => addName(nameOf(bundle, node))
  let found = 0
  // Names are in the same order on both sides: a few removed or added names shift those after them.
  let shift = 0
  for (let node = 0; node < base.counts.nodes && names.size <= most; node++) {
    const guess = node + shift
    const isThere = hasName(head, guess, base, node)
    const other = isThere ? guess : findStored(head, base.names, offsetOf(base, node))
    if (other >= 0) shift = other - node
    if (other >= 0) found++
    if (other < 0 || !pairs.areAlike(node, other)) add(base, node)
  }
  // Every name of the base was found, and the head has no others.
  const isWhole = found === head.counts.nodes
  for (let node = 0; !isWhole && names.size <= most && node < head.counts.nodes; node++) {
    if (findStored(base, head.names, offsetOf(head, node)) < 0) add(head, node)
  }
  const triggers = differingRules(base, head)
  if (triggers.size > 0) {
    for (const bundle of [base, head]) {
      for (let node = 0; node < bundle.counts.nodes; node++) {
        if (isBelow(nameOf(bundle, node), triggers)) add(bundle, node)
      }
    }
  }
  for (const trigger of triggers) {
    const parsed = parseName(trigger)
    if (parsed.ok) addName(Uint8Array.from(foldName(parsed.value)))
  }
  if (names.size <= most) addAliases(base, head, names, add)
  const sorted = [...names].sort(([one], [other]) => (one < other ? -1 : 1))
  const compared = head.counts.nodes + base.counts.nodes - found
  return { names: sorted.map(([, one]) => one), pools, settings, compared }
}

/** Tenants of the services at the name, on both sides. */
export function tenantsOfName(
  base: Bundle,
  head: Bundle,
  { base: was, head: is }: NameDifference,
): readonly string[] {
  const tenantOf = (bundle: Bundle, node: number): string[] => {
    const service = node < 0 ? -1 : serviceOfNode(bundle, node)
    return service < 0 ? [] : [textOf(bundle, bundle.serviceTenant[service]!)]
  }
  return [...tenantOf(base, was), ...tenantOf(head, is)]
}

/** Adds aliases: they answer what their target answers. */
function addAliases(
  base: Bundle,
  head: Bundle,
  names: ReadonlyMap<string, NameDifference>,
  add: (bundle: Bundle, node: number) => void,
): void {
  if (names.size === 0) return
  for (let before = -1; before < names.size;) {
    before = names.size
    for (const bundle of [base, head]) {
      for (let node = 0; node < bundle.counts.nodes; node++) {
        if ((nodeFlags(bundle, node) & NodeFlag.HasCname) === 0) continue
        const target = targetOf(bundle, node, RrType.CNAME)
        if (target !== undefined && leadsTo(bundle, target, names)) add(bundle, node)
      }
    }
  }
}

/** Whether an alias leads to the name, also through DNAME records above it (RFC 6672). */
function leadsTo(
  bundle: Bundle,
  target: Uint8Array,
  names: ReadonlyMap<string, NameDifference>,
): boolean {
  let name: Uint8Array | undefined = target
  for (let followed = 0; name !== undefined && followed < aliasesMax; followed++) {
    const asked: Uint8Array = name
    if (names.has(formatName(asked))) return true
    const above = labelOffsets(asked).filter((at) => at > 0)
    // A wildcard may answer for it.
    if (above.some((at) => names.has(`*.${formatName(asked, at)}`.replace(/\.\.$/, '.'))))
      return true
    name = undefined
    for (const at of above) {
      const node = findStored(bundle, asked, at)
      const dname = node < 0 ? undefined : targetOf(bundle, node, RrType.DNAME)
      if (dname === undefined) continue
      if (names.has(formatName(asked, at))) return true
      name = Buffer.concat([asked.subarray(0, at), dname])
      break
    }
  }
  return false
}

function targetOf(bundle: Bundle, node: number, type: number): Uint8Array | undefined {
  const alias = rrsetsOfNode(bundle, node).find((one) => one.type === type)
  return alias?.rdata[0] === undefined ? undefined : foldName(alias.rdata[0])
}

/** Names of response rules that differ between the sides. */
function differingRules(base: Bundle, head: Bundle): ReadonlySet<string> {
  const textsOf = (bundle: Bundle) =>
    new Map(
      Array.from({ length: bundle.counts.responseRules }, (_, row) => {
        const { trigger, triggerType, action, target } = responseRuleAt(bundle, row)
        return [`${trigger} ${triggerType} ${action} ${target}`, trigger] as const
      }),
    )
  const [one, other] = [textsOf(base), textsOf(head)]
  const differing = new Set<string>()
  for (const [text, trigger] of one) if (!other.has(text)) differing.add(trigger)
  for (const [text, trigger] of other) if (!one.has(text)) differing.add(trigger)
  return differing
}

function isBelow(qname: Uint8Array, triggers: ReadonlySet<string>): boolean {
  return labelOffsets(qname).some((at) => triggers.has(formatName(qname, at)))
}

function offsetOf({ nodeRow }: Bundle, node: number): number {
  return nodeRow[node * NodeCell.Words + NodeCell.NameOffset]!
}

function hasName(head: Bundle, other: number, base: Bundle, node: number): boolean {
  if (other < 0 || other >= head.counts.nodes) return false
  const [start, otherStart] = [offsetOf(base, node), offsetOf(head, other)]
  // A name contains its end, so one of another length differs within it.
  for (let i = 0, label = 0; ; i++) {
    const octet = base.names[start + i]!
    if (octet !== head.names[otherStart + i]) return false
    if (i < label) continue
    if (octet === 0) return true
    label = i + octet + 1
  }
}

export function nameOf(bundle: Bundle, node: number): Uint8Array {
  return wireNameOf(bundle, node).slice()
}

/** Types that the name may be asked for. The DNSKEY records of a signed zone are no row of it. */
export function typesOf(bundle: Bundle, node: number): readonly number[] {
  if (node < 0) return []
  const first = bundle.nodeRow[node * NodeCell.Words + NodeCell.FirstRrset]!
  const isSigned = (nodeFlags(bundle, node) & NodeFlag.Signed) !== 0
  const types = Array.from(
    { length: rrsetCount(bundle, node) },
    (_, i) => bundle.rrsetRow[(first + i) * RrsetCell.Words + RrsetCell.Type]!,
  ).filter((type) => !isSigned || type !== RrType.DNSKEY)
  return serviceOfNode(bundle, node) < 0 ? types : [RrType.A, RrType.AAAA, ...types]
}

/** A wildcard below a name does not affect the name itself. */
const ownFlags = ~NodeFlag.HasWildcard

class NodePairs {
  readonly #base: Bundle
  readonly #head: Bundle
  readonly #pools: PoolPairs
  readonly #policies: PolicyPairs
  readonly #rrsets: RrsetPairs
  /** By zone of the base: the zone of the head with the same name, or -1. */
  readonly #zones: Int32Array

  constructor(base: Bundle, head: Bundle, pools: PoolPairs, settings: SettingsDifference) {
    this.#base = base
    this.#head = head
    this.#pools = pools
    this.#policies = new PolicyPairs(base, head, pools, settings)
    this.#rrsets = new RrsetPairs(base, head)
    const apexes = new Map(Array.from(head.zoneNode, (node, zone) => [node, zone]))
    this.#zones = Int32Array.from(base.zoneNode, (node) => {
      const other = findStored(head, base.names, offsetOf(base, node))
      return apexes.get(other) ?? -1
    })
  }

  areAlike(node: number, other: number): boolean {
    const [base, head] = [this.#base, this.#head]
    if ((nodeFlags(base, node) & ownFlags) !== (nodeFlags(head, other) & ownFlags)) return false
    if (this.#zones[zoneOfNode(base, node)] !== zoneOfNode(head, other)) return false
    return this.#rrsets.areAlike(node, other) && this.#areServicesAlike(node, other)
  }

  #areServicesAlike(node: number, other: number): boolean {
    const [base, head] = [this.#base, this.#head]
    const has = serviceOfNode(base, node) >= 0
    if (has !== serviceOfNode(head, other) >= 0) return false
    if (!has) return true
    const [row, otherRow] = [node * NodeCell.Words, other * NodeCell.Words]
    const cell = (at: number): number => base.nodeRow[row + at]!
    const otherCell = (at: number): number => head.nodeRow[otherRow + at]!
    if (cell(NodeCell.TtlSeconds) !== otherCell(NodeCell.TtlSeconds)) return false
    const [pool, otherPool] = [cell(NodeCell.Pool) - 1, otherCell(NodeCell.Pool) - 1]
    if (pool >= 0 !== otherPool >= 0) return false
    if (pool >= 0 && this.#pools.twin[pool] !== otherPool) return false
    if (pool >= 0 && this.#pools.isSame[pool] === 0) return false
    return this.#policies.areAlike(cell(NodeCell.Algorithm), otherCell(NodeCell.Algorithm))
  }
}

// Finds record sets for which BIND, as a secondary server, refuses the whole zone.
import { rrsetCount, serviceOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { RrsetCell } from '#bundle/format/rrsets.ts'
import { formatName } from '#dns/name.ts'
import { rrTypeNames } from '#dns/rrtype.ts'
import { nameOf, serviceRecords } from './zone-records.ts'

/** Defaults of its `max-records-per-type` and `max-types-per-name`, since 9.18.28. */
const recordsMax = 100
const typesMax = 100
/** This many are named; others are only counted. */
const namedMax = 5

interface RefusedSets {
  /** `www.example.com. A: 101 records`, `www.example.com.: 101 types` */
  readonly first: readonly string[]
  readonly others: number
}

/** Walks over the rows of all names, and makes records where there may be too many. */
export function setsBindRefuses(bundle: Bundle): RefusedSets {
  const first: string[] = []
  let others = 0
  const nodes = bundle.nodeRow.length / NodeCell.Words
  for (let node = 0; node < nodes; node++) {
    if (!maybeTooMany(bundle, node)) continue
    const sizes = setSizes(bundle, node)
    const name = formatName(nameOf(bundle, node))
    for (const [type, size] of sizes) {
      if (size <= recordsMax) continue
      const line = `${name} ${rrTypeNames[type] ?? `TYPE${type}`}: ${size} records`
      if (first.length < namedMax) first.push(line)
      else others++
    }
    if (sizes.size <= typesMax) continue
    if (first.length < namedMax) first.push(`${name}: ${sizes.size} types`)
    else others++
  }
  return { first, others }
}

function maybeTooMany(bundle: Bundle, node: number): boolean {
  const { nodeRow, rrsetRow, poolCount4, poolCount6 } = bundle
  const row = node * NodeCell.Words
  const pool = serviceOfNode(bundle, node) < 0 ? -1 : nodeRow[row + NodeCell.Pool]! - 1
  if (pool >= 0 && poolCount4[pool]! + poolCount6[pool]! > recordsMax) return true
  const count = rrsetCount(bundle, node)
  const start = nodeRow[row + NodeCell.FirstRrset]!
  for (let rrset = start; rrset < start + count; rrset++) {
    if (rrsetRow[rrset * RrsetCell.Words + RrsetCell.Count]! > recordsMax) return true
  }
  // A service has two more types.
  return count + 2 > typesMax
}

/** By type. */
function setSizes(bundle: Bundle, node: number): ReadonlyMap<number, number> {
  const { nodeRow, rrsetRow } = bundle
  const sizes = new Map<number, number>()
  const start = nodeRow[node * NodeCell.Words + NodeCell.FirstRrset]!
  for (let rrset = start; rrset < start + rrsetCount(bundle, node); rrset++) {
    const row = rrset * RrsetCell.Words
    sizes.set(rrsetRow[row + RrsetCell.Type]!, rrsetRow[row + RrsetCell.Count]!)
  }
  for (const { type } of serviceRecords(bundle, node)) sizes.set(type, (sizes.get(type) ?? 0) + 1)
  return sizes
}

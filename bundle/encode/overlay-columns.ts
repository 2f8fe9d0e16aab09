// Encodes rollouts and maintenance windows as rows: sorted by uid, members as indices.
import { canonicalJson } from '#bundle/format/canonical-json.ts'
import type { Json } from '#bundle/format/canonical-json.ts'
import type { BundleModel, PoolModel } from '#bundle/format/model.ts'
import { RolloutCell, WindowCell } from '#bundle/format/overlays.ts'
import { addressOctets, sortedByUid } from './rows.ts'
import type { StringTable } from '#bundle/format/string-table.ts'

/** Where the encoder has put the pools of the model. */
export interface PlacedPools {
  /** Row of the pool at a position of the model. */
  readonly indexOfPool: Uint32Array
  readonly columns: { readonly poolMemberStart: Uint32Array; readonly poolCount4: Uint32Array }
}

export function overlayColumns(model: BundleModel, placed: PlacedPools, strings: StringTable) {
  const rolloutRow = new Uint32Array(model.rollouts.length * RolloutCell.Words)
  for (const [row, { pool, member, ...text }] of sortedByUid(model.rollouts).entries()) {
    const at = row * RolloutCell.Words
    rolloutRow[at + RolloutCell.Member] = memberRow(model.pools[pool]!, pool, member, placed)
    rolloutRow[at + RolloutCell.Text] = strings.add(canonicalJson(text as unknown as Json))
  }
  const windowRow = new Uint32Array(model.windows.length * WindowCell.Words)
  for (const [row, { pool, member, ...text }] of sortedByUid(model.windows).entries()) {
    const at = row * WindowCell.Words
    windowRow[at + WindowCell.Pool] = placed.indexOfPool[pool]!
    windowRow[at + WindowCell.Member] =
      member < 0 ? 0 : memberRow(model.pools[pool]!, pool, member, placed) + 1
    windowRow[at + WindowCell.Text] = strings.add(canonicalJson(text))
  }
  return { rolloutRow, windowRow }
}

/** IPv4 members stand before IPv6 members, each family in the order of the model. */
function memberRow(
  { members }: PoolModel,
  position: number,
  member: number,
  { indexOfPool, columns }: PlacedPools,
): number {
  const row = indexOfPool[position]!
  const isIpv4 = (ipAddress: string): boolean => addressOctets(ipAddress).length === 4
  const family = isIpv4(members[member]!.ipAddress)
  const before = members.slice(0, member).filter((one) => isIpv4(one.ipAddress) === family)
  const start = columns.poolMemberStart[row]! + (family ? 0 : columns.poolCount4[row]!)
  return start + before.length
}

// Encodes rollouts and maintenance windows as rows: sorted by uid, members as indices.
import { canonicalJson } from '#lib/text/canonical-json.ts'
import type { Json } from '#lib/text/canonical-json.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { BundleModel, MemberModel, PoolModel } from '#bundle/format/model.ts'
import { RolloutCell, WindowCell } from '#bundle/format/cells.ts'
import { sortedByUid } from './rows.ts'
import type { StringTable } from '#bundle/format/string-table.ts'

/** Rows that the encoder gave to the pools of the model. */
interface PlacedPools {
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
  for (const [row, { pool, member, members, ...rest }] of sortedByUid(model.windows).entries()) {
    const at = row * WindowCell.Words
    windowRow[at + WindowCell.Pool] = placed.indexOfPool[pool]!
    windowRow[at + WindowCell.Member] =
      member < 0 ? 0 : memberRow(model.pools[pool]!, pool, member, placed) + 1
    const text = members === null ? rest : { ...rest, members }
    windowRow[at + WindowCell.Text] = strings.add(canonicalJson(text))
  }
  return { rolloutRow, windowRow }
}

/** IPv4 rows stand before IPv6 rows, each family in the order of the model. */
function memberRow(
  pool: PoolModel,
  position: number,
  member: number,
  { indexOfPool, columns }: PlacedPools,
): number {
  const row = indexOfPool[position]!
  const { hostname, ipAddress } = pool.members[member]!
  // A host name stands for its first slot, which is an IPv4 one.
  const family = hostname === '' && ipAddress.includes(':') ? 6 : 4
  let at = columns.poolMemberStart[row]! + (family === 6 ? columns.poolCount4[row]! : 0)
  for (let i = 0; i < member; i++) at += rowsIn(pool.members[i]!, pool.answer, family)
  return at
}

function rowsIn(member: MemberModel, answer: PoolModel['answer'], family: 4 | 6): number {
  if (member.hostname === '') return member.ipAddress.includes(':') === (family === 6) ? 1 : 0
  if (answer === 'addresses') return bundleLimits.slotsPerHostname
  return family === 4 ? 1 : 0
}

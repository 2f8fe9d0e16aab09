// Copies the rows of unchanged pools from the last bundle to the next one, in runs.
import { address6Row } from '#bundle/format/bundle.ts'
import { copyExtra, renumberExtra } from '#bundle/format/member-extra.ts'
import { copyHostnames } from './hostname-rows.ts'
import type { HostnameRows } from './hostname-rows.ts'
import type { PoolColumns, PoolPlace } from './pool-columns.ts'
import { writeAddress6Row } from './pool-columns.ts'

export type WholePoolColumns = PoolColumns &
  ReturnType<HostnameRows['columns']> & { readonly memberExtra: Uint32Array }

/** Pools that stay side by side: from row `from` of the last bundle to row `to` of the next. */
export interface PoolSpan {
  readonly from: number
  readonly to: number
  readonly count: number
}

interface Copied extends PoolSpan {
  /** The first member there was, and the first there is. */
  readonly fromMember: number
  readonly toMember: number
  readonly members: number
}

const poolColumns = [
  'poolName',
  'poolTenant',
  'poolHealthCheck',
  'poolCount4',
  'poolCount6',
  'poolMinHealthy',
  'poolNetworks',
] as const

/** The elements of a member. */
const memberColumns = {
  memberUid: 16,
  memberAddress: 4,
  memberPort: 1,
  memberWeight: 1,
  memberPriority: 1,
  memberFlags: 1,
  memberName: 1,
  memberRegion: 1,
  memberPlace: 1,
  memberEndpoint: 1,
} as const
const memberWidths = Object.entries(memberColumns) as [keyof typeof memberColumns, number][]

export class PoolCopy {
  readonly columns: PoolColumns
  /** Where the next pool goes, copied or written. */
  readonly place: PoolPlace = { pool: 0, member: 0, address6: 0 }
  readonly #old: WholePoolColumns
  readonly #copied: Copied[] = []
  /** The row of the last bundle up to which IPv6 addresses are counted, and how many they are. */
  #counted = { pool: 0, address6: 0 }

  /** @param columns room for all */
  constructor(old: WholePoolColumns, columns: PoolColumns) {
    this.#old = old
    this.columns = columns
  }

  /** Spans come in order; what is between them is written by the caller. */
  take(span: PoolSpan): void {
    const { place, columns } = this
    const old = this.#old
    const [end, fromMember] = [span.from + span.count, memberStart(old, span.from)]
    const members = memberStart(old, end) - fromMember
    for (const name of poolColumns) {
      columns[name].set(old[name].subarray(span.from, end), place.pool)
    }
    for (const [name, width] of memberWidths) {
      const rows = old[name].subarray(fromMember * width, (fromMember + members) * width)
      columns[name].set(rows, place.member * width)
    }
    const toMember = place.member
    for (let i = 0; i < span.count; i++) {
      const start = old.poolMemberStart[span.from + i]! - fromMember
      columns.poolMemberStart[place.pool + i] = start + toMember
    }
    for (let i = 0; i < members; i++) {
      const pool = old.memberPool[fromMember + i]! - span.from
      columns.memberPool[toMember + i] = pool + place.pool
    }
    this.#copied.push({ ...span, fromMember, toMember, members })
    this.#take6(span)
    place.pool += span.count
    place.member += members
  }

  #take6({ from, count }: PoolSpan): void {
    const { place, columns } = this
    const old = this.#old
    const from6 = this.#count6(from)
    const end6 = this.#count6(from + count)
    columns.memberAddress6.set(
      old.memberAddress6.subarray(from6 * 16, end6 * 16),
      place.address6 * 16,
    )
    const shift = place.address6 - from6
    place.address6 += end6 - from6
    if (shift === 0 || end6 === from6) return
    for (let i = 0; i < count; i++) {
      const start = columns.poolMemberStart[place.pool + i]! + columns.poolCount4[place.pool + i]!
      const end = start + columns.poolCount6[place.pool + i]!
      for (let row = start; row < end; row++) {
        writeAddress6Row(columns, row, address6Row(columns, row) + shift)
      }
    }
  }

  /** Of all pools of the last bundle before this row. */
  #count6(row: number): number {
    const counted = this.#counted
    for (; counted.pool < row; counted.pool++) {
      counted.address6 += this.#old.poolCount6[counted.pool]!
    }
    return counted.address6
  }

  /** @param numbers the new number of each text; undefined: all stay */
  finish(numbers: Uint32Array | undefined): WholePoolColumns {
    const { columns } = this
    const memberExtra = copyExtra(this.#old.memberExtra, this.#copied)
    if (numbers !== undefined) {
      for (const { to, count, toMember, members } of this.#copied) {
        for (const name of ['poolName', 'poolTenant', 'poolHealthCheck'] as const) {
          renumber(columns[name], to, to + count, numbers)
        }
        for (const name of ['memberName', 'memberRegion'] as const) {
          renumber(columns[name], toMember, toMember + members, numbers)
        }
      }
      renumberExtra(memberExtra, numbers)
    }
    const { hostnameNames } = this.#old
    const hostnameRow = copyHostnames(this.#old.hostnameRow, this.#copied)
    return { ...columns, memberExtra, hostnameRow, hostnameNames }
  }
}

function renumber(column: Uint32Array, start: number, end: number, numbers: Uint32Array): void {
  for (let i = start; i < end; i++) column[i] = numbers[column[i]!]!
}

function memberStart({ poolMemberStart, memberPool }: PoolColumns, pool: number): number {
  return poolMemberStart[pool] ?? memberPool.length
}

// Member fields that are rarely set, in a sparse table: warm-up gate, RUM address, signal mode.
import { textOf } from './bundle.ts'
import type { BundleColumns } from './bundle.ts'
import { MemberExtraCell } from './cells.ts'
import { bundleLimits } from './limits.ts'
import type { ExternalSignalMode, MemberModel } from './model.ts'
import type { StringTable } from './string-table.ts'

/** By `Mode` of a row. Never reordered. */
const modes = ['and', 'or', 'override'] as const satisfies readonly ExternalSignalMode[]

type MemberExtra = Pick<MemberModel, 'warmupThreshold' | 'rumUrl' | 'externalSignalMode'>

const plainExtra: MemberExtra = Object.freeze({
  warmupThreshold: 0,
  rumUrl: '',
  externalSignalMode: 'and',
})

/** Does the member have a row? */
export function hasExtra({ warmupThreshold, rumUrl, externalSignalMode }: MemberExtra): boolean {
  return warmupThreshold !== 0 || rumUrl !== '' || externalSignalMode !== modes[0]
}

/** Collects the rows while members get their indices. */
export class MemberExtraRows {
  readonly #cells: number[] = []
  readonly #strings: StringTable

  constructor(strings: StringTable) {
    this.#strings = strings
  }

  /** Call it in the order of the indices. */
  add(member: number, extra: MemberExtra): void {
    if (!hasExtra(extra)) return
    const mode = modes.indexOf(extra.externalSignalMode)
    this.#cells.push(member, extra.warmupThreshold, this.#strings.add(extra.rumUrl), mode)
  }

  column(): Uint32Array {
    return Uint32Array.from(this.#cells)
  }
}

/** @returns a fault as half a sentence */
export function checkMemberExtra(c: BundleColumns): string | undefined {
  const column = c.memberExtra
  const { Words, Member, WarmupThreshold, RumUrl, Mode } = MemberExtraCell
  const texts = c.stringOffset.length - 1
  for (let at = 0; at < column.length; at += Words) {
    const member = column[at + Member]!
    if (member >= c.memberPool.length) return `extra row ${at / Words} has no member`
    if (at > 0 && member <= column[at - Words + Member]!) return 'extra rows are not in order'
    const threshold = column[at + WarmupThreshold]!
    if (threshold > bundleLimits.warmupThresholdMax) return `member ${member} warms up too long`
    if (column[at + RumUrl]! >= texts) return `member ${member} has an address outside the texts`
    if (column[at + Mode]! >= modes.length) return `member ${member} has an unknown signal mode`
    const isPlain = threshold + column[at + RumUrl]! + column[at + Mode]! === 0
    if (isPlain) return `member ${member} has an extra row that says nothing`
  }
  return undefined
}

export function memberExtraOf(bundle: BundleColumns, member: number): MemberExtra {
  const at = extraRow(bundle.memberExtra, member)
  return at < 0 ? plainExtra : extraAt(bundle, at)
}

/** Every member that has a row, in order. */
export function* membersWithExtra(bundle: BundleColumns): Generator<[number, MemberExtra]> {
  const column = bundle.memberExtra
  for (let at = 0; at < column.length; at += MemberExtraCell.Words) {
    yield [column[at + MemberExtraCell.Member]!, extraAt(bundle, at)]
  }
}

/** Members from `first` up to `end` that have a RUM address, in order. */
export function membersWithRumUrl(
  { memberExtra }: BundleColumns,
  first: number,
  end: number,
): number[] {
  const { Words, Member, RumUrl } = MemberExtraCell
  const members: number[] = []
  for (let at = firstRow(memberExtra, first); at < memberExtra.length; at += Words) {
    const member = memberExtra[at + Member]!
    if (member >= end) break
    // Text 0 is the empty one.
    if (memberExtra[at + RumUrl] !== 0) members.push(member)
  }
  return members
}

function extraAt(bundle: BundleColumns, at: number): MemberExtra {
  const column = bundle.memberExtra
  return {
    warmupThreshold: column[at + MemberExtraCell.WarmupThreshold]!,
    rumUrl: textOf(bundle, column[at + MemberExtraCell.RumUrl]!),
    externalSignalMode: modes[column[at + MemberExtraCell.Mode]!]!,
  }
}

/** Offset of a member's row, or -1. */
function extraRow(column: Uint32Array, member: number): number {
  const at = firstRow(column, member)
  return column[at + MemberExtraCell.Member] === member ? at : -1
}

/** Offset of the first row of this or a later member; the length when there is none. */
function firstRow(column: Uint32Array, member: number): number {
  let low = 0
  let high = column.length / MemberExtraCell.Words
  while (low < high) {
    const middle = (low + high) >>> 1
    if (column[middle * MemberExtraCell.Words + MemberExtraCell.Member]! < member) low = middle + 1
    else high = middle
  }
  return low * MemberExtraCell.Words
}

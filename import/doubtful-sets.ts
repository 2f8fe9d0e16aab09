// Finds the record sets of an import that the compiler could refuse, with the sets that it reads to
// decide: a million others need no check.
import { aliasCode, isAddressName } from '#compiler/values/record-sets.ts'
import { foldName, foldTable, formatName, isAtOrBelow } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { cutsIn } from './record-sets.ts'
import type { RecordSet, RecordSets } from './set-list.ts'

/** Types whose parsed values are valid; only their size can be wrong. */
const plainTypes: readonly number[] = [RrType.A, RrType.AAAA, RrType.PTR, RrType.TXT]

/** Far below every limit of one record set: octets, values, and length of a value. */
const smallBytes = 4_096

/** A bundle may have no room for more, which the count alone shows. */
const countMax = 2_000_000

/** Octets of rdata before the target name. */
const targetAt: Readonly<Record<number, number>> = Object.freeze({
  [RrType.CNAME]: 0,
  [RrType.DNAME]: 0,
  [aliasCode]: 0,
  [RrType.NS]: 0,
  [RrType.MX]: 2,
  [RrType.SRV]: 6,
})

/**
 * @param servers of the zone itself, in wire form
 * @returns by position: 1 for a doubtful set, and for all sets of its owner
 */
export function doubtfulSets(
  sets: RecordSets,
  origin: Uint8Array,
  servers: readonly Uint8Array[],
): Uint8Array {
  const search = new DoubtSearch(sets, origin)
  for (const server of servers) search.takeAt(server)
  search.run()
  const isAll = sets.length > countMax || search.isUnsure
  return isAll ? search.taken.fill(1) : search.taken
}

class DoubtSearch {
  readonly taken: Uint8Array
  readonly #sets: RecordSets
  readonly #origin: Uint8Array
  readonly #zone: string
  /** Marked, but targets not followed yet. */
  readonly #open: number[] = []
  #hasDname = false
  #leadsNowhere = false

  constructor(sets: RecordSets, origin: Uint8Array) {
    this.taken = new Uint8Array(sets.length)
    this.#sets = sets
    this.#origin = origin
    this.#zone = formatName(origin)
  }

  /** The answer for a name without records depends on all names that have records. */
  get isUnsure(): boolean {
    return this.#hasDname || (this.#leadsNowhere && hasWildcard(this.#sets))
  }

  run(): void {
    const sets = this.#sets
    for (const { from, to } of cutsIn(sets, this.#origin)) {
      for (let i = from; i < to; i++) this.#take(i)
    }
    for (let i = 0; i < sets.length; i++) {
      const set = sets.at(i)
      if (this.#isPlain(set)) continue
      this.#hasDname ||= set.type === RrType.DNAME
      this.takeAt(set.owner)
    }
    for (let i = this.#open.pop(); i !== undefined; i = this.#open.pop()) this.#follow(sets.at(i))
  }

  /** @returns false: no records there, or a name of another zone */
  takeAt(owner: Uint8Array): boolean {
    const found = this.#setsAt(owner)
    for (const i of found) this.#take(i)
    return found.length > 0
  }

  #take(index: number): void {
    if (this.taken[index] === 1) return
    this.taken[index] = 1
    this.#open.push(index)
  }

  #follow(set: RecordSet): void {
    for (const target of targetsOf(set)) {
      if (isAtOrBelow(target, this.#origin) && !this.takeAt(target)) this.#leadsNowhere = true
    }
  }

  #setsAt(owner: Uint8Array): readonly number[] {
    return isAtOrBelow(owner, this.#origin) ? this.#sets.ofOwner(owner) : []
  }

  #isPlain(set: RecordSet): boolean {
    const { type } = set
    if (set.rdataBytes > smallBytes) return false
    if (plainTypes.includes(type)) return true
    if (type === RrType.CNAME) return targetsOf(set).every((one) => this.#endsAt(one))
    return hostTypes.includes(type) && targetsOf(set).every((one) => this.#isHost(one))
  }

  /** Whether the target has no other alias. */
  #endsAt(target: Uint8Array): boolean {
    if (!isAtOrBelow(target, this.#origin)) return true
    const types = this.#sets.ofOwner(target).map((i) => this.#sets.at(i).type)
    return types.length > 0 && !types.includes(RrType.CNAME)
  }

  #isHost(target: Uint8Array): boolean {
    if (mayBeAddress(target) && isAddressName(formatName(foldName(target)), this.#zone))
      return false
    if (!isAtOrBelow(target, this.#origin)) return true
    const types = this.#sets.ofOwner(target).map((i) => this.#sets.at(i).type)
    return types.includes(RrType.A) || types.includes(RrType.AAAA)
  }
}

/** An address begins with a hex digit or a colon. */
function mayBeAddress(wire: Uint8Array): boolean {
  const octet = foldTable[wire[1]!]!
  return (octet >= 0x30 && octet <= 0x3a) || (octet >= 0x61 && octet <= 0x66)
}

const hostTypes: readonly number[] = [RrType.MX, RrType.SRV]

/** Wire form, in any letter case. */
function targetsOf(set: RecordSet): Uint8Array[] {
  const at = targetAt[set.type]
  return at === undefined ? [] : set.rdata.map((one) => one.subarray(at))
}

function hasWildcard(sets: RecordSets): boolean {
  for (const { owner } of sets) if (owner[0] === 1 && owner[1] === asterisk) return true
  return false
}

const asterisk = 0x2a

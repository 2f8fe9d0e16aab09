// Describes what clients get: the members that may be first in an answer, each with its
// probability.
import { textOf } from '#bundle/format/bundle.ts'
import { addressOfMember } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { seesTenant } from './viewer.ts'
import type { Viewer } from './viewer.ts'

/** A place where clients may be sent. */
export interface Destination {
  /**
   * Address or host name of a member; for other answers the records, or a word such as `NXDOMAIN`.
   */
  readonly member: string
  /** Name of the pool; '': the member is in no pool. */
  readonly pool: string
  readonly tenant: string
  readonly region: string
}

/** The answer to one client, or to all clients that are alike. */
export interface Outcome {
  /** Index in the list of all outcomes. */
  readonly number: number
  /** Probabilities by index of the destination. */
  readonly shares: readonly Share[]
}

export interface Share {
  readonly destination: number
  readonly probability: number
}

/** Stands for the member of an empty answer. */
export const noAddress = 'no address'

const nowhere: ReadonlySet<string> = new Set([noAddress, ...Object.values(rcodeNames)])

/** Whether an answer sends nobody anywhere; the text in place of a member says why. */
export const isNowhere = ({ member }: { readonly member: string }): boolean => nowhere.has(member)

const nobodys = { pool: '', tenant: '' }

/** The distinct outcomes of a plan. */
export class Outcomes {
  readonly destinations: Destination[] = []
  readonly all: Outcome[] = []
  readonly #byKey = new Map<string, Outcome>()
  readonly #byMember = new Map<string, number>()
  readonly #viewer: Viewer

  /** @param viewer a tenant, who sees only its own pools and regions */
  constructor(viewer: Viewer) {
    this.#viewer = viewer
  }

  /** @param key equal for outcomes that cannot be distinguished */
  of(key: string, shares: () => readonly Share[]): Outcome {
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const outcome = { number: this.all.length, shares: summed(shares()) }
    this.all.push(outcome)
    this.#byKey.set(key, outcome)
    return outcome
  }

  /** The same address is the same destination, whatever its pool or name. */
  destinationOf(bundle: Bundle, member: number): number {
    const pool = bundle.memberPool[member]!
    const tenant = textOf(bundle, bundle.poolTenant[pool]!)
    const address = addressOfMember(bundle, member)
    const isSeen = seesTenant(this.#viewer, tenant)
    return this.destination({
      member: address,
      ...(isSeen ? { pool: textOf(bundle, bundle.poolName[pool]!), tenant } : nobodys),
      region: isSeen ? textOf(bundle, bundle.memberRegion[member]!) : '',
    })
  }

  destination(one: Destination): number {
    const known = this.#byMember.get(one.member)
    if (known !== undefined) return known
    this.#byMember.set(one.member, this.destinations.length)
    return this.destinations.push(one) - 1
  }
}

/** Sums shares, since two members of a pool may have the same address. */
function summed(shares: readonly Share[]): readonly Share[] {
  const sums = new Map<number, number>()
  for (const { destination, probability } of shares) {
    sums.set(destination, (sums.get(destination) ?? 0) + probability)
  }
  return Array.from(sums, ([destination, probability]) => ({ destination, probability }))
}

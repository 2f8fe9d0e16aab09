// What clients get: the members that may stand first in an answer, each with its probability.
import { textOf } from '#bundle/format/bundle.ts'
import { addressOfMember } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { seesTenant } from './viewer.ts'
import type { Viewer } from './viewer.ts'

/** Where a client may be sent. */
export interface Destination {
  /** Address or host name of a member; of other answers the records, or such as `NXDOMAIN`. */
  readonly member: string
  /** '': not of a pool. */
  readonly pool: string
  readonly tenant: string
  readonly region: string
}

/** For one client, or for all that are alike. */
export interface Outcome {
  /** Position in the list of all. */
  readonly number: number
  /** By position in the list of destinations. */
  readonly shares: readonly Share[]
}

export interface Share {
  readonly destination: number
  readonly probability: number
}

/** The member of an answer without one. */
export const noAddress = 'no address'

const nowhere: ReadonlySet<string> = new Set([noAddress, ...Object.values(rcodeNames)])

/** Whether an answer sends nobody anywhere: what stands for its member says why. */
export const isNowhere = ({ member }: { readonly member: string }): boolean => nowhere.has(member)

const nobodys = { pool: '', tenant: '' }

/** The outcomes of a plan: equal ones are one. */
export class Outcomes {
  readonly destinations: Destination[] = []
  readonly all: Outcome[] = []
  readonly #byKey = new Map<string, Outcome>()
  readonly #byMember = new Map<string, number>()
  readonly #viewer: Viewer

  /** @param viewer who is told of pools and regions of its own alone */
  constructor(viewer: Viewer) {
    this.#viewer = viewer
  }

  /** @param key equal for what nobody can tell apart */
  of(key: string, shares: () => readonly Share[]): Outcome {
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const outcome = { number: this.all.length, shares: summed(shares()) }
    this.all.push(outcome)
    this.#byKey.set(key, outcome)
    return outcome
  }

  /** The same address is the same destination, whatever pool or name it has. */
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

/** Two members of a pool may have one address. */
function summed(shares: readonly Share[]): readonly Share[] {
  const sums = new Map<number, number>()
  for (const { destination, probability } of shares) {
    sums.set(destination, (sums.get(destination) ?? 0) + probability)
  }
  return Array.from(sums, ([destination, probability]) => ({ destination, probability }))
}

// Lists the types of a name for an NSEC record: each type that some client may get.
import { nodeFlags, rrsetCount, serviceOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import * as routing from '#bundle/format/routing-cells.ts'
import * as rrsets from '#bundle/format/rrsets.ts'
import { nsecBytesMax } from '#dns/dnssec/denial.ts'
import * as rrtypes from '#dns/rrtype.ts'

// Constants of this file, for the reason that answer.ts gives.
const { NodeCell, NodeFlag } = cells
const { firstPolicyCode, PolicyCell } = routing
const { RrsetCell } = rrsets
const { RrType } = rrtypes

const typesMax = bundleLimits.rrsetsPerNodeMax + 12

export class NameTypes {
  /**
   * Ascending. Beside those of rrsets: A, AAAA, RRSIG, NSEC, CDS, CDNSKEY, NXNAME, and those that
   * are written at run time: TXT, CNAME, PTR, SRV, DHCID.
   */
  readonly types = new Uint16Array(typesMax)
  count = 0
  /** Where the record is put together. */
  readonly rdata = new Uint8Array(nsecBytesMax(typesMax))
  #without = 0

  /** @param without is not listed: it is denied */
  begin(without: number): void {
    this.count = 0
    this.#without = without
    this.add(RrType.RRSIG)
    this.add(RrType.NSEC)
  }

  add(type: number): void {
    if (type === this.#without) return
    const { types } = this
    let at = this.count
    while (at > 0 && types[at - 1]! > type) at--
    if (at > 0 && types[at - 1] === type) return
    for (let i = this.count; i > at; i--) types[i] = types[i - 1]!
    types[at] = type
    this.count++
  }

  /** @param isParent the name as the zone above its apex has it */
  addNode(bundle: Bundle, node: number, isParent: boolean): void {
    const flags = nodeFlags(bundle, node)
    // An alias stands for every type; what is denied now is the alias, too.
    if ((flags & NodeFlag.Alias) !== 0) return
    const isCut = isParent || (flags & NodeFlag.Cut) !== 0
    const isApex = (flags & NodeFlag.Apex) !== 0
    const first = bundle.nodeRow[node * NodeCell.Words + NodeCell.FirstRrset]!
    const end = first + rrsetCount(bundle, node)
    for (let rrset = first; rrset < end; rrset++) {
      const type = bundle.rrsetRow[rrset * RrsetCell.Words + RrsetCell.Type]!
      if (isCut ? type === RrType.NS || type === RrType.DS : !isApex || type !== RrType.DS) {
        this.add(type)
      }
    }
    if (isCut) return
    if (serviceOfNode(bundle, node) >= 0) this.#addService(bundle, node * NodeCell.Words)
  }

  /** The families of its pool, and of the one on which its policy falls back. */
  #addService(bundle: Bundle, row: number): void {
    const { nodeRow, policyRow } = bundle
    this.#addPool(bundle, nodeRow[row + NodeCell.Pool]! - 1)
    const policy = nodeRow[row + NodeCell.Algorithm]! - firstPolicyCode
    if (policy < 0) return
    this.#addPool(bundle, policyRow[policy * PolicyCell.Words + PolicyCell.FallbackPool]! - 1)
  }

  #addPool({ poolCount4, poolCount6 }: Bundle, pool: number): void {
    if (pool < 0) return
    if (poolCount4[pool]! > 0) this.add(RrType.A)
    if (poolCount6[pool]! > 0) this.add(RrType.AAAA)
  }
}

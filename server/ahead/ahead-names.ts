// Writes all answers under the names of a bundle, rrset by rrset, as the answer path does, so that
// signatures are kept under the same digests.
import { findRrset, nodeFlags, rrsetCount, wireNameOf } from '#bundle/format/bundle.ts'
import { serviceOfNode, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag, NodeCell, NodeFlag } from '#bundle/format/cells.ts'
import { firstPolicyCode, PolicyCell } from '#bundle/format/routing-cells.ts'
import { RrsetCell } from '#bundle/format/rrsets.ts'
import { RrType } from '#dns/rrtype.ts'
import { Family } from '#routing/state/query.ts'
import { answerKeys, isKeyType, proveTypes } from '#answer/denial.ts'
import { partOfMember, qnameOffset, writeMember } from '#answer/records.ts'
import { apexOffset, countAnswer, writeRrset } from '#answer/rrsets.ts'
import { qnameEnd } from '#answer/transaction.ts'
import type { Transaction } from '#answer/transaction.ts'

const keyTypes = [RrType.DNSKEY, RrType.CDS, RrType.CDNSKEY]
const asterisk = 0x2a
const phases = 2
/** Type and class of a question. */
const questionBytes = 4

export class AheadNames {
  readonly #tx: Transaction
  readonly #bundle: Bundle
  /** The current phase, records (0) or denials (1), and the node in it. */
  phase = 0
  node = 0

  /** @param tx answers from the bundle, into memory for the largest message */
  constructor(tx: Transaction, bundle: Bundle) {
    this.#tx = tx
    this.#bundle = bundle
  }

  /**
   * Signs one rrset in each step: records, and each member of a service alone; then denials.
   *
   * @param from the phase and node to begin with
   */
  *sign(from: Pick<AheadNames, 'phase' | 'node'>): Generator<void> {
    const { nodes } = this.#bundle.counts
    this.node = from.node
    for (this.phase = from.phase; this.phase < phases; this.phase++) {
      for (; this.node < nodes; this.node++) {
        if (!this.#isSigned(this.node)) continue
        yield* this.phase === 0 ? this.#signRecords(this.node) : this.#signDenial(this.node)
      }
      this.node = 0
    }
  }

  /** Whether answers have the name of the node. Answers from a wildcard have other names. */
  #isSigned(node: number): boolean {
    const flags = this.#flags(node)
    if ((flags & NodeFlag.Below) !== 0 && (flags & NodeFlag.Apex) === 0) return false
    const { names, nodeRow } = this.#bundle
    const name = nodeRow[node * NodeCell.Words + NodeCell.NameOffset]!
    if (names[name] === 1 && names[name + 1] === asterisk) return false
    const { signer } = this.#tx
    const zone = zoneOfNode(this.#bundle, node)
    return signer.signs(zone) && signer.keyRdata(zone, RrType.DNSKEY) !== undefined
  }

  #flags(node: number): number {
    return nodeFlags(this.#bundle, node)
  }

  *#signRecords(node: number): Generator<void> {
    const [tx, bundle] = [this.#tx, this.#bundle]
    const flags = this.#flags(node)
    const zone = zoneOfNode(bundle, node)
    const first = bundle.nodeRow[node * NodeCell.Words + NodeCell.FirstRrset]!
    const end = first + rrsetCount(bundle, node)
    for (let rrset = first; rrset < end; rrset++) {
      if (!isSignedType(bundle.rrsetRow[rrset * RrsetCell.Words + RrsetCell.Type]!, flags)) continue
      this.#begin(node)
      const start = tx.at
      const written = writeRrset(tx, bundle, rrset, tx.owner, apexOffset(tx, bundle, zone))
      countAnswer(tx, zone, start, written, node, rrset)
      yield
    }
    if ((flags & NodeFlag.Signed) !== 0) yield* this.#signKeys(node, zone)
    if ((flags & NodeFlag.Cut) === 0) yield* this.#signMembers(node)
  }

  *#signKeys(node: number, zone: number): Generator<void> {
    for (const type of keyTypes) {
      this.#begin(node)
      this.#tx.qtype = type
      answerKeys(this.#tx, this.#bundle, zone)
      yield
    }
  }

  *#signMembers(node: number): Generator<void> {
    const { nodeRow, policyRow } = this.#bundle
    const row = node * NodeCell.Words
    if (serviceOfNode(this.#bundle, node) < 0) return
    const policy = nodeRow[row + NodeCell.Algorithm]! - firstPolicyCode
    const cells = policy * PolicyCell.Words
    // Several members are drawn, which makes too many different sets.
    if (policy >= 0 && policyRow[cells + PolicyCell.AnswerCount]! > 1) return
    yield* this.#signPool(node, nodeRow[row + NodeCell.Pool]! - 1)
    if (policy >= 0) yield* this.#signPool(node, policyRow[cells + PolicyCell.FallbackPool]! - 1)
  }

  /** Signs each member of a pool, whether it is up or down now. */
  *#signPool(node: number, pool: number): Generator<void> {
    if (pool < 0) return
    const [tx, bundle] = [this.#tx, this.#bundle]
    const { memberFlags, nodeRow, poolCount4, poolCount6, poolMemberStart } = bundle
    const zone = zoneOfNode(bundle, node)
    const ttlSeconds = nodeRow[node * NodeCell.Words + NodeCell.TtlSeconds]!
    const first6 = poolMemberStart[pool]! + poolCount4[pool]!
    const end = first6 + poolCount6[pool]!
    for (let member = poolMemberStart[pool]!; member < end; member++) {
      const flags = memberFlags[member]!
      // The address of a host name may change.
      if ((flags & MemberFlag.Enabled) === 0 || (flags & MemberFlag.Resolved) !== 0) continue
      this.#begin(node)
      const start = tx.at
      const family = member < first6 ? Family.V4 : Family.V6
      const written = writeMember(tx, bundle, member, family, ttlSeconds) ? 1 : -1
      countAnswer(tx, zone, start, written, node, partOfMember(bundle, member))
      yield
    }
  }

  /** Signs that a name has no other types, which is one record for all of them. */
  *#signDenial(node: number): Generator<void> {
    const flags = this.#flags(node)
    // An alias stands for every type. At a cut all that is denied is DS.
    if ((flags & (NodeFlag.HasCname | NodeFlag.Alias)) !== 0) return
    if ((flags & NodeFlag.Cut) !== 0 && findRrset(this.#bundle, node, RrType.DS) >= 0) return
    this.#begin(node)
    proveTypes(this.#tx, this.#bundle, zoneOfNode(this.#bundle, node), node)
    yield
  }

  /** Begins the reply to a question for a name, by a client that wants signatures. */
  #begin(node: number): void {
    const tx = this.#tx
    const name = wireNameOf(this.#bundle, node)
    tx.reset()
    tx.isDo = true
    tx.qnameBytes = name.length
    tx.qnameStart = qnameEnd - name.length
    tx.qname.fill(0)
    tx.qname.set(name, tx.qnameStart)
    tx.reply.set(name, qnameOffset)
    tx.at = qnameOffset + name.length + questionBytes
    tx.recordsEnd = tx.reply.length
  }
}

/** Whether an rrset is signed as it stands in the bundle, and is the same after a commit. */
function isSignedType(type: number, flags: number): boolean {
  if (isKeyType(type) || type === RrType.SOA) return false
  // DS of an apex is the zone's above.
  if (type === RrType.DS) return (flags & NodeFlag.Apex) === 0
  return (flags & NodeFlag.Cut) === 0
}

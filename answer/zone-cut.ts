// Finds the zone of a name and the cut or DNAME record above it; writes referrals.
import { findRrset, nodeFlags, nodeNameBytes, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import * as rrtypes from '#dns/rrtype.ts'
import { findClosestEncloser, findSuffix } from './lookup.ts'
import { hashSuffixes } from './question.ts'
import { apexOffset, serialBaseOf, signed, suffixOffset, writeNsecRecord } from './rrsets.ts'
import { writeRrset, writeTargets } from './rrsets.ts'
import * as transaction from './transaction.ts'
import type { Transaction } from './transaction.ts'

// Local constants are faster than imports: see answer.ts.
const { NodeFlag } = cells
const { RrType } = rrtypes
const { qnameEnd } = transaction

/**
 * RFC 1034 section 4.3.2, step 3b: finds the first name, on the way down from the apex, with a cut
 * or a DNAME record. The suffixes of qname have been hashed.
 *
 * @param node the one named qname (`label` is 0), or its closest encloser, which begins at `label`
 * @returns the label at which that name begins, or -1
 */
export function findRedirect(tx: Transaction, bundle: Bundle, node: number, label: number): number {
  const isExact = label === 0
  const flags = nodeFlags(bundle, node)
  // RFC 4035 section 3.1.4.1: DS belongs to the zone above the cut.
  const isDs = isExact && tx.qtype === RrType.DS
  if ((flags & NodeFlag.Apex) !== 0 && !isDs) {
    return !isExact && (flags & NodeFlag.Dname) !== 0 ? label : -1
  }
  let found = -1
  if ((flags & NodeFlag.Cut) !== 0 && !isDs) found = label
  if ((flags & NodeFlag.Dname) !== 0 && !isExact) found = label
  if ((flags & NodeFlag.Below) === 0) return found
  for (let above = label + 1; above <= tx.labelCount; above++) {
    const enclosing = findSuffix(tx, bundle, above)
    if (enclosing < 0) break
    const its = nodeFlags(bundle, enclosing)
    if ((its & (NodeFlag.Cut | NodeFlag.Dname)) !== 0) found = above
    if ((its & NodeFlag.Apex) !== 0) break
  }
  return found
}

/**
 * Writes the NS records of a cut into the authority section, and the glue. DS records are for
 * validators and prove nothing without the signature of a signed zone (RFC 4035 section 3.1.4), so
 * an unsigned zone does not give them.
 */
export function writeReferral(tx: Transaction, bundle: Bundle, cut: number): void {
  const rrset = findRrset(bundle, cut, RrType.NS)
  const owner = suffixOffset(tx, nodeNameBytes(bundle, cut))
  const zone = zoneOfNode(bundle, cut)
  const written = writeRrset(tx, bundle, rrset, owner, apexOffset(tx, bundle, zone))
  const isProved = written >= 0 && tx.isDo && tx.signer.signs(zone)
  const proof = isProved ? proveCut(tx, bundle, zone, cut, owner) : 0
  if (written < 0 || proof < 0 || !writeTargets(tx, bundle, true)) {
    tx.isTruncated = true
    return
  }
  tx.authorityCount += written + proof
  writeTargets(tx, bundle, false)
}

/**
 * Writes the DS records of a cut, or the proof that there are none. RFC 4035 section 3.1.4.1, RFC
 * 9824 section 3.4.
 *
 * @returns the number of records; -1: they do not fit
 */
function proveCut(
  tx: Transaction,
  bundle: Bundle,
  zone: number,
  cut: number,
  owner: number,
): number {
  const rrset = findRrset(bundle, cut, RrType.DS)
  if (rrset >= 0) {
    const start = tx.at
    const written = writeRrset(tx, bundle, rrset, owner, 0)
    return signed(tx, zone, start, written, cut, rrset)
  }
  tx.nameTypes.begin(RrType.DS)
  tx.nameTypes.addNode(bundle, cut, false)
  return writeNsecRecord(tx, bundle, zone, owner, qnameEnd - nodeNameBytes(bundle, cut))
}

/** Notes the zone of the question, before an alias leads elsewhere. RFC 9660 section 3.2. */
export function noteZone(tx: Transaction, bundle: Bundle): void {
  hashSuffixes(tx, bundle.nameLabelsMax)
  let label = findClosestEncloser(tx, bundle, 0)
  // RFC 4035 section 3.1.4.1: DS of an apex is in the zone above, if that is ours.
  if (tx.qtype === RrType.DS && label === 0 && isApexWithParent(tx, bundle)) label = 1
  while (label >= 0 && label <= tx.labelCount) {
    const node = findSuffix(tx, bundle, label)
    if (node >= 0 && (nodeFlags(bundle, node) & NodeFlag.Apex) !== 0) {
      tx.zoneLabels = tx.labelCount - label
      tx.zoneSerialBase = serialBaseOf(bundle, node)
      return
    }
    label++
  }
}

function isApexWithParent(tx: Transaction, bundle: Bundle): boolean {
  const node = findSuffix(tx, bundle, 0)
  const isApex = (nodeFlags(bundle, node) & NodeFlag.Apex) !== 0
  return isApex && bundle.zoneParent[zoneOfNode(bundle, node)]! >= 0
}

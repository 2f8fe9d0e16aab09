// Answers CHAOS queries such as `version.bind`, when the operator has set the texts. RFC 4892.
import { Rcode } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import { writeChaosText } from './records.ts'
import type { Transaction } from './transaction.ts'

/** A name in wire form. */
function nameOf(labels: readonly string[]): Uint8Array {
  const parts = labels.map((label) =>
    Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]),
  )
  return Buffer.concat([...parts, Buffer.alloc(1)])
}

const versionNames: readonly Uint8Array[] = [
  nameOf(['version', 'bind']),
  nameOf(['version', 'server']),
]
const identityNames: readonly Uint8Array[] = [
  nameOf(['hostname', 'bind']),
  nameOf(['id', 'server']),
]

const commitNames: readonly Uint8Array[] = [nameOf(['commit', 'gslbd'])]

/** Answers `TXT` for the five names; REFUSED where the text is not set, and for everything else. */
export function answerChaos(tx: Transaction): void {
  const text = isOneOf(tx, versionNames)
    ? tx.versionBind
    : isOneOf(tx, identityNames)
      ? tx.nsid
      : tx.tellsCommit && tx.view !== undefined && isOneOf(tx, commitNames)
        ? tx.view.commit
        : noText
  const isAsked = tx.qtype === RrType.TXT || tx.qtype === RrType.ANY
  if (!isAsked || text.length === 0) {
    tx.rcode = Rcode.Refused
    return
  }
  tx.isAuthoritative = true
  if (writeChaosText(tx, text)) tx.answerCount = 1
  else tx.isTruncated = true
}

const noText = new Uint8Array(0)

function isOneOf(tx: Transaction, names: readonly Uint8Array[]): boolean {
  for (let n = 0; n < names.length; n++) {
    const name = names[n]!
    if (name.length !== tx.qnameBytes) continue
    let i = 0
    while (i < name.length && name[i] === tx.qname[tx.qnameStart + i]) i++
    if (i === name.length) return true
  }
  return false
}

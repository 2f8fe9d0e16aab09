// Asks the server's own answer path one question, and returns the answer and the service that gave
// it.
import { serviceOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { HeaderOffset, QClass } from '#dns/header.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import { answer } from '#answer/answer.ts'
import { findClosestEncloser, findSuffix, findWildcard } from '#answer/lookup.ts'
import { hashSuffixes } from '#answer/question.ts'
import { Transport } from '#answer/transaction.ts'
import { aliasService } from './alias-service.ts'
import { answeringNode } from './answering-node.ts'
import { recordTexts } from './answer-records.ts'
import type { Side } from './side.ts'

export interface SideAnswer {
  readonly rcode: string
  /** Records in zone-file format, without the SOA of a denial. */
  readonly records: readonly string[]
  /** NS records of a delegation, and addresses beside an answer. */
  readonly others: readonly string[]
  /** True when the name, or the target of its alias, lacks the type (RFC 2308). */
  readonly isDenied: boolean
  /** TTL of the first record; null: there is no record. */
  readonly ttlSeconds: number | null
  /** The service that was asked for addresses; -1: none was. */
  readonly service: number
}

const message = new Uint8Array(65_535)

/** @param qname wire form, lower case */
export function ask(side: Side, qname: Uint8Array, qtype: number): SideAnswer {
  const { bundle, tx } = side
  const queries = tx.view!.serviceQueries
  answerTo(side, qname, qtype)
  const alias = aliasService(bundle, qname, message, tx.answerCount)
  const service = alias?.service ?? serviceOfLast(side, qname)
  const before = service < 0 ? 0 : queries[service]!
  // The answer path decides which service was asked.
  answerTo(side, qname, qtype)
  const isOfType = alias !== undefined || qtype === RrType.A || qtype === RrType.AAAA
  const isAsked = service >= 0 && queries[service]! > before && isOfType
  const { answer: records, others } = recordTexts(
    message,
    tx.answerCount,
    tx.authorityCount + tx.additionalCount,
  )
  const isAlias = (one: { readonly type: number }): boolean =>
    one.type === RrType.CNAME || one.type === RrType.DNAME
  const isOwn = isAsked && service === serviceNamed(bundle, qname)
  // The chosen member, and what it leads to, may differ for each client.
  const leading = alias === undefined || alias.record < 0 ? records : records.slice(0, alias.record)
  const shown = !isAsked ? records : isOwn ? [] : leading.filter(isAlias)
  return {
    rcode: rcodeNames[tx.rcode] ?? String(tx.rcode),
    records: shown.map(({ text }) => text),
    others: others.filter(({ type }) => type !== RrType.SOA).map(({ text }) => text),
    isDenied: others.some(({ type }) => type === RrType.SOA),
    ttlSeconds: records[0]?.ttlSeconds ?? null,
    service: isAsked ? service : -1,
  }
}

function answerTo({ tx }: Side, qname: Uint8Array, qtype: number): void {
  message.fill(0, 0, HeaderOffset.End)
  message[HeaderOffset.QdCount + 1] = 1
  message.set(qname, HeaderOffset.End)
  const end = HeaderOffset.End + qname.length
  message.set([qtype >> 8, qtype & 0xff, 0, QClass.In], end)
  // TCP, so that no record is left out for lack of room.
  tx.transport = Transport.Tcp
  tx.source.fill(0)
  answer(tx, message, 0, end + 4, message, 0, message.length)
}

/** The service of the last name: the one of the question, or the one where its aliases lead. */
function serviceOfLast({ bundle, tx }: Side, qname: Uint8Array): number {
  if (tx.aliasCount === 0) return serviceNamed(bundle, qname)
  hashSuffixes(tx, bundle.nameLabelsMax)
  const node = findSuffix(tx, bundle, 0)
  if (node >= 0) return serviceOfNode(bundle, node)
  const label = findClosestEncloser(tx, bundle, 1)
  if (label < 0) return -1
  const wildcard = findWildcard(tx, bundle, findSuffix(tx, bundle, label), label)
  return wildcard < 0 ? -1 : serviceOfNode(bundle, wildcard)
}

function serviceNamed(bundle: Bundle, qname: Uint8Array): number {
  const node = answeringNode(bundle, qname)
  return node < 0 ? -1 : serviceOfNode(bundle, node)
}

// Asks the server's own answer path one question, and notes the answer and who gave it.
import { nodeFlags, serviceOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeFlag } from '#bundle/format/cells.ts'
import { labelOffsets } from '#dns/name.ts'
import { HeaderOffset, QClass } from '#dns/header.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import { answer } from '#runtime/answer/answer.ts'
import {
  findClosestEncloser,
  findStored,
  findSuffix,
  findWildcard,
} from '#runtime/answer/lookup.ts'
import { hashSuffixes } from '#runtime/answer/question.ts'
import { Transport } from '#runtime/answer/transaction.ts'
import { recordTexts } from './answer-records.ts'
import type { Side } from './side.ts'

export interface Told {
  readonly rcode: string
  /** As zone files write them, without the SOA that ends a denial. */
  readonly records: readonly string[]
  /** NS of a delegation, and addresses beside an answer. */
  readonly others: readonly string[]
  /** There is none of what was asked for (RFC 2308), also of what an alias leads to. */
  readonly isDenied: boolean
  /** TTL of the first record; null: there is none. */
  readonly ttlSeconds: number | null
  /** The service that was asked for addresses; -1: none. */
  readonly service: number
}

const message = new Uint8Array(65_535)

/** @param qname wire form, lower case */
export function ask(side: Side, qname: Uint8Array, qtype: number): Told {
  const { bundle, tx } = side
  const queries = tx.view!.serviceQueries
  answerTo(side, qname, qtype)
  const service = serviceOfLast(side, qname)
  const before = service < 0 ? 0 : queries[service]!
  // Whether it was asked is for the answer path to say.
  answerTo(side, qname, qtype)
  const isAsked = service >= 0 && queries[service]! > before && isOfService(side, qname, qtype)
  const { answer: records, others } = recordTexts(
    message,
    tx.answerCount,
    tx.authorityCount + tx.additionalCount,
  )
  const isAlias = (one: { readonly type: number }): boolean =>
    one.type === RrType.CNAME || one.type === RrType.DNAME
  const isOwn = isAsked && service === serviceNamed(bundle, qname)
  const shown = !isAsked ? records : isOwn ? [] : records.filter(isAlias)
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
  // Nothing is left out for want of room.
  tx.transport = Transport.Tcp
  tx.source.fill(0)
  answer(tx, message, 0, end + 4, message, 0, message.length)
}

/** A service that answers an alias stands for every type; others for addresses. */
function isOfService({ bundle }: Side, qname: Uint8Array, qtype: number): boolean {
  return qtype === RrType.A || qtype === RrType.AAAA || isAliasNamed(bundle, qname)
}

/** Of the name that was answered last: the question's, or where its aliases lead. */
function serviceOfLast({ bundle, tx }: Side, qname: Uint8Array): number {
  if (tx.aliasCount === 0 || isAliasNamed(bundle, qname)) return serviceNamed(bundle, qname)
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

function isAliasNamed(bundle: Bundle, qname: Uint8Array): boolean {
  const node = answeringNode(bundle, qname)
  return node >= 0 && (nodeFlags(bundle, node) & NodeFlag.Alias) !== 0
}

/** Who answers for a name: itself, or the wildcard of its closest encloser (RFC 4592); or -1. */
export function answeringNode(bundle: Bundle, qname: Uint8Array): number {
  const own = findStored(bundle, qname, 0)
  if (own >= 0) return own
  const encloser = labelOffsets(qname).find((at) => at > 0 && findStored(bundle, qname, at) >= 0)
  if (encloser === undefined) return -1
  return findStored(bundle, Uint8Array.of(1, asterisk, ...qname.subarray(encloser)), 0)
}

const asterisk = 0x2a

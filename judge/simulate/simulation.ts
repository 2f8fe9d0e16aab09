// Runs one question through the server's own answer path, and collects why the answer is what it
// is.
import { nameOfNode, nameOfZone, serviceOfNode, textOf, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { ResponseRuleModel } from '#bundle/format/model.ts'
import { responseRuleAt } from '#bundle/format/response-rules.ts'
import { EdnsOption } from '#dns/edns-codes.ts'
import { HeaderOffset, QClass } from '#dns/header.ts'
import { foldName, formatName } from '#dns/name.ts'
import { rcodeNames } from '#dns/rcode.ts'
import { rrsetsOfNode } from '#bundle/load/rrset-values.ts'
import { RrType } from '#dns/rrtype.ts'
import { Random } from '#lib/random.ts'
import { Chain } from '#routing/chain/chain.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { answer, zoneAnswering } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { findDynamic } from '#answer/dynamic.ts'
import { findClosestEncloser, findSuffix, findWildcard, findWrittenNode } from '#answer/lookup.ts'
import { hashSuffixes, readQuestion } from '#answer/question.ts'
import { signingZone } from '#answer/response-policy.ts'
import { createServingView } from '#answer/serving-view.ts'
import { noSignal } from '#answer/signing/signer.ts'
import { Transaction } from '#answer/transaction.ts'
import { aliasService } from '#judge/sides/alias-service.ts'
import { answerRecords, referralOf } from '#judge/sides/answer-records.ts'
import type { Referral } from '#judge/sides/answer-records.ts'
import { PlannedSigning } from './planned-signer.ts'
import type { SimulatedClient, SimulatedQuestion } from './question.ts'
import { explainService } from './service.ts'
import type { SimulatedService } from './service.ts'
import { signingOf } from './signing.ts'
import type { SimulatedSigning } from './signing.ts'

export interface Simulation {
  readonly rcode: string
  /** The matching response rule; each except `passthru` answers in place of what follows. */
  readonly rule: ResponseRuleModel | null
  /** null: the name is in no zone of this configuration. */
  readonly zone: string | null
  /** How the name was found in the zone. `wildcard`: `owner` is the wildcard. */
  readonly match: 'exact' | 'wildcard' | 'none'
  readonly owner: string | null
  /**
   * Owner of records written at run time that answer for the last name; null: there are none.
   */
  readonly texts: string | null
  /** The zone from elsewhere whose records are not here, so that the answer is SERVFAIL. */
  readonly absent: string | null
  readonly answerCount: number
  /** The answer section in zone-file format, a record a line. */
  readonly records: readonly string[]
  /** null: the answer is no referral. */
  readonly referral: Referral | null
  /** Tenant of the service at the name, even when a rule answers; null: there is no service. */
  readonly tenant: string | null
  readonly service: SimulatedService | null
  /** Scope in the client subnet of the reply; null: the question has no client subnet. */
  readonly ecsScope: number | null
  /** null: the zone is not signed. */
  readonly signing: SimulatedSigning | null
}

/** Room for the largest message and its OPT record. */
const messageBytesMax = 65_535
const payloadBytes = 1_232
/** The address 0.0.0.0. */
const nowhere = new Uint8Array(4)

/** Objects that simulations reuse, since making them costs more than a question. */
export class SimulationMemory {
  #calls = 0
  /** Jumps ahead at each call, so that no question runs out of time that earlier ones used up. */
  readonly #nowMs = (): number => (this.#calls += 1_000_000)
  readonly tx = new Transaction(
    { udpPayloadSize: payloadBytes, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 },
    0,
    new Counters(new SharedArrayBuffer(Counters.bytes)),
    this.#nowMs,
  )
  readonly signing = new PlannedSigning()
  /** A second chain, to explain the answer. */
  readonly again = new Chain(new Random(0), this.#nowMs)
  readonly message = new Uint8Array(messageBytesMax)
}

export function simulate(
  bundle: Bundle,
  state: RoutingState,
  question: SimulatedQuestion,
  memory = new SimulationMemory(),
): Simulation {
  const { tx, again, message } = memory
  prepare(memory, bundle, state, question)
  // A copy of the cursors, to explain the answer from the same state.
  const cursors = state.serviceCursor.slice()
  const query = queryOf(question)
  message.set(query)
  answer(tx, message, 0, query.length, message, 0, message.length)
  const { answerCount, ecsScope, aliasCount, isAbsent } = tx
  const isOfKeys = tx.isUnsignable && !isAbsent
  const signal = { isThere: tx.signal !== noSignal, isFromWildcard: tx.isFromWildcard }
  const rule = tx.rule < 0 ? null : responseRuleAt(bundle, tx.rule)
  // After aliases the transaction holds the last name, which is that of the service.
  const last = find(tx, bundle)
  const signsLast = signingZone(tx, bundle) >= 0
  readQuestion(tx, query, HeaderOffset.End, query.length)
  hashSuffixes(tx, bundle.nameLabelsMax)
  // A server has the keys, and so an answer.
  const rcode = isOfKeys ? 'NOERROR' : (rcodeNames[tx.rcode] ?? String(tx.rcode))
  const { zone: holder, match, node } = beside(signal, find(tx, bundle), tx)
  const zone = node >= 0 && match === 'exact' ? zoneAnswering(bundle, node, question.qtype) : holder
  // A rule denies the last name; it makes an alias of the first one.
  const isRuleSigned =
    rule?.signed === true && (rule.action === 'nxdomain' ? signsLast : signingZone(tx, bundle) >= 0)
  const aliasZone = aliasCount > 0 ? last.zone : -1
  const signs = { isOfKeys, isRuleSigned, aliasZone }
  // When a rule's alias was followed, its target is explained.
  const isAnswered = rule?.action === 'nxdomain' || (rule?.action === 'cname' && aliasCount === 0)
  const qname = Uint8Array.from(foldName(question.qname))
  // A service that answers with an alias is explained itself, whatever the alias leads to.
  const alias = aliasService(bundle, qname, message, answerCount)
  const ofLast = last.node < 0 ? -1 : serviceOfNode(bundle, last.node)
  const service = isAnswered ? -1 : (alias?.service ?? ofLast)
  const referral = referralOf(message, answerCount)
  const own = {
    rcode,
    rule,
    zone: zone < 0 ? null : nameOfZone(bundle, zone),
    match,
    owner: ownerOf(bundle, node, match, question),
    texts: last.texts,
    absent: isAbsent && last.zone >= 0 ? nameOfZone(bundle, last.zone) : null,
    answerCount,
    records: answerRecords(message, answerCount),
    referral,
    tenant: tenantOfNode(bundle, node),
    ecsScope: question.client === null ? null : ecsScope,
    signing: signingOf(bundle, zone, { rcode, rule, referral, answerCount, ...signs }),
  }
  if (service < 0) return { ...own, service: null }
  if (alias !== undefined && alias.record < 0 && Buffer.compare(alias.name, qname) !== 0) {
    // The answer ends here because of the client subnet: the resolver asks for the next name
    // itself.
    state.serviceCursor.set(cursors)
    const next = simulate(bundle, state, { ...question, qname: alias.name }, memory)
    return { ...own, service: next.service }
  }
  const record = alias?.record ?? -1
  const asked = { tx, again, service, question, message, cursors, record }
  return { ...own, service: explainService(asked) }
}

function prepare(
  { tx, signing }: SimulationMemory,
  bundle: Bundle,
  state: RoutingState,
  { seed, tables, scripts, texts = null, source = nowhere }: SimulatedQuestion,
): void {
  tx.random.restart(seed)
  tx.source = source
  tx.sourceBytes = source.length
  const { bytes, digest } = bundle
  const routing = state.buffers
  const generation = { number: 1, bundle: bytes, digest, dynamic: texts, routing, tables }
  tx.adopt(createServingView(generation, { scripts, signing }))
}

function queryOf({ qname, qtype, client }: SimulatedQuestion): Buffer {
  const header = Buffer.alloc(HeaderOffset.End)
  header.writeUInt16BE(1, HeaderOffset.QdCount)
  header.writeUInt16BE(client === null ? 0 : 1, HeaderOffset.ArCount)
  const fields = Buffer.alloc(4)
  fields.writeUInt16BE(qtype, 0)
  fields.writeUInt16BE(QClass.In, 2)
  return Buffer.concat([header, qname, fields, ...(client === null ? [] : [optWith(client)])])
}

/** An OPT record with the client subnet: RFC 6891 section 6.1.2, RFC 7871 section 6. */
function optWith({ octets, prefixBits }: SimulatedClient): Buffer {
  const address = octets.subarray(0, Math.ceil(prefixBits / 8))
  const opt = Buffer.alloc(19)
  opt.writeUInt16BE(RrType.OPT, 1)
  opt.writeUInt16BE(payloadBytes, 3)
  opt.writeUInt16BE(8 + address.length, 9)
  opt.writeUInt16BE(EdnsOption.ClientSubnet, 11)
  opt.writeUInt16BE(4 + address.length, 13)
  opt.writeUInt16BE(octets.length === 4 ? 1 : 2, 15)
  opt[17] = prefixBits
  return Buffer.concat([opt, address])
}

function tenantOfNode(bundle: Bundle, node: number): string | null {
  const service = node < 0 ? -1 : serviceOfNode(bundle, node)
  return service < 0 ? null : textOf(bundle, bundle.serviceTenant[service]!)
}

interface Found {
  readonly zone: number
  readonly match: Simulation['match']
  readonly node: number
  readonly texts: string | null
}

/** No wildcard stands for names below `_signal`, which are in no bundle. RFC 9615. */
function beside(
  signal: { readonly isThere: boolean; readonly isFromWildcard: boolean },
  found: Found,
  { signer, aliasCount, rule }: Transaction,
): Found {
  if (signal.isThere && aliasCount === 0) return { ...found, match: 'exact', node: -1 }
  const isKept = signal.isFromWildcard || aliasCount > 0 || rule >= 0
  if (found.match !== 'wildcard' || !signer.hasSignals || isKept) return found
  return { ...found, match: 'none', node: -1 }
}

function ownerOf(
  bundle: Bundle,
  node: number,
  match: Simulation['match'],
  { qname }: SimulatedQuestion,
): string | null {
  if (node >= 0) return nameOfNode(bundle, node)
  return match === 'exact' ? formatName(foldName(qname)) : null
}

/** Looks up the name whose hashes the transaction still holds. */
function find(tx: Transaction, bundle: Bundle): Found {
  const zoneOf = (node: number): number => zoneOfNode(bundle, node)
  const { dynamic } = tx.view!
  const textsAt = (node: number): string | null => {
    const same = dynamic === undefined ? -1 : findWrittenNode(dynamic, bundle, node)
    const rrsets = dynamic === undefined || same < 0 ? [] : rrsetsOfNode(dynamic, same)
    // At an apex the second bundle has a SOA record that says nothing.
    return rrsets.some(({ type }) => type !== RrType.SOA) ? nameOfNode(bundle, node) : null
  }
  const node = findSuffix(tx, bundle, 0)
  if (node >= 0) return { zone: zoneOf(node), match: 'exact', node, texts: textsAt(node) }
  const label = findClosestEncloser(tx, bundle, 1)
  if (label < 0) return { zone: -1, match: 'none', node: -1, texts: null }
  const encloser = findSuffix(tx, bundle, label)
  const wildcard = findWildcard(tx, bundle, encloser, label)
  const none = { zone: zoneOf(encloser), match: 'none' as const, node: -1 }
  const isNearer = findTexts(tx, bundle, dynamic) < label
  if (wildcard >= 0 && !isNearer) {
    const found = { zone: zoneOf(wildcard), match: 'wildcard' as const, node: wildcard }
    return { ...found, texts: textsAt(wildcard) }
  }
  const isText = dynamic !== undefined && tx.dynamicNode >= 0 && tx.dynamicLabel <= label
  return { ...none, texts: isText ? nameOfNode(dynamic, tx.dynamicNode) : null }
}

/**
 * @returns where the owner of records written at run time begins in the name, or their closest
 * encloser
 */
function findTexts(tx: Transaction, bundle: Bundle, dynamic: Bundle | undefined): number {
  findDynamic(tx, dynamic)
  // `findDynamic` hashes the name with the seed of the TXT records: it is hashed for `bundle`
  // again.
  if (dynamic !== undefined) hashSuffixes(tx, bundle.nameLabelsMax)
  return tx.dynamicLabel
}

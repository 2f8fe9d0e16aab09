// Response rate limiting, the side of an answering thread: decides of each answer over UDP whether
// it goes out.
import { Random } from '#lib/random.ts'
import * as header from '#dns/header.ts'
import { mixWord } from '#dns/name.ts'
import * as rcodes from '#dns/rcode.ts'
import { Client } from '#routing/chain/client.ts'
import * as buckets from './bucket-table.ts'
import type { BucketTable } from './bucket-table.ts'
import { ExemptNetworks } from './exempt-networks.ts'
import { areSameNetworks, exemptRanges } from './exempt-ranges.ts'
import * as limits from './limits.ts'
import type { AnswerClass } from './limits.ts'
import * as memory from './rate-memory.ts'
import type { RateMemory } from './rate-memory.ts'
import { slip } from './slip.ts'

// Constants of this file, for the reason that answer.ts gives.
const { Taken } = buckets
const { AnswerClass: Class, Verdict } = limits
const { RateCell, ReportCell } = memory
const { Rcode } = rcodes
const { Flag1, HeaderOffset } = header
/** Tells keys of classes apart. */
const classStride = 0x61c88647
const action = { drop: 0, slip: 1, would: 2 } as const

/** Cell of what an answer costs of all that a network gets. */
const allCost = RateCell.Class + Class.All * RateCell.ClassWords + RateCell.CostMicros
/** Stands for any answer. */
const allWord = Math.imul(Class.All, classStride)

/** What the limiter sees of an answer that is written: its transaction. */
interface LimitedAnswer {
  readonly source: Uint8Array
  readonly sourceAt: number
  readonly sourceBytes: number
  readonly slot: number
  readonly replyStart: number
  readonly rcode: number
  readonly qtype: number
  /** Also where the rcode of the answer is NOERROR. RFC 9824. */
  readonly isUnknownName: boolean
  readonly isAuthoritative: boolean
  readonly isTruncated: boolean
  readonly answerCount: number
  readonly authorityCount: number
  /** Hash of the name that was answered for last. */
  readonly qnameHash: number
  readonly aliasCount: number
  /** Hashes of the names before it. */
  readonly leftHash: Int32Array
  /** Names without end have one answer; `group` stands for all of them. */
  readonly isGrouped: boolean
  readonly group: number
}

/** Where it is counted. */
interface LimitCounts {
  /**
   * @param kind an `AnswerClass`
   * @param action index of `limitActions`
   */
  rateLimited(kind: number, action: number): void
  /** The bucket was another key's a moment ago. */
  rateCrowded(): void
  /** A reply goes out, whole or cut. */
  reply(rcode: number, qtype: number, isTruncated: boolean): void
}

/** The replies of a batch: its packet source. */
export interface ReplyBatch {
  readonly buffer: Uint8Array
  readonly clients: Uint8Array
  readonly clientBytes: number
  /** @param length octets that go out from a slot; 0: none */
  setReply(slot: number, length: number): void
}

/** Replies that wait for the end of their batch, at most. No source has batches that long. */
export const heldMax = 256

/** Words of a reply that waits. */
const Held = {
  /** Hash of the client's network. */
  Network: 0,
  /** Hash of the answer, with its class. */
  Answer: 1,
  /** Chooses the line of the bucket. */
  Hash: 2,
  /** Its class, and above 8 bits the slot in the batch. */
  Place: 3,
  ClientAt: 4,
  ReplyAt: 5,
  /** Octets of header and question, and above 16 bits those before OPT; 0: it has none. */
  Parts: 6,
  /** The rcode, and above 16 bits the qtype. */
  Counted: 7,
  Words: 8,
} as const

/**
 * For one thread; it allocates nothing for a query. Answers are judged at the end of their batch,
 * so that the processor fetches the lines of all their buckets at once, and no compare and exchange
 * waits for the octets of a reply.
 */
export class RateLimiter {
  readonly #head: Int32Array
  readonly #reportCells: Int32Array
  readonly #table: BucketTable
  readonly #ipv4Mask: number
  readonly #ipv6Mask0: number
  readonly #ipv6Mask1: number
  readonly #seed: number
  readonly #random: Random
  readonly #counts: LimitCounts
  readonly #nowMs: () => number
  readonly #client = new Client()
  readonly #settled: readonly string[]
  #listed: readonly string[] = []
  #exempt: ExemptNetworks
  /** A cell, so that no number is boxed. */
  readonly #now = new Int32Array(1)
  readonly #held = new Int32Array(heldMax * Held.Words)
  #heldCount = 0
  /** What was read ahead, so that it is read. */
  readonly #seen = new Int32Array(1)

  /**
   * @param thread its place among the threads
   * @param nowMs a machine clock (lib/clock.ts), read once for each batch
   */
  constructor(
    shared: RateMemory,
    thread: number,
    seed: number,
    counts: LimitCounts,
    nowMs: () => number,
  ) {
    this.#head = memory.headOf(shared)
    this.#reportCells = memory.reportOf(shared, thread)
    this.#table = memory.tableOf(shared)
    this.#ipv4Mask = maskOf(shared.ipv4Bits)
    this.#ipv6Mask0 = maskOf(Math.min(shared.ipv6Bits, 32))
    this.#ipv6Mask1 = maskOf(Math.max(shared.ipv6Bits - 32, 0))
    this.#seed = this.#head[RateCell.Seed]!
    this.#random = new Random(seed)
    this.#counts = counts
    this.#nowMs = nowMs
    this.#settled = shared.exempt
    this.#exempt = new ExemptNetworks(exemptRanges(shared.exempt))
  }

  /** @param listed networks that the configuration exempts, besides those of the settings */
  adopt(listed: readonly string[]): void {
    if (areSameNetworks(listed, this.#listed)) return
    this.#listed = listed
    this.#exempt = new ExemptNetworks(exemptRanges([...this.#settled, ...listed]))
  }

  startBatch(): void {
    this.#now[0] = memory.microsOf(this.#nowMs())
  }

  /**
   * Keeps what `judge` needs of an answer whose reply is written.
   *
   * @param headBytes of the reply's header and question
   * @param optAt octets of the reply before its OPT; 0: it has none
   * @returns false: its client is not limited
   */
  hold(answer: LimitedAnswer, headBytes: number, optAt: number): boolean {
    const client = this.#client
    client.set(answer.source, answer.sourceAt, answer.sourceBytes)
    const { words, isIpv6 } = client
    if (!this.#exempt.isEmpty && this.#exempt.has(words, isIpv6)) return false
    const kind = classOf(answer)
    const first = this.#firstWord(words, isIpv6)
    const network = networkOf(this.#seed, first, this.#secondWord(words, isIpv6), isIpv6)
    const key = kind === Class.Error ? 0 : keyOf(answer)
    const word = key ^ Math.imul(kind, classStride)
    const held = this.#held
    const row = this.#heldCount * Held.Words
    this.#heldCount++
    held[row + Held.Network] = network
    held[row + Held.Answer] = word
    held[row + Held.Hash] = lineHash(network, word)
    held[row + Held.Place] = (answer.slot << 8) | kind
    held[row + Held.ClientAt] = answer.sourceAt
    held[row + Held.ReplyAt] = answer.replyStart
    held[row + Held.Parts] = (optAt << 16) | headBytes
    held[row + Held.Counted] = (answer.qtype << 16) | answer.rcode
    return true
  }

  /**
   * Judges the answers held since the last call, and cuts or takes back the replies that are too
   * many.
   *
   * @param replies that were written
   * @returns octets left of the last one; -1: it stays as it is
   */
  judge(replies: ReplyBatch): number {
    const end = this.#heldCount * Held.Words
    this.#heldCount = 0
    let seen = 0
    for (let row = 0; row < end; row += Held.Words) {
      seen ^= this.#table.peek(this.#held[row + Held.Hash]!)
    }
    this.#seen[0] = seen
    let left = -1
    for (let row = 0; row < end; row += Held.Words) left = this.#judgeOne(replies, row)
    return left
  }

  /**
   * Judges at once all answers up to this one.
   *
   * @param written octets of its reply
   * @returns octets that are left of it
   */
  judgeNow(answer: LimitedAnswer, replies: ReplyBatch, written: number): number {
    const last = (this.#heldCount - 1) * Held.Words
    const isHeld = last >= 0 && this.#held[last + Held.Place]! >> 8 === answer.slot
    const left = this.judge(replies)
    return isHeld && left >= 0 ? left : written
  }

  /** @returns as `judge` */
  #judgeOne(replies: ReplyBatch, row: number): number {
    const held = this.#held
    const place = held[row + Held.Place]!
    const counted = held[row + Held.Counted]!
    const network = held[row + Held.Network]!
    const kind = (place & 0xff) as AnswerClass
    let verdict: limits.Verdict = Verdict.Pass
    if (!this.#hasRoom(held[row + Held.Hash]!, network, held[row + Held.Answer]!, kind)) {
      verdict = this.#limit(replies, row, kind)
    } else if (
      this.#head[allCost]! > 0 &&
      !this.#hasRoom(lineHash(network, allWord), network, allWord, Class.All)
    ) {
      verdict = this.#limit(replies, row, Class.All)
    }
    const left = verdict === Verdict.Slip ? this.#slip(replies, row) : 0
    if (verdict !== Verdict.Drop) {
      const flags = replies.buffer[held[row + Held.ReplyAt]! + HeaderOffset.Flags1]!
      this.#counts.reply(counted & 0xffff, counted >>> 16, (flags & Flag1.Tc) !== 0)
    }
    if (verdict === Verdict.Pass) return -1
    replies.setReply(place >> 8, left)
    return left
  }

  #hasRoom(hash: number, network: number, word: number, kind: AnswerClass): boolean {
    const head = this.#head
    const row = RateCell.Class + kind * RateCell.ClassWords
    const costMicros = head[row + RateCell.CostMicros]!
    if (costMicros === 0) return true
    const windowMicros = head[row + RateCell.WindowMicros]!
    // Two keys of one network, or of two networks and one name, never have the same tag.
    const tag = (network - word) | 0
    const taken = this.#table.take(hash, tag, costMicros, windowMicros, this.#now[0]!)
    if (taken >= Taken.RoomOfOther) this.#counts.rateCrowded()
    return taken === Taken.Room || taken === Taken.RoomOfOther
  }

  /** Says what becomes of an answer beyond the limit. */
  #limit(replies: ReplyBatch, row: number, kind: AnswerClass): limits.Verdict {
    const head = this.#head
    const slipEvery = head[RateCell.Slip]!
    const isDryRun = head[RateCell.IsDryRun] === 1
    // At random: nobody can arrange that a client in the same network never has its turn.
    const slips =
      slipEvery === 1 || (slipEvery > 1 && (this.#random.draw() >>> 1) % slipEvery === 0)
    const done = isDryRun ? action.would : slips ? action.slip : action.drop
    this.#counts.rateLimited(kind, done)
    this.#report(kind, done, replies, this.#held[row + Held.ClientAt]!)
    if (isDryRun) return Verdict.Pass
    return slips ? Verdict.Slip : Verdict.Drop
  }

  #slip({ buffer }: ReplyBatch, row: number): number {
    const start = this.#held[row + Held.ReplyAt]!
    const parts = this.#held[row + Held.Parts]!
    return slip(buffer, start, parts & 0xffff, parts >>> 16)
  }

  /** Leaves a report, where the last one has been taken. */
  #report(kind: AnswerClass, done: number, replies: ReplyBatch, clientAt: number): void {
    const cells = this.#reportCells
    if (Atomics.load(cells, ReportCell.IsThere) !== 0) return
    const client = this.#client
    client.set(replies.clients, clientAt, replies.clientBytes)
    const { words, isIpv6 } = client
    cells[ReportCell.Class] = kind
    cells[ReportCell.Action] = done
    cells[ReportCell.IsIpv6] = isIpv6 ? 1 : 0
    cells[ReportCell.Network] = this.#firstWord(words, isIpv6)
    cells[ReportCell.Network + 1] = this.#secondWord(words, isIpv6)
    Atomics.store(cells, ReportCell.IsThere, 1)
  }

  /** Leading bits of an address that are its network. */
  #firstWord(words: Uint32Array, isIpv6: boolean): number {
    return words[0]! & (isIpv6 ? this.#ipv6Mask0 : this.#ipv4Mask)
  }

  #secondWord(words: Uint32Array, isIpv6: boolean): number {
    return isIpv6 ? words[1]! & this.#ipv6Mask1 : 0
  }
}

/** An IPv4 network is none of IPv6 that begins alike. */
function networkOf(seed: number, first: number, second: number, isIpv6: boolean): number {
  return isIpv6 ? mixWord(mixWord(~seed, first), second) : mixWord(seed, first)
}

function lineHash(network: number, word: number): number {
  const mixed = mixWord(network, word)
  return mixed ^ (mixed >>> 16)
}

/** RFC 2308 section 2 tells a referral from NODATA by its sections. */
function classOf(answer: LimitedAnswer): AnswerClass {
  const { rcode } = answer
  if (rcode === Rcode.NXDomain || answer.isUnknownName) return Class.NxDomain
  if (rcode !== Rcode.NoError) return Class.Error
  if (answer.answerCount > 0) return Class.Answer
  if (!answer.isAuthoritative) return Class.Referral
  return answer.isTruncated ? Class.Answer : Class.NoData
}

/** What makes two answers of a class alike: the name that was asked for, or what stands for it. */
function keyOf(answer: LimitedAnswer): number {
  if (answer.isGrouped) return answer.group
  return answer.aliasCount > 0 ? answer.leftHash[0]! : answer.qnameHash
}

function maskOf(bits: number): number {
  return bits === 0 ? 0 : -1 << (32 - bits)
}

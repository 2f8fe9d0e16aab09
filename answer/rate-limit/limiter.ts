// Response rate limiting, the side of an answering thread: says of each answer over UDP whether it
// goes out.
import { Random } from '#lib/random.ts'
import { mixWord } from '#dns/name.ts'
import * as rcodes from '#dns/rcode.ts'
import { Client, wordAt } from '#routing/chain/client.ts'
import * as buckets from './bucket-table.ts'
import type { BucketTable } from './bucket-table.ts'
import { ExemptNetworks } from './exempt-networks.ts'
import { areSameNetworks, exemptRanges } from './exempt-ranges.ts'
import * as limits from './limits.ts'
import type { AnswerClass } from './limits.ts'
import * as memory from './rate-memory.ts'
import type { RateMemory } from './rate-memory.ts'

// Constants of this file, for the reason that answer.ts gives.
const { Taken } = buckets
const { AnswerClass: Class, Verdict } = limits
const { RateCell, ReportCell } = memory
const { Rcode } = rcodes
/** Tells keys of classes apart. */
const classStride = 0x61c88647
const action = { drop: 0, slip: 1, would: 2 } as const

/** Cell of what an answer costs of all that a network gets. */
const allCost = RateCell.Class + Class.All * RateCell.ClassWords + RateCell.CostMicros

/** What the limiter sees of an answer that is about to go out: its transaction. */
interface LimitedAnswer {
  readonly source: Uint8Array
  readonly sourceAt: number
  readonly sourceBytes: number
  readonly rcode: number
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
}

/** For one thread; it allocates nothing for a query. */
export class RateLimiter {
  readonly #head: Int32Array
  readonly #report: Int32Array
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
    this.#report = memory.reportOf(shared, thread)
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

  /** Counts an answer, and says what becomes of it. */
  judge(answer: LimitedAnswer): limits.Verdict {
    const { source, sourceAt } = answer
    let network: number
    if (answer.sourceBytes === 4 && this.#exempt.isEmpty) {
      network = mixWord(this.#seed, wordAt(source, sourceAt) & this.#ipv4Mask)
    } else {
      const client = this.#client
      client.set(source, sourceAt, answer.sourceBytes)
      if (this.#exempt.has(client.words, client.isIpv6)) return Verdict.Pass
      network = this.#networkOfClient()
    }
    const kind = classOf(answer)
    const key = kind === Class.Error ? 0 : keyOf(answer)
    if (!this.#hasRoom(network, key, kind)) return this.#limit(kind, answer)
    if (this.#head[allCost]! > 0 && !this.#hasRoom(network, 0, Class.All))
      return this.#limit(Class.All, answer)
    return Verdict.Pass
  }

  #networkOfClient(): number {
    const { words, isIpv6 } = this.#client
    if (!isIpv6) return mixWord(this.#seed, words[0]! & this.#ipv4Mask)
    // An IPv4 network is none of IPv6 that begins alike.
    const upper = mixWord(~this.#seed, words[0]! & this.#ipv6Mask0)
    return mixWord(upper, words[1]! & this.#ipv6Mask1)
  }

  #hasRoom(network: number, key: number, kind: AnswerClass): boolean {
    const head = this.#head
    const row = RateCell.Class + kind * RateCell.ClassWords
    const costMicros = head[row + RateCell.CostMicros]!
    if (costMicros === 0) return true
    const word = key ^ Math.imul(kind, classStride)
    const mixed = mixWord(network, word)
    // Two keys of one network, or of two networks and one name, never have the same tag.
    const tag = (network - word) | 0
    const windowMicros = head[row + RateCell.WindowMicros]!
    const taken = this.#table.take(
      mixed ^ (mixed >>> 16),
      tag,
      costMicros,
      windowMicros,
      this.#now[0]!,
    )
    if (taken >= Taken.RoomOfOther) this.#counts.rateCrowded()
    return taken === Taken.Room || taken === Taken.RoomOfOther
  }

  /** What becomes of an answer beyond the limit. */
  #limit(kind: AnswerClass, answer: LimitedAnswer): limits.Verdict {
    const head = this.#head
    const slip = head[RateCell.Slip]!
    const isDryRun = head[RateCell.IsDryRun] === 1
    // At random: nobody can arrange that a client in the same network never has its turn.
    const slips = slip === 1 || (slip > 1 && (this.#random.draw() >>> 1) % slip === 0)
    const done = isDryRun ? action.would : slips ? action.slip : action.drop
    this.#counts.rateLimited(kind, done)
    this.#tell(kind, done, answer)
    if (isDryRun) return Verdict.Pass
    return slips ? Verdict.Slip : Verdict.Drop
  }

  /** Leaves a report, where the last one has been taken. */
  #tell(kind: AnswerClass, done: number, answer: LimitedAnswer): void {
    const report = this.#report
    if (Atomics.load(report, ReportCell.IsThere) !== 0) return
    report[ReportCell.Class] = kind
    report[ReportCell.Action] = done
    const client = this.#client
    client.set(answer.source, answer.sourceAt, answer.sourceBytes)
    const { words, isIpv6 } = client
    report[ReportCell.IsIpv6] = isIpv6 ? 1 : 0
    report[ReportCell.Network] = words[0]! & (isIpv6 ? this.#ipv6Mask0 : this.#ipv4Mask)
    report[ReportCell.Network + 1] = isIpv6 ? words[1]! & this.#ipv6Mask1 : 0
    Atomics.store(report, ReportCell.IsThere, 1)
  }
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

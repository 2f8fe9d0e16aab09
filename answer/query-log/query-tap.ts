// Copies some queries with their replies and choices into a ring for the query log; used by an
// answering thread. Never waits: without room, the query is not logged.
import { serviceCell } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import { isAlias } from '#bundle/format/hostnames.ts'
import * as routing from '#bundle/format/routing-cells.ts'
import { createMachineClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { wayOfCode } from '#routing/choose/ways.ts'
import type { ServingView } from '#answer/serving-view.ts'
import { Carrier, Transport } from '#answer/transaction.ts'
import type { Transaction } from '#answer/transaction.ts'
import * as layout from './ring.ts'

// Local constants are faster than imports: see answer.ts.
const { LogCell, memberNamesMax, queryBytesMax, SlotAt, SlotCell, SlotFlag, SlotTime } = layout
const { headBytes, slotBytes, slots } = layout.ringLimits
const { NodeCell } = cells
const { firstPolicyCode } = routing
const { Tcp: tcp } = Transport
/** TCP flags by carrier. */
const tcpFlags = new Uint8Array(3)
tcpFlags[Carrier.Plain] = SlotFlag.Tcp
tcpFlags[Carrier.Tls] = SlotFlag.Tcp | SlotFlag.Tls
tcpFlags[Carrier.Https] = SlotFlag.Tcp | SlotFlag.Https
const textBytesMax = 255
const noOctets = new Uint8Array(0)

/** The part of the tap that an answering thread calls around each answer. */
export type Tap = Pick<QueryTap, 'adopt' | 'first' | 'asked' | 'answered'>

/** Logs nothing. */
export const noTap: Tap = {
  adopt: () => undefined,
  first: () => -1,
  asked: () => undefined,
  answered: () => -1,
}

/** Separates the tap's random numbers from those of answers. */
const seedApart = 0x5eed_106

/**
 * @param ring undefined: nothing is logged
 * @param seed of the thread
 */
export function createTap(ring: SharedArrayBuffer | undefined, seed: number): Tap {
  return ring === undefined ? noTap : new QueryTap(ring, seed ^ seedApart, createMachineClock())
}

/** One per thread; allocates nothing for a query. */
export class QueryTap {
  readonly #cells: Int32Array
  readonly #slotCells: Int32Array
  readonly #times: Float64Array
  readonly #octets: Uint8Array
  readonly #sampleEvery: number
  readonly #random: Random
  readonly #nowMs: () => number
  #written: number
  /** Queries of this batch, and queries to skip before the next logged one. */
  #count = 0
  #left: number
  /** Place in the batch of the query being logged, and whether the ring has room for it. */
  #slot = 0
  #hasRoom = false
  /** Start of the slot in the ring, and offset of the next text. */
  #start = 0
  #at = 0
  // From the view: digest and commit of the bundle, and the name of each policy.
  #digest: Uint8Array = noOctets
  #commit: Uint8Array = noOctets
  #plainReasons: readonly Uint8Array[] = []
  #policyReasons: readonly Uint8Array[] = []

  /** @param nowMs a machine clock (lib/clock.ts), read twice for each logged query */
  constructor(shared: SharedArrayBuffer, seed: number, nowMs: () => number) {
    this.#cells = new Int32Array(shared, 0, headBytes / 4)
    this.#slotCells = new Int32Array(shared)
    this.#times = new Float64Array(shared)
    this.#octets = new Uint8Array(shared)
    this.#sampleEvery = Math.max(1, Atomics.load(this.#cells, LogCell.SampleEvery))
    this.#random = new Random(seed)
    this.#nowMs = nowMs
    // A restarted thread continues the ring of the one that died.
    this.#written = Atomics.load(this.#cells, LogCell.Written)
    this.#left = this.#gap() - 1
  }

  /** Call it before the thread answers from this view. */
  adopt({ bundle, commit, policies }: ServingView): void {
    this.#digest = Buffer.from(bundle.digest)
    this.#commit = commit
    const reasons = new Map<object, Uint8Array>()
    this.#policyReasons = policies.map(({ ways }) => {
      const known = reasons.get(ways) ?? Buffer.from(ways.map(({ name }) => name).join(','))
      reasons.set(ways, known)
      return known
    })
    this.#plainReasons = Array.from({ length: firstPolicyCode }, (_, code) =>
      Buffer.from(wayOfCode(code)?.name ?? ''),
    )
  }

  /** @returns the place in a batch of `count` of the first query to log; -1: none */
  first(count: number): number {
    this.#count = count
    if (this.#left >= count) {
      this.#left -= count
      return -1
    }
    this.#slot = this.#left
    return this.#slot
  }

  /** Call it before the query is answered: the reply may overwrite its octets. */
  asked(tx: Transaction, query: Uint8Array, offset: number, length: number, port: number): void {
    this.#hasRoom = this.#enter(length)
    if (!this.#hasRoom) return
    const { source, sourceAt, sourceBytes } = tx
    const octets = this.#octets
    const start = headBytes + (this.#written & (slots - 1)) * slotBytes
    const cell = start >> 2
    this.#start = start
    this.#times[(start >> 3) + SlotTime.Asked] = this.#nowMs()
    // Restarts the random numbers from a logged seed, so that the draws can be repeated.
    const seed = this.#random.draw()
    tx.random.restart(seed)
    tx.member = -1
    tx.routing.serviceIndex = -1
    tx.chain.serviceIndex = -1
    this.#slotCells[cell + SlotCell.Seed] = seed
    this.#slotCells[cell + SlotCell.ClientPort] = port
    this.#slotCells[cell + SlotCell.ClientBytes] = sourceBytes
    this.#slotCells[cell + SlotCell.QueryBytes] = length
    for (let i = 0; i < sourceBytes; i++) octets[start + SlotAt.Client + i] = source[sourceAt + i]!
    for (let i = 0; i < length; i++) octets[start + SlotAt.Query + i] = query[offset + i]!
    this.#at = start + SlotAt.Query + length
  }

  /**
   * Call it after the answer.
   *
   * @param written as `answer` returns it
   * @returns the place in the batch of the next query to log; -1: none
   */
  answered(tx: Transaction, reply: Uint8Array, offset: number, written: number): number {
    // Messages that another thread answers are not logged.
    if (this.#hasRoom && written >= 0) this.#finish(tx, reply, offset, written)
    const next = this.#slot + this.#gap()
    if (next >= this.#count) {
      this.#left = next - this.#count
      return -1
    }
    this.#slot = next
    return next
  }

  /**
   * Random, from 1 to twice the mean less one: a fixed gap would sample the same member of a
   * service that takes turns again and again.
   */
  #gap(): number {
    if (this.#sampleEvery === 1) return 1
    return 1 + ((this.#random.draw() >>> 1) % (this.#sampleEvery * 2 - 1))
  }

  #enter(length: number): boolean {
    const taken = Atomics.load(this.#cells, LogCell.Taken)
    if (length > 0 && length <= queryBytesMax && ((this.#written - taken) | 0) < slots) return true
    Atomics.add(this.#cells, LogCell.Dropped, 1)
    return false
  }

  #finish(tx: Transaction, reply: Uint8Array, offset: number, written: number): void {
    const cell = this.#start >> 2
    const slotCells = this.#slotCells
    this.#times[(this.#start >> 3) + SlotTime.Answered] = this.#nowMs()
    slotCells[cell + SlotCell.Flags] = tx.transport === tcp ? tcpFlags[tx.carrier]! : 0
    slotCells[cell + SlotCell.ExtendedError] = written === 0 ? -1 : tx.extendedError
    slotCells[cell + SlotCell.Chosen] = 0
    this.#write(this.#digest, 0, this.#digest.length)
    this.#write(this.#commit, 0, this.#commit.length)
    if (written === 0 || tx.view === undefined || !this.#wroteChoice(tx, tx.view)) {
      for (let text = 2; text < layout.slotTexts.length; text++) this.#write(noOctets, 0, 0)
    }
    this.#writeReply(reply, offset, written)
    this.#written = (this.#written + 1) | 0
    Atomics.store(this.#cells, LogCell.Written, this.#written)
  }

  /** @returns false, with nothing written: no service made a choice */
  #wroteChoice(tx: Transaction, { bundle, state }: ServingView): boolean {
    const { chain, routing: plain } = tx
    const isPolicy = chain.serviceIndex >= 0
    const service = isPolicy ? chain.serviceIndex : plain.serviceIndex
    if (service < 0) return false
    const pool = isPolicy ? chain.poolIndex : plain.poolIndex
    const family = isPolicy ? chain.family : plain.family
    const turn = Atomics.load(state.serviceCursor, service * 2 + family)
    let flags: number = SlotFlag.Service
    if (turn !== 0) flags |= SlotFlag.Turn
    if (pool !== serviceCell(bundle, service, NodeCell.Pool) - 1) flags |= SlotFlag.Fallback
    const cell = this.#start >> 2
    this.#slotCells[cell + SlotCell.Flags]! |= flags
    this.#slotCells[cell + SlotCell.Turn] = turn - 1
    this.#writeText(bundle, bundle.serviceTenant[service]!)
    this.#writeText(bundle, bundle.serviceName[service]!)
    this.#writeText(bundle, bundle.poolName[pool]!)
    const code = serviceCell(bundle, service, NodeCell.Algorithm)
    const reason =
      code < firstPolicyCode
        ? this.#plainReasons[code]!
        : this.#policyReasons[code - firstPolicyCode]!
    this.#write(reason, 0, reason.length)
    this.#slotCells[cell + SlotCell.Chosen] = isPolicy
      ? this.#writeChain(tx, bundle)
      : this.#writeMember(tx, bundle)
    return true
  }

  /** @returns the number of members that the policy chose */
  #writeChain({ chain }: Transaction, bundle: Bundle): number {
    let chosen = Math.min(chain.count, chain.answerCount)
    // RFC 2181 section 10.1: a name has at most one alias.
    if (chosen > 1 && bundle.hasHostnames && isAlias(bundle, chain.members[0]!)) chosen = 1
    for (let i = 0; i < chosen && i < memberNamesMax; i++) {
      this.#writeText(bundle, bundle.memberName[chain.members[i]!]!)
    }
    return chosen
  }

  #writeMember({ member }: Transaction, bundle: Bundle): number {
    if (member < 0) return 0
    this.#writeText(bundle, bundle.memberName[member]!)
    return 1
  }

  #writeText({ stringBytes, stringOffset }: Bundle, text: number): void {
    this.#write(stringBytes, stringOffset[text]!, stringOffset[text + 1]!)
  }

  /** Writes a text; one that is too long or has no room left is logged as empty. */
  #write(from: Uint8Array, start: number, end: number): void {
    const octets = this.#octets
    let at = this.#at
    // There is always room for the length octets: the query is bounded, and so are the texts.
    const isFitting = end - start <= textBytesMax && at + end - start < this.#start + textsEnd
    const length = isFitting ? end - start : 0
    octets[at++] = length
    for (let i = 0; i < length; i++) octets[at++] = from[start + i]!
    this.#at = at
  }

  #writeReply(reply: Uint8Array, offset: number, written: number): void {
    const cell = this.#start >> 2
    const isFitting = this.#at + written <= this.#start + slotBytes
    this.#slotCells[cell + SlotCell.ReplyBytes] = written
    this.#slotCells[cell + SlotCell.HasReply] = isFitting ? 1 : 0
    if (!isFitting) return
    const octets = this.#octets
    for (let i = 0; i < written; i++) octets[this.#at + i] = reply[offset + i]!
  }
}

/** Texts end before this, so that the length octets of texts that do not fit have room. */
const textsEnd = slotBytes - layout.slotTexts.length - memberNamesMax

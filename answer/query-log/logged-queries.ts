// Takes logged queries out of the rings that answering threads fill, at a rate that follows the
// load.
import { queryLogLimits } from './limits.ts'
import { LogCell, memberNamesMax, ringLimits, SlotAt, SlotCell, SlotFlag } from './ring.ts'
import { slotTexts, SlotTime } from './ring.ts'

const { headBytes, slotBytes, slots } = ringLimits
/** Octets of ::ffff:0:0/96 in front of an IPv4 address. RFC 4291 section 2.5.5.2. */
const mappedBytes = 12

export type LoggedProtocol = 'udp' | 'tcp' | 'dot' | 'doh'

export interface LoggedQuery {
  /** Milliseconds since the Unix epoch. */
  readonly askedMs: number
  readonly answeredMs: number
  readonly protocol: LoggedProtocol
  /** 4 or 16 octets. */
  readonly client: Uint8Array
  readonly clientPort: number
  readonly query: Uint8Array
  /** undefined: no reply was sent, or it is too long for the log. */
  readonly reply: Uint8Array | undefined
  /** 0: no reply was sent. */
  readonly replyBytes: number
  /** -1: none. RFC 8914. */
  readonly extendedError: number
  /** The seed of the answer's random numbers. */
  readonly seed: number
  readonly digest: string
  readonly commit: string
  /** null: no service made a choice. */
  readonly choice: LoggedChoice | null
}

interface LoggedChoice {
  readonly tenant: string
  readonly service: string
  readonly pool: string
  /** The algorithm of the service, or the filters of its chain. */
  readonly reason: string
  /** The pool is not the service's own. */
  readonly isFallback: boolean
  /** The turn of the service; undefined: it takes no turns. */
  readonly turn: number | undefined
  readonly chosen: number
  /** Names of the first chosen members; empty for a member without a name. */
  readonly members: readonly string[]
}

interface LogClock {
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: () => number
  /** The machine clock that stamps the entries of the rings. */
  readonly machineMs: () => number
}

export class LoggedQueries {
  /** One for each answering thread. */
  readonly rings: readonly SharedArrayBuffer[]

  readonly #clock: LogClock

  constructor(rings: readonly SharedArrayBuffer[], clock: LogClock) {
    this.rings = rings
    this.#clock = clock
  }

  /** Passes all entries to `each`, ring after ring. @returns the number in the fullest ring */
  drain(each: (logged: LoggedQuery) => void): number {
    // Computed at each drain: the wall clock may have been set.
    const offsetMs = this.#clock.nowMs() - this.#clock.machineMs()
    return Math.max(0, ...this.rings.map((ring) => drain(ring, offsetMs, each)))
  }
}

/** Queries dropped because their ring was full. */
export function droppedOf(rings: readonly SharedArrayBuffer[]): number {
  const countOf = (ring: SharedArrayBuffer): number =>
    Atomics.load(new Int32Array(ring, 0, headBytes / 4), LogCell.Dropped) >>> 0
  return rings.reduce((sum, ring) => sum + countOf(ring), 0)
}

function drain(
  ring: SharedArrayBuffer,
  offsetMs: number,
  each: (logged: LoggedQuery) => void,
): number {
  const cells = new Int32Array(ring, 0, headBytes / 4)
  const written = Atomics.load(cells, LogCell.Written)
  const first = Atomics.load(cells, LogCell.Taken)
  const count = (written - first) | 0
  for (let i = 0; i < count; i++) {
    const logged = readSlot(ring, headBytes + ((first + i) & (slots - 1)) * slotBytes, offsetMs)
    // Frees slots one by one, so that the writer has room as early as possible.
    Atomics.store(cells, LogCell.Taken, (first + i + 1) | 0)
    each(logged)
  }
  return count
}

function protocolOf(flags: number): LoggedProtocol {
  if ((flags & SlotFlag.Tls) !== 0) return 'dot'
  if ((flags & SlotFlag.Https) !== 0) return 'doh'
  return (flags & SlotFlag.Tcp) !== 0 ? 'tcp' : 'udp'
}

function readSlot(ring: SharedArrayBuffer, start: number, offsetMs: number): LoggedQuery {
  const slot = Buffer.from(ring, start, slotBytes)
  const cells = new Int32Array(ring, start, SlotAt.Client / 4)
  const times = new Float64Array(ring, start, 2)
  const flags = cells[SlotCell.Flags]!
  const queryEnd = SlotAt.Query + cells[SlotCell.QueryBytes]!
  const texts = new TextReader(slot, queryEnd)
  const [digest, commit, tenant, service, pool, reason] = slotTexts.map(() => texts.next())
  const chosen = cells[SlotCell.Chosen]!
  const members = Array.from({ length: Math.min(chosen, memberNamesMax) }, () => texts.next())
  const replyBytes = cells[SlotCell.ReplyBytes]!
  const hasReply = replyBytes > 0 && cells[SlotCell.HasReply] === 1
  const turn = (flags & SlotFlag.Turn) === 0 ? undefined : cells[SlotCell.Turn]! >>> 0
  const isFallback = (flags & SlotFlag.Fallback) !== 0
  const choice = { tenant, service, pool, reason, isFallback, turn, chosen, members }
  return {
    askedMs: times[SlotTime.Asked]! + offsetMs,
    answeredMs: times[SlotTime.Answered]! + offsetMs,
    protocol: protocolOf(flags),
    client: clientOf(slot, cells[SlotCell.ClientBytes]!),
    clientPort: cells[SlotCell.ClientPort]!,
    query: copyOf(slot, SlotAt.Query, queryEnd),
    reply: hasReply ? copyOf(slot, texts.at, texts.at + replyBytes) : undefined,
    replyBytes,
    extendedError: cells[SlotCell.ExtendedError]!,
    seed: cells[SlotCell.Seed]! >>> 0,
    digest: digest!,
    commit: commit!,
    choice: (flags & SlotFlag.Service) === 0 ? null : (choice as LoggedChoice),
  }
}

/** Copies, since the slot is reused soon. */
const copyOf = (slot: Buffer, start: number, end: number): Uint8Array =>
  Uint8Array.from(slot.subarray(start, end))

function clientOf(slot: Buffer, bytes: number): Uint8Array {
  const { Client } = SlotAt
  const client = copyOf(slot, Client, Client + bytes)
  const isMapped =
    bytes === 16 &&
    client.subarray(0, 10).every((octet) => octet === 0) &&
    client[10] === 0xff &&
    client[11] === 0xff
  return isMapped ? client.subarray(mappedBytes) : client
}

class TextReader {
  readonly #slot: Buffer
  at: number

  constructor(slot: Buffer, at: number) {
    this.#slot = slot
    this.at = at
  }

  next(): string {
    const start = this.at + 1
    this.at = start + this.#slot[this.at]!
    return this.#slot.toString('utf8', start, this.at)
  }
}

/** Slots that a ring should fill between two looks; the rest absorbs bursts. */
const wantedSlots = slots / 4

/**
 * @param records in the fullest ring, arrived within `pausedMs`
 * @returns the next pause
 */
export function pauseAfter(pausedMs: number, records: number): number {
  const { leastMs, mostMs } = queryLogLimits.pause
  const next = records === 0 ? pausedMs * 2 : (pausedMs * wantedSlots) / records
  return Math.min(mostMs, Math.max(leastMs, next))
}

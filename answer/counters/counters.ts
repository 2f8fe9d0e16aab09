// Counters in shared memory: one row per thread, written by that thread alone, summed on scrape.
import { cookieKindNames } from '#answer/cookies/cookie-jar.ts'
import type { CookieKind } from '#answer/cookies/cookie-jar.ts'
import { rrTypeNames } from '#dns/rrtype.ts'
import { scriptOutcomeNames } from '#routing/script/contract.ts'
import type { ScriptOutcome } from '#routing/script/contract.ts'
import type { ThreadCounts } from '#state/ports/node-counts.ts'
import { proxyOutcomeNames } from '#system/sockets/proxy-gate.ts'
import type { ProxyOutcome } from '#system/sockets/proxy-gate.ts'
import { answerClassNames, limitActions } from '#answer/rate-limit/limits.ts'

/** Slots by rcode; the last one is for codes that this server never sends. */
const rcodeSlots = 24
const typeNumbers = Object.keys(rrTypeNames).map(Number)
/** qtype to its slot; types without a name share slot 0. */
const typeSlotOf = new Uint8Array(65_536)
for (const [i, type] of typeNumbers.entries()) typeSlotOf[type] = i + 1

const Slot = {
  UdpQueries: 0,
  TcpQueries: 1,
  /** Packets without a reply: responses and fragments of a header. */
  Dropped: 2,
  Truncated: 3,
  /** A service's pool had members of the family, but none could answer. */
  NoCandidate: 4,
  Batches: 5,
  SendErrors: 6,
  /** Answered SERVFAIL because the query bucket was empty; see query-bucket.ts. */
  OverLimit: 7,
  Rcode: 8,
  Type: 8 + rcodeSlots,
  Script: 8 + rcodeSlots + typeNumbers.length + 1,
  /** By `ProxyOutcome`. */
  Proxy: 8 + rcodeSlots + typeNumbers.length + 1 + scriptOutcomeNames.length,
  /** Total milliseconds of all timed queries, then their counts by `timeBoundsMs`. */
  Time:
    8 + rcodeSlots + typeNumbers.length + 1 + scriptOutcomeNames.length + proxyOutcomeNames.length,
} as const

/** Upper bounds of the time classes in milliseconds; slower queries have one class more. */
const timeBoundsMs = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 50] as const
/** Queries by the state of their cookie. */
const cookieSlot = Slot.Time + 1 + timeBoundsMs.length + 1
/** Answers beyond a rate limit, by class, then by action. */
const limitedSlot = cookieSlot + cookieKindNames.length
const actions = limitActions.length
const crowdedSlot = limitedSlot + answerClassNames.length * actions
const slotCount = crowdedSlot + 1

/** Doubles hold whole numbers up to 2^53, and a store of eight aligned octets is never torn. */
export class Counters {
  readonly #slots: Float64Array

  constructor(shared: SharedArrayBuffer) {
    this.#slots = new Float64Array(shared, 0, slotCount)
  }

  static bytes = slotCount * 8

  query(transport: number, cookie: CookieKind): void {
    this.#slots[transport]! += 1
    this.#slots[cookieSlot + cookie]! += 1
  }
  drop(): void {
    this.#slots[Slot.Dropped]! += 1
  }
  truncated(): void {
    this.#slots[Slot.Truncated]! += 1
  }
  noCandidate(): void {
    this.#slots[Slot.NoCandidate]! += 1
  }
  batch(): void {
    this.#slots[Slot.Batches]! += 1
  }
  sendErrors(count: number): void {
    this.#slots[Slot.SendErrors]! += count
  }
  overLimit(): void {
    this.#slots[Slot.OverLimit]! += 1
  }
  /**
   * @param kind index of `answerClassNames`
   * @param action index of `limitActions`
   */
  rateLimited(kind: number, action: number): void {
    this.#slots[limitedSlot + kind * actions + action]! += 1
  }
  /** Counts a rate-limit bucket that was taken over from another key: the table is too small. */
  rateCrowded(): void {
    this.#slots[crowdedSlot]! += 1
  }
  script(outcome: ScriptOutcome): void {
    this.#slots[Slot.Script + outcome]! += 1
  }
  proxyHeader(outcome: ProxyOutcome): void {
    this.#slots[Slot.Proxy + outcome]! += 1
  }
  /** Counts one batch of queries with its duration; see batch-timer.ts. */
  timed(elapsedMs: number, queries: number): void {
    let row = 0
    while (row < timeBoundsMs.length && elapsedMs > timeBoundsMs[row]!) row++
    this.#slots[Slot.Time]! += elapsedMs * queries
    this.#slots[Slot.Time + 1 + row]! += queries
  }
  reply(rcode: number, qtype: number): void {
    this.#slots[Slot.Rcode + rcode]! += 1
    this.#slots[Slot.Type + typeSlotOf[qtype]!]! += 1
  }

  /** A copy of the counts for reports; not for the answer path. */
  snapshot(): CounterSnapshot {
    const at = (slot: number): number => this.#slots[slot]!
    const byRcode: Record<number, number> = {}
    for (let rcode = 0; rcode < rcodeSlots; rcode++) {
      if (at(Slot.Rcode + rcode) > 0) byRcode[rcode] = at(Slot.Rcode + rcode)
    }
    const byType: Record<string, number> = { OTHER: at(Slot.Type) }
    for (const [i, type] of typeNumbers.entries()) {
      byType[rrTypeNames[type]!] = at(Slot.Type + i + 1)
    }
    const byScriptOutcome: Record<string, number> = {}
    for (const [i, name] of scriptOutcomeNames.entries()) {
      byScriptOutcome[name] = at(Slot.Script + i)
    }
    const byCookie: Record<string, number> = {}
    for (const [kind, name] of cookieKindNames.entries()) byCookie[name] = at(cookieSlot + kind)
    const byProxyOutcome: Record<string, number> = {}
    for (const [i, name] of proxyOutcomeNames.entries()) {
      byProxyOutcome[name] = at(Slot.Proxy + i)
    }
    return {
      udpQueries: at(Slot.UdpQueries),
      tcpQueries: at(Slot.TcpQueries),
      dropped: at(Slot.Dropped),
      truncated: at(Slot.Truncated),
      noCandidate: at(Slot.NoCandidate),
      batches: at(Slot.Batches),
      sendErrors: at(Slot.SendErrors),
      overLimit: at(Slot.OverLimit),
      byRcode,
      byType,
      byScriptOutcome,
      byCookie,
      byProxyOutcome,
      rateLimited: this.#rateLimited(),
      rateCrowded: at(crowdedSlot),
      times: {
        sumMs: at(Slot.Time),
        classes: [...timeBoundsMs, Infinity].map((uptoMs, row) => ({
          uptoMs,
          count: at(Slot.Time + 1 + row),
        })),
      },
    }
  }

  #rateLimited(): ThreadCounts['rateLimited'] {
    return answerClassNames.flatMap((name, kind) =>
      limitActions.map((action, i) => ({
        ...{ class: name, action },
        count: this.#slots[limitedSlot + kind * actions + i]!,
      })),
    )
  }
}

export interface CounterSnapshot extends ThreadCounts {
  readonly byRcode: Readonly<Record<number, number>>
}

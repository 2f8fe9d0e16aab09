// A follower of a zone with primary servers and a clock of its own, for tests.
import { setImmediate } from 'node:timers/promises'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { PrimaryQuestion } from '#zones/inbound/ask-primary.ts'
import { ZoneFollower } from '#zones/inbound/zone-follower.ts'
import type { Acceptance, Came, StoredZone, TakeFault } from '#zones/inbound/zone-follower.ts'
import { isNewer } from '#zones/inbound/transfer-reader.ts'
import type { Transferred } from '#zones/inbound/transfer-reader.ts'
import { RecordList } from '#dns/zone-file/record-list.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { silentLog } from '#test/support/ephemeral-adapters.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

export const timers = { refresh: 3_600, retry: 600, expire: 86_400 }
const first = { address: '192.0.2.53', port: 53 }
const second = { address: '198.51.100.53', port: 5_353 }

/** What control nodes share: the repository, where each hears of the commits of all. */
class Shared {
  readonly time = new FakeTime(1_800_000_000_000)
  readonly followers: ZoneFollower[] = []
  stored: StoredZone | undefined
  /** What they tell each other; undefined: they share nothing but the repository. */
  contactMs: number | undefined

  commit(stored: StoredZone): void {
    this.stored = stored
    for (const follower of this.followers) follower.storedChanged()
  }
}

/** A node with one follower, and its two primary servers. */
export class World {
  readonly shared: Shared
  readonly asked: { readonly port: number; readonly question: PrimaryQuestion }[] = []
  readonly marks: boolean[] = []
  readonly taken: (Acceptance | undefined)[] = []
  /** Serial of a server by its port; undefined: it is away. */
  readonly serials = new Map<number, number | undefined>([[53, 1]])
  fault: TakeFault | undefined
  /** People have written the files. */
  isWritten = false
  /** What another node does while this one asks, or writes. */
  meanwhile: {
    readonly asks?: () => void
    readonly writes?: () => void
    readonly hears?: () => void
  } = {}
  /** Serial of what a transfer brings; undefined: the one that was told. */
  sent: number | undefined
  stopSignal: AbortSignal | undefined
  contactAtMs = 0
  follower: ZoneFollower

  constructor(contactAtMs = 0, stored?: StoredZone, shared = new Shared()) {
    this.shared = shared
    if (stored !== undefined) this.stored = stored
    this.follower = this.#make(contactAtMs)
    shared.followers.push(this.follower)
  }

  get time(): FakeTime {
    return this.shared.time
  }

  get stored(): StoredZone | undefined {
    return this.shared.stored
  }

  set stored(stored: StoredZone) {
    this.shared.stored = stored
  }

  #make(contactAtMs: number): ZoneFollower {
    const { clock, after } = this.time
    return new ZoneFollower({
      ...{ name: 'example.com.', zone: wireName('example.com.'), clock, after, log: silentLog },
      primaries: [first, second],
      random: { next: () => 0 },
      key: () => ok(undefined),
      ask: async ({ port }, question, stop) => {
        this.stopSignal = stop
        return this.#answer(port, question)
      },
      stored: () => this.stored,
      isAsItCame: async () => !this.isWritten,
      take: async (came, accepted) => this.#take(came, accepted),
      markExpired: async (isExpired) => {
        this.marks.push(isExpired)
        this.shared.commit({ ...this.stored!, isExpired })
        return ok(null)
      },
      contactAtMs,
      onContact: (atMs) => {
        this.contactAtMs = atMs
        if (this.shared.contactMs !== undefined) this.shared.contactMs = atMs
      },
      sharedContactMs: async () => {
        this.meanwhile.hears?.()
        return this.shared.contactMs ?? 0
      },
    })
  }

  #answer(port: number, question: PrimaryQuestion): Result<Transferred, string> {
    this.asked.push({ port, question })
    const serial = this.serials.get(port)
    if (serial === undefined) return err('refuses the connection')
    const soa = { serial, ...timers }
    const { serial: known, wants, refused } = question
    const isAnew = wants === 'anew' && serial === known
    const isThere = known !== undefined && !isAnew && !isNewer(serial, known)
    this.meanwhile.asks?.()
    if (wants !== 'force' && (isThere || serial === refused)) return ok({ is: 'current', soa })
    const sent = { ...soa, serial: this.sent ?? serial }
    if (wants === 'changes' && known !== undefined) {
      return ok({ is: 'changes', soa: sent, changes: [] })
    }
    return ok({ is: 'whole', soa: sent, records: new RecordList() })
  }

  #take({ is, soa }: Came, accepted: Acceptance | undefined): Result<null, TakeFault> {
    const isMisfit = this.fault?.is === 'misfit' && is === 'whole'
    this.meanwhile.writes?.()
    if (this.fault !== undefined && accepted === undefined && !isMisfit) return err(this.fault)
    this.taken.push(accepted)
    this.isWritten = false
    this.shared.commit({ soa, isExpired: false })
    return ok(null)
  }

  async pass(ms: number): Promise<void> {
    this.time.pass(ms)
    for (let i = 0; i < 5; i++) await setImmediate()
  }

  async started(): Promise<void> {
    this.follower.start()
    await this.pass(0)
  }
}

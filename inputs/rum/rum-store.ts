// Stores real-user measurements: smoothed, expiring, in memory that the answer path reads.
import { uidOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { parseAddress, formatAddress, isMappedIpv4 } from '#dns/address.ts'
import type { Clock } from '#lib/clock.ts'
import { RumKind, rumSlots, rumTableBytes } from '#routing/rum/table.ts'
import { membersAt, rumMembers, wordsOfUid } from '#routing/rum/targets.ts'
import { RumTableWriter } from './rum-table-writer.ts'

export const rumLimits = {
  subnetsMax: 50_000,
  /** Measurements of all subnets, and one entry for each measured member. */
  entriesMax: rumSlots / 2,
  expiryMs: 1_800_000,
  latencyMsMax: 60_000,
  /** Weight of a new sample: half of a change shows after two samples. */
  alpha: 0.3,
  /** A report of this age counts half, of twice this age a quarter. Beacons report as often. */
  reportHalfLifeMs: 600_000,
} as const

interface RumStatus {
  readonly subnets: number
  /** Number of current averages, one for each subnet and member. */
  readonly measurements: number
  /** By uid of the member: how many subnets have measured it. */
  readonly subnetsByMember: ReadonlyMap<string, number>
}

/** A measurement that a browser reports. */
interface RumSample {
  /** Address of the measured member. */
  readonly ip: string
  readonly latencyMs: number
}

/** An average, by network and member. */
interface Entry {
  readonly subnet: Subnet
  readonly member: Member
  ms: number
  measuredMs: number
  /** Its weight in reports, as of `measuredMs`. */
  reports: number
}

interface Subnet extends RumNetwork {
  readonly key: string
  readonly entries: Map<string, Entry>
}

interface Member {
  readonly key: string
  readonly uid: Uint32Array
  subnets: number
}

/** Whether the latency is possible: above 0, at most a minute. */
export function isRumLatency(latencyMs: number): boolean {
  return latencyMs > 0 && latencyMs <= rumLimits.latencyMsMax
}

/**
 * The only writer of the table, which every answering thread reads. When it is full, the subnet
 * without measurements for longest is dropped.
 */
export class RumStore {
  readonly buffer = new SharedArrayBuffer(rumTableBytes)
  readonly #clock: Clock
  readonly #table = new RumTableWriter(this.buffer)
  /** Ordered by their last measurement, the oldest first. */
  readonly #subnets = new Map<string, Subnet>()
  readonly #entries = new Set<Entry>()
  readonly #members = new Map<string, Member>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Takes one measurement.
   *
   * @param address of the client: 4 or 16 octets
   * @param uid of the member, as `wordsOfUid` gives it
   * @param latencyMs for which `isRumLatency` holds
   * @param report which part of a report it is
   */
  record(address: Uint8Array, uid: Uint32Array, latencyMs: number, report = 0): void {
    this.sweep()
    this.#table.change(() => {
      const subnet = this.#subnetOf(address)
      const memberKey = hexOf(uid)
      const known = subnet.entries.get(memberKey)
      const entry = known ?? this.#newEntry(subnet, memberKey, uid)
      entry.ms =
        known === undefined ? latencyMs : known.ms + rumLimits.alpha * (latencyMs - known.ms)
      entry.reports = this.#reportsOf(entry) + report
      entry.measuredMs = this.#clock.monotonicMs()
      this.#entries.delete(entry)
      this.#entries.add(entry)
      this.#table.set(subnet.high, subnet.low, uid, entry.ms)
    })
  }

  /**
   * Takes what a browser has measured for a domain. A sample counts when its address is that of a
   * member with a `rumUrl` in the pool of the domain, and its latency can be; of one address, one:
   * a single request must not replace the average of a whole network.
   *
   * @param address of the client: 4 or 16 octets
   * @returns how many of the samples count
   */
  ingest(
    bundle: Bundle,
    domain: string,
    address: Uint8Array,
    samples: readonly RumSample[],
  ): number {
    const members = rumMembers(bundle, domain)
    const taken = new Map<
      number,
      { readonly found: readonly number[]; readonly latencyMs: number }
    >()
    for (const { ip, latencyMs } of samples) {
      const octets = parseAddress(ip)
      const found = octets.ok ? membersAt(bundle, members, octets.value) : []
      const [first] = found
      if (first === undefined || taken.has(first) || !isRumLatency(latencyMs)) continue
      taken.set(first, { found, latencyMs })
    }
    for (const { found, latencyMs } of taken.values()) {
      const report = 1 / (taken.size * found.length)
      for (const member of found) {
        this.record(address, wordsOfUid(bundle, member), latencyMs, report)
      }
    }
    return taken.size
  }

  /**
   * How much is reported from where: a report counts the less the older it is
   * (`rumLimits.reportHalfLifeMs`), so that all networks are counted over the same time.
   *
   * @param counts which members are meant, by uid
   * @returns reports by network, such as `192.0.2.0/24`; each above 0
   */
  reportsByNetwork(counts: (uid: string) => boolean): ReadonlyMap<string, number> {
    this.sweep()
    const members = this.#membersOf(counts)
    const byNetwork = new Map<string, number>()
    for (const subnet of this.#subnets.values()) {
      let reports = 0
      for (const entry of subnet.entries.values()) {
        if (members.has(entry.member)) reports += this.#reportsOf(entry)
      }
      if (reports > 0) byNetwork.set(rumNetworkText(subnet), reports)
    }
    return byNetwork
  }

  #membersOf(counts: (uid: string) => boolean): ReadonlySet<Member> {
    const all = this.#members.values()
    return new Set(all.filter(({ uid }) => counts(uidOf(new Uint8Array(uid.buffer), 0))))
  }

  #reportsOf({ reports, measuredMs }: Entry): number {
    const ageMs = this.#clock.monotonicMs() - measuredMs
    return reports * 2 ** (-ageMs / rumLimits.reportHalfLifeMs)
  }

  /** Drops old measurements. Called before each sample, and periodically. */
  sweep(): void {
    const oldestMs = this.#clock.monotonicMs() - rumLimits.expiryMs
    const [first] = this.#entries
    if (first === undefined || first.measuredMs > oldestMs) return
    this.#table.change(() => {
      for (const entry of this.#entries) {
        if (entry.measuredMs > oldestMs) break
        this.#forget(entry)
      }
    })
  }

  /** @param counts selects members by uid */
  status(counts: (uid: string) => boolean = () => true): RumStatus {
    this.sweep()
    const members = this.#membersOf(counts)
    const subnetsByMember = new Map<string, number>()
    let measurements = 0
    for (const member of members) {
      subnetsByMember.set(uidOf(new Uint8Array(member.uid.buffer), 0), member.subnets)
      measurements += member.subnets
    }
    return { subnets: this.#subnetsOf(members), measurements, subnetsByMember }
  }

  #subnetsOf(members: ReadonlySet<Member>): number {
    if (members.size === this.#members.size) return this.#subnets.size
    let subnets = 0
    for (const { entries } of this.#subnets.values()) {
      if (entries.values().some(({ member }) => members.has(member))) subnets++
    }
    return subnets
  }

  #subnetOf(address: Uint8Array): Subnet {
    const { high, low } = rumNetworkOf(address)
    const key = `${low}:${high}`
    const known = this.#subnets.get(key)
    if (known === undefined && this.#subnets.size >= rumLimits.subnetsMax) this.#evict()
    const subnet = known ?? { key, high, low, entries: new Map<string, Entry>() }
    this.#subnets.delete(key)
    this.#subnets.set(key, subnet)
    return subnet
  }

  #newEntry(subnet: Subnet, memberKey: string, uid: Uint32Array): Entry {
    // Room for the entry, and for the member's own.
    while (this.#entries.size + this.#members.size + 2 > rumLimits.entriesMax) this.#evict()
    // Making room may have dropped this subnet.
    this.#subnets.set(subnet.key, subnet)
    const member = this.#members.get(memberKey) ?? { key: memberKey, uid: uid.slice(), subnets: 0 }
    this.#members.set(memberKey, member)
    member.subnets++
    this.#table.set(0, RumKind.AnyNetwork, uid, member.subnets)
    const entry = { subnet, member, ms: 0, measuredMs: 0, reports: 0 }
    subnet.entries.set(memberKey, entry)
    return entry
  }

  #evict(): void {
    const [oldest] = this.#subnets.values()
    if (oldest === undefined) return
    for (const entry of oldest.entries.values()) this.#forget(entry)
    this.#subnets.delete(oldest.key)
  }

  #forget(entry: Entry): void {
    const { subnet, member } = entry
    this.#entries.delete(entry)
    this.#table.remove(subnet.high, subnet.low, member.uid)
    subnet.entries.delete(member.key)
    if (subnet.entries.size === 0) this.#subnets.delete(subnet.key)
    member.subnets--
    if (member.subnets > 0) this.#table.set(0, RumKind.AnyNetwork, member.uid, member.subnets)
    else {
      this.#members.delete(member.key)
      this.#table.remove(0, RumKind.AnyNetwork, member.uid)
    }
  }
}

/** @returns the 16 octets in memory order, as people read them */
function hexOf(uid: Uint32Array): string {
  return Buffer.from(uid.buffer, uid.byteOffset, 16).toString('hex')
}

/** In the form of an entry of the table. */
interface RumNetwork {
  readonly high: number
  readonly low: number
}

/** @param octets of an address: 4 or 16 */
function rumNetworkOf(octets: Uint8Array): RumNetwork {
  const isMapped = isMappedIpv4(octets)
  if (octets.length === 4 || isMapped) {
    const at = isMapped ? 12 : 0
    return { high: (octets[at]! << 16) | (octets[at + 1]! << 8) | octets[at + 2]!, low: RumKind.V4 }
  }
  const high = (octets[0]! << 24) | (octets[1]! << 16) | (octets[2]! << 8) | octets[3]!
  return { high: high >>> 0, low: RumKind.V6 | (octets[4]! << 8) | octets[5]! }
}

/** Formats a network for people. */
function rumNetworkText({ high, low }: RumNetwork): string {
  if (low === RumKind.V4) {
    return `${formatAddress(Uint8Array.of(high >>> 16, high >>> 8, high, 0))}/24`
  }
  const octets = new Uint8Array(16)
  octets.set([high >>> 24, high >>> 16, high >>> 8, high, low >>> 8, low])
  return `${formatAddress(octets)}/48`
}

// Keeps one follower for each zone that gslb.yaml takes from other servers, and passes NOTIFY to
// them.
import { primaryOf } from '#compiler/values/primaries.ts'
import type { ConfigView } from '#config/view.ts'
import type { AddressPort } from '#dns/address-port.ts'
import { formatAddress, isMappedIpv4 } from '#dns/address.ts'
import { Flag1, HeaderOffset } from '#dns/header.ts'
import { readMessageName } from '#dns/message-name.ts'
import { foldName, formatName, parseName } from '#dns/name.ts'
import { Rcode } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { inSlices } from '#lib/thread/slices.ts'
import type { After } from '#lib/timer.ts'
import { areTooMany } from '#judge/guard/removal.ts'
import { removedNamesDefault } from '#schemas/objects/guardrails.ts'
import type { Zone } from '#schemas/objects/zone.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import type { KeptTexts } from '#state/ports/kept-texts.ts'
import type { ZoneContacts } from '#state/file/zone-contacts.ts'
import { askPrimary } from '#zones/inbound/ask-primary.ts'
import { inboundLimits } from '#zones/inbound/limits.ts'
import { ZoneFollower } from '#zones/inbound/zone-follower.ts'
import type { FollowStatus, StoredZone } from '#zones/inbound/zone-follower.ts'
import { inboundIndexOf } from './inbound-index.ts'
import { expiryOf, filesOf } from './record-files.ts'
import type { FilesPlan, InboundFiles } from './record-files.ts'
import { writeZone } from './take-zone.ts'
import type { Write } from './take-zone.ts'
import { headOf, isAsItCame } from './zone-digest.ts'

interface InboundZonesParts {
  readonly config: ConfigView
  readonly write: Write
  /** @param name wire form, lower case */
  readonly findKey: (name: Uint8Array) => TsigKey | undefined
  readonly contacts: ZoneContacts
  /** What control nodes tell each other of contacts. */
  readonly shared: KeptTexts
  readonly clock: Clock
  readonly after: After
  readonly random: Pick<Random, 'next'>
  readonly log: Log
}

interface Followed {
  /** What of gslb.yaml it was made by. */
  readonly made: string
  readonly primaries: readonly AddressPort[]
  readonly follower: ZoneFollower
}

/** 0: it says none. */
function contactIn(text: string | null): number {
  const atMs = Number(text ?? 0)
  return Number.isFinite(atMs) && atMs > 0 ? atMs : 0
}

/** Pause while the configuration is not read: nothing announces that it is. */
const unreadyMs = 500

export class InboundZones {
  readonly #parts: InboundZonesParts
  readonly #followed = new Map<string, Followed>()
  #isStopped = false
  /** Zones without `from` whose mark of expiry is being taken away now. */
  readonly #unmarked = new Set<string>()
  /** Followers that end, by their zones. */
  readonly #ending = new Map<string, Promise<void>>()
  #leave: () => void = () => undefined
  #callOff: () => void = () => undefined
  /** Transfers under way, and what waits for one of them to end. */
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(parts: InboundZonesParts) {
    this.#parts = parts
  }

  start(): void {
    this.#leave = this.#parts.config.onChange(() => this.#look())
    this.#look()
  }

  async stop(): Promise<void> {
    this.#leave()
    this.#callOff()
    this.#isStopped = true
    for (const [name, { follower }] of this.#followed) this.#end(name, follower)
    await Promise.all(this.#ending.values())
    this.#parts.contacts.flush(new Set(this.#followed.keys()))
  }

  status(): readonly FollowStatus[] {
    return Array.from(this.#followed.values(), ({ follower }) => follower.status())
  }

  /** Errors: why it is not taken. @returns the serial that is here now; undefined: no such zone */
  async accept(zone: string, reason: string): Promise<Result<number, string> | undefined> {
    return await this.#followed.get(zone)?.follower.accept({ reason })
  }

  /**
   * Takes a NOTIFY message, which asks for a look and no more, so that its signature does not
   * matter: it must come from a primary server of the zone. RFC 1996 section 3.10.
   */
  notice(message: Uint8Array, client: Uint8Array): Rcode {
    const name = readMessageName(message, HeaderOffset.End)
    if (name === undefined || name.end + 4 > message.length) return Rcode.FormErr
    const isQuestion = (message[HeaderOffset.Flags1]! & Flag1.Qr) === 0
    const type = (message[name.end]! << 8) | message[name.end + 1]!
    if (!isQuestion || type !== RrType.SOA) return Rcode.FormErr
    const followed = this.#followed.get(formatName(foldName(name.wire)))
    if (followed === undefined) return Rcode.NotAuth
    const isMapped = client.length === 16 && isMappedIpv4(client)
    const address = formatAddress(isMapped ? client.subarray(12) : client)
    if (!followed.primaries.some((one) => one.address === address)) return Rcode.Refused
    followed.follower.notice()
    return Rcode.NoError
  }

  #look(): void {
    const { config, after } = this.#parts
    this.#callOff()
    if (this.#isStopped) return
    if (!config.isReady()) {
      this.#callOff = after(unreadyMs, () => this.#look())
      return
    }
    const wanted = new Map<string, Zone>()
    for (const [name, zone] of inboundIndexOf(config.snapshot()).zones) {
      if (zone.from !== undefined) wanted.set(name, zone)
      else this.#unmark(name)
    }
    for (const [name, { made, follower }] of this.#followed) {
      const zone = wanted.get(name)
      if (zone !== undefined && JSON.stringify(zone.from) === made) {
        follower.storedChanged()
        continue
      }
      this.#end(name, follower)
      this.#followed.delete(name)
    }
    for (const [name, zone] of wanted) {
      if (!this.#followed.has(name)) this.#follow(name, zone)
    }
  }

  /** With `from` again, an old mark would count before any primary server is asked. */
  #unmark(name: string): void {
    if (this.#unmarked.has(name) || storedOf(this.#filesOf(name))?.isExpired !== true) return
    this.#unmarked.add(name)
    const subject = `${name} comes from elsewhere no more: that it has expired counts no longer`
    const { log } = this.#parts
    this.#write(expiryOf(this.#filesOf(name), false), subject)
      .then((done) => {
        if (!done.ok) log.warn({ zone: name, reason: done.error.reason }, markStays)
      })
      .catch((error: unknown) => log.warn({ zone: name, err: error }, markStays))
      .finally(() => this.#unmarked.delete(name))
  }

  #end(name: string, follower: ZoneFollower): void {
    const ends = [this.#ending.get(name) ?? Promise.resolve(), follower.stop()]
    const ending: Promise<void> = Promise.all(ends).then(() => {
      if (this.#ending.get(name) === ending) this.#ending.delete(name)
    })
    this.#ending.set(name, ending)
  }

  #follow(name: string, { from }: Zone): void {
    const wire = parseName(name)
    if (!wire.ok || from === undefined) return
    assert(!this.#followed.has(name), 'a zone is followed once')
    const primaries = from.primaries.flatMap((text) => primaryOf(text, from.tls) ?? [])
    const tls = from.tls?.replace(/\.$/, '')
    const { clock, after, random, log, contacts, shared } = this.#parts
    const follower = new ZoneFollower({
      ...{ name, zone: foldName(wire.value), primaries, clock, after, random, log },
      key: () => this.#keyOf(from.key),
      ask: (primary, question, stop) => {
        const nowSeconds = (): number => Math.floor(clock.nowMs() / 1_000)
        return this.#inTurn(() => askPrimary(primary, question, { nowSeconds, stop, tls }), stop)
      },
      stored: () => storedOf(this.#filesOf(name)),
      isAsItCame: async () => await inSlices(isAsItCame(this.#filesOf(name).entries), clock),
      take: async (came, accepted, stop) => {
        const plan = await inSlices(filesOf(this.#filesOf(name), came), clock)
        if (stop.aborted) return err({ is: 'later', reason: notFollowed })
        if (!plan.ok) return plan
        const held = accepted === undefined ? this.#tooMuch(plan.value) : undefined
        if (held !== undefined) return err({ is: 'held', reason: held })
        const subject = `${name} by zone transfer: serial ${came.soa.serial}`
        return await this.#write(plan.value.operations, subject, accepted?.reason)
      },
      markExpired: async (isExpired) => {
        const operations = expiryOf(this.#filesOf(name), isExpired)
        const subject = isExpired
          ? `${name} has expired: no primary server answers`
          : `${name} has not expired: a primary server answers again`
        return await this.#write(operations, subject, isExpired ? subject : undefined)
      },
      contactAtMs: contacts.of(name),
      onContact: (atMs, expireMs) => {
        contacts.heard(name, atMs)
        shared.publish(name, `${Math.floor(atMs)}`, expireMs).catch(() => undefined)
      },
      // Without it, this node goes by what it has heard itself.
      sharedContactMs: async () => await shared.read(name).then(contactIn, () => 0),
    })
    this.#followed.set(name, { made: JSON.stringify(from), primaries, follower })
    // The one before may be writing: what it writes is then there before this one asks.
    void (this.#ending.get(name) ?? Promise.resolve()).then(() => follower.start())
  }

  #write(operations: Parameters<typeof writeZone>[1], subject: string, override?: string) {
    const nowMs = this.#parts.clock.nowMs()
    return writeZone(this.#parts.write, operations, { subject, override, nowMs })
  }

  /** The guardrails count names of all zones: here, those of this zone alone. */
  #tooMuch({ lost, names }: FilesPlan): string | undefined {
    const [settings] = this.#parts.config.snapshot().list('Settings')
    const { removedNames = removedNamesDefault } = settings?.object.spec.guardrails ?? {}
    if (!areTooMany(lost.length, names, removedNames)) return undefined
    const more = lost.length > namesShown ? ', …' : ''
    const shown = `${lost.slice(0, namesShown).join(', ')}${more}`
    return (
      `it removes ${lost.length} of the ${names} names of the zone (${shown}), and ` +
      `guardrails.removedNames permits ${removedNames} %`
    )
  }

  #keyOf(name: string | undefined): Result<TsigKey | undefined, string> {
    if (name === undefined) return ok(undefined)
    const wire = parseName(name.endsWith('.') ? name : `${name}.`)
    const key = wire.ok ? this.#parts.findKey(foldName(wire.value)) : undefined
    if (key !== undefined) return ok(key)
    return err(`there is no TSIG key ${name} here: make it by POST /api/v1/dns/tsig-keys`)
  }

  #filesOf(name: string): InboundFiles {
    const snapshot = this.#parts.config.snapshot()
    const { zones, entriesOf } = inboundIndexOf(snapshot)
    const zone = zones.get(name)
    const wire = parseName(name)
    const tenant = zone?.tenants?.[0] ?? defaultTenant
    return {
      ...{ name, zone: wire.ok ? foldName(wire.value) : new Uint8Array(1), tenant },
      isTaken: (one) => snapshot.holderOf('Records', tenant, one) !== undefined,
      isSigned: zone?.dnssec?.enabled === true,
      entries: entriesOf.get(name) ?? [],
    }
  }

  /** @returns false: it has stopped before its turn */
  #turn(stop: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        resolve(false)
      }
      const begin = (): void => {
        stop.removeEventListener('abort', leave)
        resolve(true)
      }
      stop.addEventListener('abort', leave, { once: true })
      this.#waiting.push(begin)
    })
  }

  /** Runs so many at once, and the rest one after the other; what stops waits no longer. */
  async #inTurn<T>(
    work: () => Promise<Result<T, string>>,
    stop: AbortSignal,
  ): Promise<Result<T, string>> {
    if (stop.aborted) return err(notFollowed)
    if (this.#running >= inboundLimits.runningMax) {
      if (!(await this.#turn(stop))) return err(notFollowed)
    } else this.#running++
    try {
      return await work()
    } finally {
      assert(this.#running > 0, 'a transfer that ends was under way')
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
const notFollowed = 'is not asked any more'
const namesShown = 5
const markStays =
  'the zone has no `from`, and a file of it says `expired`, which would count with `from` again: ' +
  'it is taken away after the next commit, or take it out of `transfer` there'

function storedOf({ entries }: InboundFiles): StoredZone | undefined {
  const transfer = headOf(entries)?.object.spec.transfer
  if (transfer?.soa === undefined) return undefined
  return { soa: transfer.soa, isExpired: transfer.expired === true }
}

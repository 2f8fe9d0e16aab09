// Pushes a zone to a DNS server by signed updates (RFC 2136); what is there is read by a transfer
// (RFC 5936).
import { randomInt } from 'node:crypto'
import { Flag2, HeaderOffset, Opcode, QClass } from '#dns/header.ts'
import { readMessageName } from '#dns/message-name.ts'
import { foldName, formatName, isAtOrBelow, parseName, sameOctets } from '#dns/name.ts'
import { Rcode, rcodeNames } from '#dns/rcode.ts'
import { parseRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { wholeRdata } from '#dns/message-rdata.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { pushLimits } from '#integrations/zone-push/limits.ts'
import type { PushTarget, Sent, SetChange } from '#integrations/zone-push/push-target.ts'
import { setsOf, spellings } from '#integrations/zone-push/record-sets.ts'
import type { Spellings } from '#integrations/zone-push/record-sets.ts'
import { exchangeSigned } from '#integrations/zone-push/signed-exchange.ts'
import type { DnsServer } from '#integrations/zone-push/signed-exchange.ts'

interface Rfc2136Parts {
  /** Absolute, in lower case. */
  readonly zone: string
  readonly server: DnsServer
  /** Read anew for each use: its file may be replaced. Errors: a sentence. */
  readonly key: () => Result<TsigKey, string>
  readonly clock: Pick<Clock, 'nowMs'>
}

export function createRfc2136(parts: Rfc2136Parts): PushTarget {
  const { zone, server, key, clock } = parts
  const wire = wireOf(zone)
  let spelled: Spellings = () => undefined
  return {
    place: `rfc2136 ${server.address} ${server.port} ${zone}`,
    fit: (set) => set,
    weightMax: pushLimits.updateBytesMax,
    weigh: bytesOf,
    read: async (signal) => {
      const found = key()
      if (!found.ok) return found
      const transfer = new Transfer(wire)
      const asked = questionOf(wire, RrType.AXFR, Opcode.Query)
      const done = await exchangeSigned({
        ...{ server, request: asked, key: found.value, clock, signal },
        take: (message) => transfer.take(message),
      })
      if (!done.ok) return done
      spelled = spellings(transfer.records)
      return ok([...setsOf(transfer.records).values()])
    },
    send: async (changes, signal) => {
      const found = key()
      if (!found.ok) return { is: 'stopped', why: found.error }
      const request = updateOf(wire, changes, spelled)
      if (request.length > 0xffff) return { is: 'refused', why: 'they do not fit into one update' }
      let rcode = 0
      const take = (message: Uint8Array): Result<boolean, string> => {
        rcode = message[HeaderOffset.Flags2]! & Flag2.RcodeMask
        return ok(true)
      }
      const sent = await exchangeSigned({ server, request, key: found.value, clock, signal, take })
      if (!sent.ok) return { is: 'failed', why: sent.error }
      return outcomeOf(rcode, formatName(found.value.name))
    },
  }
}

function outcomeOf(rcode: number, key: string): Sent {
  if (rcode === 0) return { is: 'done' }
  const name = rcodeNames[rcode] ?? `RCODE${rcode}`
  const hint = name === 'REFUSED' ? `; see whether the key ${key} may update the zone there` : ''
  // REFUSED may be meant for one record: BIND says so of names and targets that it checks.
  const isOfZone = rcode === Rcode.NotAuth || rcode === Rcode.NotImp
  const why = `the server answers ${name} to the update${hint}`
  return { is: isOfZone ? 'stopped' : 'refused', why }
}

/** The records of a zone, as they come in. */
class Transfer {
  readonly records: ZoneRecord[] = []
  readonly #zone: Uint8Array
  #soas = 0

  constructor(zone: Uint8Array) {
    this.#zone = zone
  }

  take(message: Uint8Array): Result<boolean, string> {
    const rcode = message[HeaderOffset.Flags2]! & Flag2.RcodeMask
    if (rcode !== 0) {
      const name = rcodeNames[rcode] ?? `RCODE${rcode}`
      return err(`answers ${name} to the transfer; let the key transfer the zone there`)
    }
    const view = new DataView(message.buffer, message.byteOffset, message.length)
    let at: number = HeaderOffset.End
    for (let left = view.getUint16(HeaderOffset.QdCount); left > 0; left--) {
      const asked = readMessageName(message, at)
      if (asked === undefined) return err(nonsense)
      at = asked.end + 4
    }
    for (let left = view.getUint16(HeaderOffset.AnCount); left > 0; left--) {
      const end = this.#record(message, view, at)
      if (end === undefined) return err(nonsense)
      if (this.records.length > pushLimits.recordsMax) return err(tooMany)
      if (this.#soas === 2) return ok(true)
      at = end
    }
    return ok(false)
  }

  /** @returns where the next one begins; undefined: it cannot be read */
  #record(message: Uint8Array, view: DataView, at: number): number | undefined {
    const name = readMessageName(message, at)
    if (name === undefined || name.end + 10 > message.length) return undefined
    const type = view.getUint16(name.end)
    const start = name.end + 10
    const end = start + view.getUint16(name.end + 8)
    if (end > message.length) return undefined
    const owner = foldName(name.wire)
    const rdata = wholeRdata(message, type, start, end)
    if (rdata === undefined) return undefined
    const isSoa = type === RrType.SOA && sameOctets(owner, this.#zone)
    if (isSoa) this.#soas++
    // A transfer begins with the SOA record.
    if (this.#soas === 0) return undefined
    if (!isSoa && isAtOrBelow(owner, this.#zone)) {
      this.records.push({ owner, type, ttl: view.getUint32(name.end + 4), rdata })
    }
    return end
  }
}

const nonsense = 'sends a transfer that cannot be read'
const tooMany = `has more than ${pushLimits.recordsMax} records in the zone`

/** A header, and a question or the zone of an update. */
function questionOf(name: Uint8Array, type: number, opcode: number): Buffer {
  const message = Buffer.alloc(HeaderOffset.End + name.length + 4)
  message.writeUInt16BE(randomInt(0x1_0000), HeaderOffset.Id)
  message[HeaderOffset.Flags1] = opcode << 3
  message.writeUInt16BE(1, HeaderOffset.QdCount)
  message.set(name, HeaderOffset.End)
  message.writeUInt16BE(type, message.length - 4)
  message.writeUInt16BE(QClass.In, message.length - 2)
  return message
}

/**
 * Deletions first: a CNAME record and another one may change places. RFC 2136 section 3.4.2.
 *
 * A server does not delete the last name server of a zone, and says nothing (section 3.4.2.4), so
 * new ones come before old ones go. PowerDNS deletes them when all else is done: what stays is not
 * deleted to get another TTL, and Knot DNS keeps the old one.
 */
function updateOf(zone: Uint8Array, changes: readonly SetChange[], spelled: Spellings): Buffer {
  const deleted = (change: SetChange, value: string): Buffer => deletion(change, value, spelled)
  const apex = formatName(zone)
  const isOfApexNs = ({ owner, type }: SetChange): boolean => owner === apex && type === 'NS'
  const others = changes.filter((change) => !isOfApexNs(change))
  const records = [
    ...changes
      .filter(isOfApexNs)
      .flatMap((change) => [
        ...comingOf(change).map((value) => addition(change, value)),
        ...change.deletes.map((value) => deleted(change, value)),
      ]),
    ...others.flatMap((change) => goneOf(change).map((value) => deleted(change, value))),
    ...others.flatMap((change) => comingOf(change).map((value) => addition(change, value))),
  ]
  const message = Buffer.concat([questionOf(zone, RrType.SOA, Opcode.Update), ...records])
  message.writeUInt16BE(records.length, HeaderOffset.NsCount)
  return message
}

const addition = (change: SetChange, value: string): Buffer =>
  recordOf(change, rdataOf(change, value), QClass.In, change.after.ttlSeconds)

/** With the letters that the server has: PowerDNS keeps what is spelled otherwise, with NOERROR. */
const deletion = (change: SetChange, value: string, spelled: Spellings): Buffer =>
  recordOf(change, spelled(change, value) ?? rdataOf(change, value), QClass.None, 0)

const hasNewTtl = ({ before, after }: SetChange): boolean =>
  before !== undefined && after.values.length > 0 && before.ttlSeconds !== after.ttlSeconds

/** With another TTL each record is deleted and added: not all servers give the others it, too. */
const goneOf = (change: SetChange): readonly string[] =>
  hasNewTtl(change) ? change.before!.values : change.deletes
const comingOf = (change: SetChange): readonly string[] =>
  hasNewTtl(change) ? change.after.values : change.adds

function rdataOf(change: SetChange, value: string): Uint8Array {
  const type = rdataTypeNamed(change.type)
  assert(type !== undefined, 'sets have types that are known')
  const rdata = parseRdata(type, value)
  assert(rdata.ok, 'sets have values in canonical form')
  return rdata.value
}

function recordOf(
  change: SetChange,
  rdata: Uint8Array,
  rrClass: number,
  ttlSeconds: number,
): Buffer {
  const type = rdataTypeNamed(change.type)
  assert(type !== undefined, 'sets have types that are known')
  const owner = wireOf(change.owner)
  const record = Buffer.alloc(owner.length + 10 + rdata.length)
  record.set(owner)
  record.writeUInt16BE(type.code, owner.length)
  record.writeUInt16BE(rrClass, owner.length + 2)
  record.writeUInt32BE(ttlSeconds, owner.length + 4)
  record.writeUInt16BE(rdata.length, owner.length + 8)
  record.set(rdata, owner.length + 10)
  return record
}

/** At most: data in text is no shorter than on the wire, but for a few octets of lengths. */
function bytesOf(change: SetChange): number {
  let bytes = 0
  for (const value of [...goneOf(change), ...comingOf(change)]) {
    bytes += change.owner.length + value.length + 32
  }
  return bytes
}

function wireOf(name: string): Uint8Array {
  const wire = parseName(name)
  assert(wire.ok, 'sets have names in canonical form')
  return wire.value
}

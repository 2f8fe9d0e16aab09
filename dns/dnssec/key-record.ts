// The record of a key of a zone: what it is, and what has happened to it, from which follows what
// it does.
// RFC 7583 section 3.
import { createPrivateKey } from 'node:crypto'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { parseName } from '#dns/name.ts'
import { entryFlags, keyTag, zoneKey } from './zone-key.ts'
import type { ZoneKey } from './zone-key.ts'

/** A CSK signs all of a zone; a KSK its keys, and a ZSK the rest. RFC 8499 section 10. */
export const keyRoles = ['csk', 'ksk', 'zsk'] as const
export type KeyRole = (typeof keyRoles)[number]

/**
 * When something happened to a key, in milliseconds since 1970; null: it has not. A time that is
 * there has come, whatever a clock says: clocks go back, and what resolvers have cached does not.
 */
export interface KeyTimes {
  readonly createdMs: number | null
  /** Into the DNSKEY rrset. Null after activeMs: a new algorithm signs before its key is shown. */
  readonly publishedMs: number | null
  /** A ZSK or CSK signs records from here; a KSK signs as soon as it is shown, and leads now. */
  readonly activeMs: number | null
  /** All resolvers know the key: its DS may be given to the parent. CDS and CDNSKEY say so. */
  readonly dsSubmittedMs: number | null
  /** The DS was seen at all servers of the parent. */
  readonly dsSeenMs: number | null
  /** A person said so last, where the parent cannot be asked; the parent's own word ends it. */
  readonly dsSaidMs: number | null
  /** It signs no records any more, or is a KSK that leads no more. */
  readonly retiredMs: number | null
  /** Out of the DNSKEY rrset. */
  readonly removedMs: number | null
}

export interface KeyRecord {
  /** Lower case, with the final dot. */
  readonly zone: string
  readonly tag: number
  readonly algorithm: number
  /** 256 or 257. RFC 4034 section 2.1.1. */
  readonly flags: number
  /** Rdata of its DNSKEY record. */
  readonly publicKey: Uint8Array
  /** PKCS#8, DER; null: it is with somebody else. RFC 8901. */
  readonly secret: Uint8Array | null
  readonly role: KeyRole
  readonly times: KeyTimes
}

/** What a key does in its zone: bits. A CSK that is alone has them all. */
export const KeyUse = {
  /** Stands in the DNSKEY rrset. */
  Published: 1,
  /** Signs every rrset but those of keys; of several keys, each does. */
  SignsRecords: 2,
  /** Signs DNSKEY, CDS and CDNSKEY; of several keys, each does. */
  SignsKeys: 4,
  /** Stands in CDS and CDNSKEY: the parent is to have its DS. RFC 7344. */
  InCds: 8,
} as const
export const everyUse = KeyUse.Published | KeyUse.SignsRecords | KeyUse.SignsKeys | KeyUse.InCds

export interface UsedKey {
  readonly record: KeyRecord
  /** Bits of KeyUse; 0: none. */
  readonly use: number
}

export const noTimes: KeyTimes = {
  createdMs: null,
  publishedMs: null,
  activeMs: null,
  dsSubmittedMs: null,
  dsSeenMs: null,
  dsSaidMs: null,
  retiredMs: null,
  removedMs: null,
}

/** @param records all keys of one zone */
export function keyUses(records: readonly KeyRecord[]): UsedKey[] {
  const own = records.filter((one) => one.secret !== null && isShown(one))
  const entries = own.filter(({ role }) => role !== 'zsk')
  // The parent is to have one key at a time: the last one. Keys of others stand beside it, never
  // alone: with their DS and not that of a key here, every answer of this server were bogus.
  const last = Math.max(...entries.map(({ times }) => times.dsSubmittedMs ?? -Infinity))
  return records.map((record) => ({ record, use: useOf(record, last) }))
}

const isShown = ({ times }: KeyRecord): boolean =>
  times.publishedMs !== null && times.removedMs === null

/** @param lastSubmittedMs of the keys that sign here; -Infinity: no DS of any may be given yet */
function useOf(record: KeyRecord, lastSubmittedMs: number): number {
  const { role, secret, times } = record
  let use = 0
  if (isShown(record)) {
    use |= KeyUse.Published
    if (secret !== null && role !== 'zsk') use |= KeyUse.SignsKeys
    const isWanted =
      secret === null
        ? times.retiredMs === null && lastSubmittedMs !== -Infinity
        : times.dsSubmittedMs === lastSubmittedMs
    if (role !== 'zsk' && times.dsSubmittedMs !== null && isWanted) use |= KeyUse.InCds
  }
  const isSigning = times.activeMs !== null && times.retiredMs === null
  if (secret !== null && role !== 'ksk' && isSigning) use |= KeyUse.SignsRecords
  return use
}

/** Its keys and the rest: a zone is answered with both signatures, or not at all. */
export function signsAll(records: readonly KeyRecord[]): boolean {
  const does = keyUses(records).reduce((all, { use }) => all | use, 0)
  return (does & KeyUse.SignsRecords) !== 0 && (does & KeyUse.SignsKeys) !== 0
}

/** The record of a key that has just been made: nothing has happened to it. */
export function recordOfKey(
  zone: string,
  key: ZoneKey,
  role: KeyRole,
  times: Partial<KeyTimes>,
): KeyRecord {
  return {
    zone,
    tag: key.tag,
    algorithm: key.algorithm.number,
    flags: key.flags,
    publicKey: key.rdata,
    secret: key.privateKey.export({ format: 'der', type: 'pkcs8' }),
    role,
    times: { ...noTimes, ...times },
  }
}

/**
 * The record of a key with which another signer signs the same zone (RFC 8901): it is shown from
 * now on, and where it signs keys, the parent is to have its DS beside that of a key here.
 *
 * @param publicKey rdata of its DNSKEY record
 */
export function foreignRecord(zone: string, publicKey: Uint8Array, nowMs: number): KeyRecord {
  const flags = (publicKey[0]! << 8) | publicKey[1]!
  const isEntry = flags === entryFlags
  return {
    ...{ zone, tag: keyTag(publicKey), algorithm: publicKey[3]!, flags, publicKey, secret: null },
    role: isEntry ? 'ksk' : 'zsk',
    times: {
      ...noTimes,
      createdMs: nowMs,
      publishedMs: nowMs,
      dsSubmittedMs: isEntry ? nowMs : null,
    },
  }
}

/** @returns undefined: only others can sign with it */
export function zoneKeyOf({ secret, flags }: KeyRecord): ZoneKey | undefined {
  if (secret === null) return undefined
  const key = Buffer.from(secret)
  return zoneKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' }), flags)
}

/** A record without its secret, for files and for clients. */
interface KeyRecordJson {
  readonly zone: string
  readonly tag: number
  readonly algorithm: number
  readonly flags: number
  /** Base64 of the rdata. */
  readonly publicKey: string
  readonly role: KeyRole
  readonly times: Partial<KeyTimes>
}

export function keyRecordJson(record: KeyRecord): KeyRecordJson {
  const { zone, tag, algorithm, flags, publicKey, role, times } = record
  const octets = Buffer.from(publicKey).toString('base64')
  return { zone, tag, algorithm, flags, publicKey: octets, role, times: timesJson(times) }
}

/** Nodes of before know no `dsSaidMs`, and would take no keys with it. */
function timesJson({ dsSaidMs, ...times }: KeyTimes): Partial<KeyTimes> {
  return dsSaidMs === null ? times : { ...times, dsSaidMs }
}

/** Rdata of DNSKEY with a key of 4,096 bits is under this. */
const publicKeyBytesMax = 1_024
/** Flags, protocol, algorithm, and some octets of a key. */
const publicKeyBytesMin = 5

/**
 * @param json of a file or a database
 * @param secret PKCS#8, DER; null: another one has it
 * Errors: a sentence without its full stop.
 */
export function readKeyRecord(json: unknown, secret: Uint8Array | null): Result<KeyRecord, string> {
  if (!isObject(json)) return err('the record of a key is no object')
  const { zone, publicKey, role, times } = json
  if (typeof zone !== 'string' || !isZoneName(zone)) {
    return err('"zone" is no name in lower case with a dot at its end')
  }
  if (typeof publicKey !== 'string') return err('"publicKey" is no text')
  const rdata = new Uint8Array(Buffer.from(publicKey, 'base64'))
  if (rdata.length < publicKeyBytesMin || rdata.length > publicKeyBytesMax) {
    return err('"publicKey" is no rdata of a DNSKEY record')
  }
  const knownRole = keyRoles.find((one) => one === role)
  if (knownRole === undefined) return err(`"role" is none of ${keyRoles.join(', ')}`)
  const readTimes = timesOf(times)
  if (readTimes === undefined) return err('"times" has something else than times')
  const flags = (rdata[0]! << 8) | rdata[1]!
  if (flags !== entryFlags && flags !== 256) {
    return err(`the key has the flags ${flags}; a key of a zone in use has 256 or 257`)
  }
  const record: KeyRecord = {
    zone,
    tag: keyTag(rdata),
    algorithm: rdata[3]!,
    flags,
    publicKey: rdata,
    secret,
    role: knownRole,
    times: readTimes,
  }
  for (const field of ['tag', 'algorithm', 'flags'] as const) {
    if (json[field] !== record[field]) return err(`"${field}" is not that of "publicKey"`)
  }
  return isItsSecret(record) ? ok(record) : err('the private key is not the one of "publicKey"')
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isZoneName(zone: string): boolean {
  return zone === zone.toLowerCase() && zone.endsWith('.') && parseName(zone).ok
}

function timesOf(value: unknown): KeyTimes | undefined {
  if (!isObject(value)) return undefined
  const names = Object.keys(noTimes)
  const isTime = (one: unknown): boolean => one === null || Number.isSafeInteger(one)
  if (!Object.keys(value).every((name) => names.includes(name))) return undefined
  if (!Object.values(value).every(isTime)) return undefined
  return { ...noTimes, ...(value as Partial<KeyTimes>) }
}

function isItsSecret(record: KeyRecord): boolean {
  if (record.secret === null) return true
  try {
    const key = zoneKeyOf(record)
    return key !== undefined && Buffer.compare(key.rdata, record.publicKey) === 0
  } catch {
    return false
  }
}

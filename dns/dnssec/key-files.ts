// Key files of other servers: the pair of files that BIND has for a key, and the PEM file that Knot
// has.
import { createPrivateKey } from 'node:crypto'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { formatName, parseName } from '#dns/name.ts'
import { signingAlgorithm, signingAlgorithms } from './algorithms.ts'
import { noTimes } from './key-record.ts'
import type { KeyTimes } from './key-record.ts'
import { entryFlags, zoneKey } from './zone-key.ts'
import type { ZoneKey } from './zone-key.ts'

/** A key and the zone that it is for. */
export interface KeyOfZone {
  /** In wire form. */
  readonly zone: Uint8Array
  readonly key: ZoneKey
}

/** The pair of files, and what their names begin with: `Kexample.org.+013+30225`. */
interface BindKeyFiles {
  readonly stem: string
  /** `.key` */
  readonly record: string
  /** `.private` */
  readonly secret: string
}

const formatLine = 'Private-key-format: v1.3'
/** BIND's files have less than a tenth. */
const textBytesMax = 16_384

/** @param when what has happened to it, or the moment from which it is used */
export function bindKeyFiles({ zone, key }: KeyOfZone, when: number | KeyTimes): BindKeyFiles {
  const { algorithm, privateKey, rdata, flags, tag } = key
  const name = formatName(zone)
  const number = `${algorithm.number}`.padStart(3, '0')
  const octets = Buffer.from(rdata.subarray(4)).toString('base64')
  const secret = Buffer.from(algorithm.privateOctets(privateKey)).toString('base64')
  const times = timeLines(
    typeof when === 'number'
      ? { ...noTimes, createdMs: when, publishedMs: when, activeMs: when }
      : when,
  )
  return {
    // A slash (RFC 2317) cannot be in the name of a file: BIND writes %2F for it.
    stem: `K${name.toLowerCase().replaceAll('/', '%2F')}+${number}+${`${tag}`.padStart(5, '0')}`,
    record: `${[
      `; keyid ${tag}, for ${name}`,
      ...times.map((line) => `; ${line}`),
      `${name} IN DNSKEY ${flags} 3 ${algorithm.number} ${octets}`,
    ].join('\n')}\n`,
    secret: `${[
      formatLine,
      `Algorithm: ${algorithm.number} (${algorithm.mnemonic})`,
      `PrivateKey: ${secret}`,
      ...times,
    ].join('\n')}\n`,
  }
}

/** Returns the zone that the name of a `.key` file says, in lower case; '': it is not named so. */
export function zoneOfKeyFile(file: string): string {
  const [, name = ''] = /^K(.+)\+\d{3}\+\d{5}\.key$/.exec(file) ?? []
  return name.replaceAll(/%2f/gi, '/').toLowerCase()
}

function timeLines(times: KeyTimes): readonly string[] {
  return (Object.keys(timeFields) as (keyof typeof timeFields)[]).flatMap((name) => {
    const ms = times[name]
    if (ms === null) return []
    const time = new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)
    return [`${timeFields[name]}: ${time}`]
  })
}

/** A key of BIND, and what its files say of its life: times that may be to come. */
export interface BindKey extends KeyOfZone {
  readonly times: KeyTimes
}

/** Errors: a sentence that says which of the two files is wrong, and why. */
export function readBindKey(record: string, secret: string): Result<BindKey, string> {
  const declared = readRecord(record)
  if (!declared.ok) return declared
  const { zone, flags, algorithm, octets } = declared.value
  const fields = fieldsOf(secret)
  if (!fields.ok) return fields
  const key = readSecret(fields.value, flags)
  if (!key.ok) return key
  const { rdata } = key.value
  const isSame =
    key.value.algorithm.number === algorithm && Buffer.compare(rdata.subarray(4), octets) === 0
  if (!isSame) return err('the private key is not the one of the DNSKEY record in the .key file')
  return ok({ zone, key: key.value, times: timesOf(fields.value) })
}

/** The public key of another signer. Errors: a sentence. */
export function readPublicKey(
  record: string,
): Result<{ readonly zone: Uint8Array; readonly rdata: Uint8Array }, string> {
  const declared = readRecord(record)
  if (!declared.ok) return declared
  const { zone, flags, algorithm, octets } = declared.value
  if (algorithm > 0xff) return err(`the key is of algorithm ${algorithm}, which is none`)
  const fault = publicFault(algorithm, octets)
  if (fault !== null) return err(fault)
  const head = Uint8Array.of(flags >> 8, flags & 0xff, dnssecProtocol, algorithm)
  return ok({ zone, rdata: new Uint8Array(Buffer.concat([head, octets])) })
}

/** @returns null: it is a key of its algorithm, or nobody here knows that one */
function publicFault(number: number, octets: Uint8Array): string | null {
  const algorithm = signingAlgorithm(number)
  if (algorithm === undefined) return null
  const { mnemonic, publicBytes } = algorithm
  const whole = 'give the whole DNSKEY record as the other server answers it'
  if (octets.length !== publicBytes) {
    const has = `has ${publicBytes} octets, and this one has ${octets.length}`
    return `a public key of ${mnemonic} ${has}: ${whole}`
  }
  if (algorithm.isPublic(octets)) return null
  return `the octets are no public key of ${mnemonic} (no point of its curve): ${whole}`
}

/** RFC 4034 section 2.1.2. */
const dnssecProtocol = 3

interface DeclaredKey {
  readonly zone: Uint8Array
  readonly flags: number
  readonly algorithm: number
  readonly octets: Uint8Array
}

const recordShape = /^(\S+)\s+(?:\d+\s+)?(?:IN\s+)?DNSKEY\s+(\d{1,5})\s+3\s+(\d{1,3})\s+(\S.*)$/i

function readRecord(text: string): Result<DeclaredKey, string> {
  if (text.length > textBytesMax) return err('the .key file is longer than a key')
  const lines = text.split('\n').map((line) => line.replace(/;.*/, '').trim())
  const [line, ...more] = lines.filter((one) => one !== '')
  const found = recordShape.exec(line ?? '')
  if (found === null || more.length > 0) return err('the .key file is not one DNSKEY record')
  const [owner, flags, algorithm, base64] = found.slice(1) as [string, string, string, string]
  const zone = parseName(owner)
  if (!zone.ok) return err('the .key file has no zone name before its DNSKEY record')
  const value = { zone: zone.value, flags: Number(flags), algorithm: Number(algorithm) }
  if (!isZoneKey(value.flags)) {
    return err(`the key has the flags ${flags}; a key of a zone in use has 256 or 257`)
  }
  return ok({ ...value, octets: Buffer.from(base64.replace(/\s+/g, ''), 'base64') })
}

/** RFC 4034 section 2.1.1, without the bit for a revoked key. RFC 5011 section 7. */
const isZoneKey = (flags: number): boolean => flags === 256 || flags === entryFlags

type Fields = ReadonlyMap<string, string>

function fieldsOf(text: string): Result<Fields, string> {
  if (text.length > textBytesMax) return err('the .private file is longer than a key')
  const pairs = text.split('\n').flatMap((line) => {
    const [, word, value] = /^([\w-]+):\s*(.*?)\s*$/.exec(line) ?? []
    return word === undefined ? [] : [[word.toLowerCase(), value!] as const]
  })
  return ok(new Map(pairs))
}

/** What BIND calls the times of a key. */
const timeFields: Readonly<Record<Exclude<keyof KeyTimes, 'dsSaidMs'>, string>> = {
  createdMs: 'Created',
  publishedMs: 'Publish',
  activeMs: 'Activate',
  dsSubmittedMs: 'SyncPublish',
  dsSeenMs: 'DSPublish',
  retiredMs: 'Inactive',
  removedMs: 'Delete',
}

function timesOf(fields: Fields): KeyTimes {
  const times: Record<string, number | null> = { ...noTimes }
  for (const [name, field] of Object.entries(timeFields)) {
    times[name] = timeOf(fields.get(field.toLowerCase()) ?? '')
  }
  return times as unknown as KeyTimes
}

/** `20261129175344`, in UTC. */
function timeOf(text: string): number | null {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text)
  if (parts === null) return null
  const [year, month, day, hour, minute, second] = parts.slice(1)
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(ms) ? null : ms
}

function readSecret(fields: Fields, flags: number): Result<ZoneKey, string> {
  if (!/^v1\.\d+$/.test(fields.get('private-key-format') ?? '')) {
    return err('the .private file does not begin with "Private-key-format: v1.3"')
  }
  const number = /^\d{1,3}/.exec(fields.get('algorithm') ?? '')?.[0]
  const algorithm = number === undefined ? undefined : signingAlgorithm(Number(number))
  if (algorithm === undefined) {
    return err(`the key is of algorithm ${number ?? 'none'}; ${known} can sign here`)
  }
  const octets = Buffer.from(fields.get('privatekey') ?? '', 'base64')
  const privateKey = algorithm.privateFrom(octets)
  if (privateKey === undefined) return err('the .private file has no private key of its algorithm')
  return ok(zoneKey(privateKey, flags)!)
}

const known = signingAlgorithms.map(({ number, mnemonic }) => `${number} (${mnemonic})`).join(', ')

/** A PKCS#8 file, as Knot keeps keys. Errors: a sentence. */
export function readPemKey(pem: string, flags = entryFlags): Result<ZoneKey, string> {
  if (pem.length > textBytesMax) return err('the PEM file is longer than a key')
  try {
    const key = zoneKey(createPrivateKey(pem), flags)
    return key === undefined
      ? err(`the key is of another algorithm; ${known} can sign here`)
      : ok(key)
  } catch {
    return err('the file is not a private key in PEM, without a password')
  }
}

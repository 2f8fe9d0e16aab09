// Takes keys of another server, in files of BIND or Knot, into the folder of a node.
import { readFileSync } from 'node:fs'
import { readBindKey, readPemKey } from '#dns/dnssec/key-files.ts'
import type { BindKey } from '#dns/dnssec/key-files.ts'
import { noTimes } from '#dns/dnssec/key-record.ts'
import { formatName } from '#dns/name.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { storeKey } from './key-store.ts'

interface ImportGiven {
  /** The zone of PEM files, in wire form; null: not given. */
  readonly zone: Uint8Array | null
  /** Text with the DNSKEY records of the zone. */
  readonly dnskeys: string
  /** Time from which keys count as used, if their files have none. */
  readonly nowMs: number
}

/** Errors: a sentence that names the file; then nothing is stored. */
export function readForeignKeys(
  paths: readonly string[],
  given: ImportGiven,
): Result<readonly BindKey[], string> {
  const keys: BindKey[] = []
  for (const path of paths) {
    const read = /\.pem$/i.test(path) ? readPem(path, given) : readBind(path)
    if (!read.ok) return err(`${path}: ${read.error}`)
    keys.push(read.value)
  }
  return ok(keys)
}

function readBind(path: string): Result<BindKey, string> {
  const stem = path.replace(/\.(?:key|private|state)$/, '')
  if (stem === path) return err('name a file K*.key of BIND, or a PEM file of Knot')
  const secret = readFileSync(`${stem}.private`, 'utf8')
  return readBindKey(readFileSync(`${stem}.key`, 'utf8'), secret)
}

/** Knot's files have no flags: the DNSKEY records say which key is a ZSK. */
function readPem(path: string, { zone, dnskeys, nowMs }: ImportGiven): Result<BindKey, string> {
  if (zone === null || dnskeys === '') {
    return err('name the zone of a PEM file by --zone, and its DNSKEY records by --dnskey')
  }
  const pem = readFileSync(path, 'utf8')
  for (const flags of [256, 257]) {
    const key = readPemKey(pem, flags)
    if (!key.ok) return key
    const octets = Buffer.from(key.value.rdata.subarray(4)).toString('base64')
    const record = `${flags} 3 ${key.value.algorithm.number} ${octets}`
    if (!oneSpaced(dnskeys).includes(oneSpaced(record))) continue
    const times = { ...noTimes, createdMs: nowMs, publishedMs: nowMs, activeMs: nowMs }
    return ok({ zone, key: key.value, times })
  }
  return err(`no DNSKEY record of ${formatName(zone)} has this key: it is not in use there`)
}

/** Each tool splits the key in its own way. */
const oneSpaced = (text: string): string => text.replace(/[\s()]+/g, '')

/** @returns paths of the public halves */
export function storeForeignKeys(
  directory: string,
  keys: readonly BindKey[],
  secretKey: Uint8Array | null,
): readonly string[] {
  return keys.map((key) => storeKey(directory, key, secretKey, key.times))
}

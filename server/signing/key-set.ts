// All keys of an installation as text, in an envelope and in the copy of a node.
import { readKeyRecord, keyRecordJson } from '#dns/dnssec/key-record.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { fieldsOf, isFields, parseJson } from '#lib/text/json.ts'

export interface KeySet {
  /** See `ZoneKeysState`: higher is newer. */
  readonly revision: number
  readonly records: readonly KeyRecord[]
}

export const keySetLimits = {
  /** About 30,000 keys. */
  bytesMax: 32 * 1024 * 1024,
  recordsMax: 40_000,
} as const

const version = 1

/** Has the private halves, so it is never stored or sent in the clear. */
export function printKeySet({ revision, records }: KeySet): string {
  const keys = records.map((record) => ({ ...keyRecordJson(record), secret: printed(record) }))
  return JSON.stringify({ version, revision, keys })
}

const printed = ({ secret }: KeyRecord): string | null =>
  secret === null ? null : Buffer.from(secret).toString('base64')

/** Errors: a sentence without its full stop that reveals nothing of a key. */
export function readKeySet(text: string): Result<KeySet, string> {
  if (text.length > keySetLimits.bytesMax) return err(`it has ${text.length} octets`)
  const { version: found, revision, keys } = fieldsOf(parseJson(text))
  if (found !== version) return err(`it is no set of keys of version ${version}`)
  if (!Number.isSafeInteger(revision) || (revision as number) < 0) return err('it has no revision')
  if (!Array.isArray(keys) || keys.length > keySetLimits.recordsMax) return err('it has no keys')
  const records: KeyRecord[] = []
  for (const [i, key] of keys.entries()) {
    const read = recordOf(key)
    if (!read.ok) return err(`key ${i + 1}: ${read.error}`)
    records.push(read.value)
  }
  return ok({ revision: revision as number, records })
}

/** RFC 8410 and RFC 5915: a private key of an algorithm of ours has under 150 octets. */
const secretCharsMax = 1_024

function recordOf(key: unknown): Result<KeyRecord, string> {
  if (!isFields(key)) return err('it is no object')
  const { secret, ...record } = key
  if (secret === null) return readKeyRecord(record, null)
  if (typeof secret !== 'string' || secret.length > secretCharsMax) return err('it has no secret')
  return readKeyRecord(record, Buffer.from(secret, 'base64'))
}

/** @returns by zone, in their order */
export function byZone(records: Iterable<KeyRecord>): Map<string, readonly KeyRecord[]> {
  return Map.groupBy(records, ({ zone }) => zone)
}

// Keys in the form of the database, with private halves sealed under GSLB_SECRET_KEY.
import { keyRecordJson, readKeyRecord } from '#dns/dnssec/key-record.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { seal, unseal } from '#lib/secret-box.ts'
import type { StoredZoneKey, ZoneKeySet } from '#state/ports/zone-keys.ts'

export function sealedKey(record: KeyRecord, secretKey: Uint8Array): StoredZoneKey {
  const { zone: _zone, times, ...json } = keyRecordJson(record)
  const secretCiphertext =
    record.secret === null ? null : seal(secretKey, Buffer.from(record.secret).toString('base64'))
  return { ...json, times: { ...times }, secretCiphertext }
}

/** Errors: a sentence that names the zone, and says what to do. */
export function openedKeys(
  { zone, keys }: ZoneKeySet,
  secretKey: Uint8Array,
): Result<readonly KeyRecord[], string> {
  const records: KeyRecord[] = []
  for (const { secretCiphertext, ...json } of keys) {
    const plain = secretCiphertext === null ? null : unseal(secretKey, secretCiphertext)
    if (plain?.ok === false) {
      return err(
        `the keys of ${zone} were stored under another GSLB_SECRET_KEY: set it to that one on ` +
          'this node, and start it again',
      )
    }
    const secret = plain === null ? null : Buffer.from(plain.value, 'base64')
    const read = readKeyRecord({ ...json, zone }, secret)
    if (!read.ok) return err(`key ${json.tag} of ${zone} in the database: ${read.error}`)
    records.push(read.value)
  }
  return ok(records)
}

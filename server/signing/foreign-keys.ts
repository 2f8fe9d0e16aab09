// Brings the keys of other signers that the settings of a zone list among the keys that it has.
import { foreignRecord } from '#dns/dnssec/key-record.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'

/**
 * Keys of an algorithm that signs nothing here are left out: RFC 4035 section 2.2.
 *
 * @param listed rdata of all DNSKEY records that should be there
 * @returns the same array if nothing changes
 */
export function withListed(
  records: readonly KeyRecord[],
  zone: string,
  listed: readonly Uint8Array[],
  nowMs: number,
): readonly KeyRecord[] {
  const own = records.filter(({ secret, times }) => secret !== null && isShown(times))
  const kept = records.filter(({ secret, publicKey }) => {
    return secret !== null || listed.some((one) => isSame(one, publicKey))
  })
  const missing = listed.filter((one) => {
    const isThere = records.some(({ publicKey }) => isSame(one, publicKey))
    return !isThere && own.some(({ algorithm }) => algorithm === one[3])
  })
  if (kept.length === records.length && missing.length === 0) return records
  return [...kept, ...missing.map((one) => foreignRecord(zone, one, nowMs))]
}

const isShown = ({ publishedMs, removedMs }: KeyRecord['times']): boolean =>
  publishedMs !== null && removedMs === null

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

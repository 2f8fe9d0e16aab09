// Reads a file with records written at run time, as the API lists them.
import { readFileSync } from 'node:fs'
import { foldName, formatName, parseName } from '#dns/name.ts'
import { canonicalRdata, parseRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import { textOfFile } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { dynamicDnsLimits, writtenTypes } from '#state/ports/dynamic-dns.ts'
import type { StoredRecord } from '#state/ports/dynamic-dns.ts'

const known: ReadonlySet<number> = new Set(Object.values(writtenTypes))

/** Errors: a sentence, with the place in the file. */
export function readWrittenRecords(path: string): Result<readonly StoredRecord[], string> {
  let listed: unknown
  try {
    listed = JSON.parse(textOfFile(readFileSync(path)))
  } catch (error) {
    return err(`${path} cannot be read: ${(error as Error).message}`)
  }
  if (!Array.isArray(listed)) return err(`${path} is no list: write what the API gives`)
  const { recordsMax } = dynamicDnsLimits
  if (listed.length > recordsMax) return err(`${path} has more than ${recordsMax} records`)
  const records = listed.map(recordOf)
  const bad = records.indexOf(undefined)
  if (bad >= 0) return err(`${path}: record ${bad + 1} has no name, type, value and ttl that go`)
  return ok(records.filter((record) => record !== undefined))
}

function recordOf(listed: unknown, index: number): StoredRecord | undefined {
  if (typeof listed !== 'object' || listed === null) return undefined
  const { name, type, value, ttl } = listed as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || typeof type !== 'string') return undefined
  if (typeof value !== 'string' || !Number.isInteger(ttl)) return undefined
  const ttlSeconds = Number(ttl)
  if (ttlSeconds < 0 || ttlSeconds > 0x7fff_ffff) return undefined
  const wire = parseName(name)
  const rdataType = rdataTypeNamed(type)
  if (!wire.ok || rdataType === undefined || !known.has(rdataType.code)) return undefined
  const rdata = parseRdata(rdataType, value)
  if (!rdata.ok) return undefined
  return {
    ...{ id: String(index), tenantId: '', name: formatName(foldName(wire.value)) },
    ...{ type: rdataType.code, ttlSeconds, createdAtMs: 0, writtenBy: '' },
    rdata: Buffer.from(canonicalRdata(rdataType, rdata.value)).toString('base64'),
  }
}

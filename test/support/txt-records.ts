// Records written at run time, in short form, and their snapshot.
import { writtenSnapshot } from '#zones/dynamic/written-records.ts'
import type { WrittenName } from '#zones/dynamic/written-records.ts'
import type { StoredRecord } from '#state/ports/dynamic-dns.ts'

/** Name, text, and TTL: 60 where it is left out. */
export type Txt = readonly [name: string, text: string, ttlSeconds?: number]

export const txtRdata = (text: string): Buffer =>
  Buffer.concat([Buffer.of(Buffer.byteLength(text)), Buffer.from(text)])

export function storedTxt([name, text, ttlSeconds = 60]: Txt): StoredRecord {
  const rdata = txtRdata(text).toString('base64')
  const written = { tenantId: 'default', createdAtMs: 1, writtenBy: 'system' }
  return { id: `${name} ${text}`, name, type: 16, rdata, ttlSeconds, ...written }
}

export interface Written {
  readonly name: string
  readonly type: number
  readonly rdata: Buffer
  readonly ttlSeconds: number
}

export function storedRecord({ rdata, ...record }: Written): StoredRecord {
  const text = rdata.toString('base64')
  const written = { tenantId: 'default', createdAtMs: 1, writtenBy: 'key:k.example.' }
  return { ...record, ...written, id: `${record.name} ${record.type} ${text}`, rdata: text }
}

export const writtenNames = (records: readonly Written[]): readonly WrittenName[] =>
  writtenSnapshot(1, records.map(storedRecord)).records

export const txtRrsets = (records: readonly Txt[]): readonly WrittenName[] =>
  writtenSnapshot(1, records.map(storedTxt)).records

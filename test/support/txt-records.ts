// TXT records written at run time, in short form, and their snapshot.
import { txtSnapshot } from '#zones/dynamic/txt-snapshot.ts'
import type { TxtRrset } from '#zones/dynamic/txt-snapshot.ts'
import type { StoredTxtRecord } from '#state/ports/dynamic-dns.ts'

/** Name, text, and TTL: 60 where it is left out. */
export type Txt = readonly [name: string, text: string, ttlSeconds?: number]

export const txtRdata = (text: string): Buffer =>
  Buffer.concat([Buffer.of(Buffer.byteLength(text)), Buffer.from(text)])

export function storedTxt([name, text, ttlSeconds = 60]: Txt): StoredTxtRecord {
  const rdata = txtRdata(text).toString('base64')
  const written = { tenantId: 'default', createdAtMs: 1, writtenBy: 'system' }
  return { id: `${name} ${text}`, name, rdata, ttlSeconds, ...written }
}

export const txtRrsets = (records: readonly Txt[]): readonly TxtRrset[] =>
  txtSnapshot(1, records.map(storedTxt)).records

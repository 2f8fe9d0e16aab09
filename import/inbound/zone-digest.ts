// Tells whether the files of a zone have the record sets that came with its serial: people may
// have written them since, as they do where the zone has no `from`.
import { hash } from 'node:crypto'
import type { ConfigEntry } from '#config/entry.ts'
import { recordTtlDefault } from '#schemas/objects/records.ts'
import type { RecordSet, RecordsSpec } from '#schemas/objects/records.ts'

type Entries = readonly ConfigEntry<'Records'>[]

/** The file with the state of the zone. */
export const headOf = (entries: Entries): ConfigEntry<'Records'> | undefined =>
  entries.find(({ object }) => object.spec.transfer?.soa !== undefined) ?? entries[0]

/** Yields where it may pause. */
export function* isAsItCame(entries: Entries): Generator<undefined, boolean> {
  const digests: string[] = []
  for (const { object } of entries) {
    digests.push(digestOfFile(object.spec))
    yield
  }
  return headOf(entries)?.object.spec.transfer?.digest === digestOfFiles(digests)
}

/** In whatever order the files are. */
export const digestOfFiles = (digests: readonly string[]): string =>
  hash('sha256', digests.toSorted().join()).slice(0, 24)

const known = new WeakMap<RecordsSpec, string>()

/** A file that stays is read once. */
export function digestOfFile(spec: RecordsSpec): string {
  let digest = known.get(spec)
  if (digest === undefined) known.set(spec, (digest = digestOfSets(spec.records, spec.ttl)))
  return digest
}

/** @param fileTtl TTL of sets that have none of their own */
export function digestOfSets(records: readonly RecordSet[], fileTtl = recordTtlDefault): string {
  const sets = records.map(({ name, type, ttl, values }) => [name, type, ttl ?? fileTtl, values])
  return hash('sha256', JSON.stringify(sets))
}

// Encodes the written records of the whole cluster as a bundle, in which they travel to nodes that
// only answer. The bundle has one zone, the root, so that it does not depend on any main bundle.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import { encodeBundle } from '#bundle/encode/encode.ts'
import { nameOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { plainRouting } from '#bundle/format/model.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import { rrsetsOfNode } from '#bundle/load/rrset-values.ts'
import { writtenTypes } from '#state/ports/dynamic-dns.ts'
import type { StoredRecord } from '#state/ports/dynamic-dns.ts'

/** No channel of the settings has a dot. */
export const textsChannel = (channel: string): string => `${channel}.texts`

/** Name of the directory in the data directory, as `node` is of the other bundles. */
export const textsDirectory = 'texts'

const soa = {
  ...{ mname: '.', rname: '.', ttlSeconds: 0, minimumSeconds: 0, serialBase: 0 },
  ...{ refreshSeconds: 0, retrySeconds: 0, expireSeconds: 0 },
} as const

let empty: Bundle | undefined

/**
 * Returns a bundle without records. Every name lies in its zone, so that a WrittenEncoder accepts
 * it as the main bundle.
 */
export function emptyTexts(): Bundle {
  if (empty !== undefined) return empty
  const model = {
    commit: '',
    zones: [{ name: '.', soa, nsTtlSeconds: 0, nameservers: [] }],
    ...{ pools: [], services: [], rrsets: [], routing: plainRouting, responseRules: [] },
    ...{ redirects: [], rollouts: [], windows: [] },
  }
  const { bytes, digest } = encodeBundle(model, () => -1)
  return (empty = adoptBundle(sharedCopy(bytes), digest))
}

/** Whether a bundle has nothing but records in the root zone. */
export function isTextsBundle(bundle: Bundle): boolean {
  const { counts, zoneNode } = bundle
  const hasOther = counts.services + counts.pools + counts.members > 0
  return counts.zones === 1 && !hasOther && nameOfNode(bundle, zoneNode[0]!) === '.'
}

/**
 * Returns the records, each with an id from its content: the same record has the same id in the
 * next bundle.
 */
export function recordsOfTexts(bundle: Bundle): StoredRecord[] {
  const records: StoredRecord[] = []
  for (let node = 0; node < bundle.counts.nodes; node++) {
    const name = nameOfNode(bundle, node)
    for (const { type, ttlSeconds, rdata } of rrsetsOfNode(bundle, node)) {
      // A type that a later version writes is left out; this one would not answer it alike.
      if (!known.has(type)) continue
      for (const octets of rdata) {
        const text = Buffer.from(octets).toString('base64')
        const id = `${name} ${type} ${ttlSeconds} ${text}`
        const unknown = { tenantId: '', createdAtMs: 0, writtenBy: '' }
        records.push({ id, name, type, rdata: text, ttlSeconds, ...unknown })
      }
    }
  }
  return records
}

const known: ReadonlySet<number> = new Set(Object.values(writtenTypes))

// Finds the geo databases that the configuration routes by and that this node does not have.
import type { Log } from '#lib/log.ts'
import { missingIn } from '#routing/choose/missing-geo.ts'
import type { DnsNode } from './node.ts'

/** Returns a sentence for each routing method that lacks its database. */
export function missingGeoOn(node: Pick<DnsNode, 'live'>): readonly string[] {
  const live = node.live()
  return live === undefined ? [] : missingIn(live.bundle, live.tables.geo)
}

/** @returns a function to call whenever another bundle serves */
export function watchMissingGeo(node: Pick<DnsNode, 'live'>, log: Pick<Log, 'warn'>): () => void {
  let logged: readonly string[] = []
  return () => {
    const now = missingGeoOn(node)
    for (const sentence of now) if (!logged.includes(sentence)) log.warn({}, sentence)
    logged = now
  }
}

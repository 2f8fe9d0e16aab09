// Tells which geo databases the configuration goes by and this node does not have.
import type { Log } from '#lib/log.ts'
import { missingIn } from '#routing/choose/missing-geo.ts'
import type { DnsNode } from './node.ts'

/** A sentence for each way to choose that lacks one. */
export function missingGeoOn(node: Pick<DnsNode, 'live'>): readonly string[] {
  const live = node.live()
  return live === undefined ? [] : missingIn(live.bundle, live.tables.geo)
}

/** @returns to be called whenever something else serves */
export function watchMissingGeo(node: Pick<DnsNode, 'live'>, log: Pick<Log, 'warn'>): () => void {
  let told: readonly string[] = []
  return () => {
    const now = missingGeoOn(node)
    for (const sentence of now) if (!told.includes(sentence)) log.warn({}, sentence)
    told = now
  }
}

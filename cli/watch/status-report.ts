// Collects a report for `gslbd status`: responses of one node's API, and what could not be read.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { textAt } from './json-fields.ts'
import type { ApiFault, NodeApi } from './node-api.ts'

/** The report in the API's form; null: there was no response. */
export interface StatusReport {
  readonly url: string
  readonly health: unknown
  readonly ready: unknown
  readonly gitops: unknown
  readonly nodes: unknown
  readonly sources: unknown
  readonly zoneTransfers: unknown
  /** Sentences about parts that could not be read. */
  readonly faults: readonly string[]
}

/** A node of the role dns has neither Git nor an inventory, which is no fault. */
const absent = 404

/** Errors: the node cannot be reached, or is no gslbd. */
export async function statusReport(api: NodeApi): Promise<Result<StatusReport, string>> {
  const health = await api.json('/api/v1/health')
  if (!health.ok) return err(health.error.message)
  if (textAt(health.value, 'status') === '') {
    return err(`${api.url}/api/v1/health has no status: is it the API of gslbd?`)
  }
  const [ready, gitops, nodes, sources, zoneTransfers] = await Promise.all([
    api.json('/api/v1/ready', [503]),
    api.json('/api/v1/gitops/status'),
    api.json('/api/v1/cluster/nodes'),
    api.json('/api/v1/discovery/sources'),
    api.json('/api/v1/zone-transfers'),
  ])
  const faults = new Set<string>()
  const valueOf = (read: Result<unknown, ApiFault>): unknown => {
    if (read.ok) return read.value
    if (read.error.status !== absent) faults.add(read.error.message)
    return null
  }
  return ok({
    url: api.url,
    health: health.value,
    ready: valueOf(ready),
    gitops: valueOf(gitops),
    nodes: valueOf(nodes),
    sources: valueOf(sources),
    zoneTransfers: valueOf(zoneTransfers),
    faults: [...faults],
  })
}

export function isWell({ health, faults }: StatusReport): boolean {
  return textAt(health, 'status') === 'ok' && faults.length === 0
}

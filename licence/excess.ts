// Lists what runs or is configured beyond the licence. It is served all the same, and shown in the
// status.
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { kindNames, kinds } from '#schemas/kinds.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import type { LicensedFeature } from './gate.ts'
import type { StatusDiagnostic } from '#diagnostics/status-diagnostic.ts'
import { chainFeatures } from './chain-features.ts'
import { lackOf, tiers, tooManyAgents, tooManyMembers, tooManyNodes } from './tiers.ts'
import type { Tier } from './tiers.ts'

/** A longer list would tell nothing new. */
export const excessMax = 100

const excessCode = 'licence-exceeded'

const help =
  'It is served all the same. Apply a licence of a higher tier, or take it out of the ' +
  'configuration.'
const nodesHelp = 'Each goes on answering. Apply a licence of a higher tier, or run fewer nodes.'

const agentsHelp =
  'What those beyond it find, last by name, does not count. Apply a licence of a higher tier, or ' +
  'run fewer agents.'

/** Nodes and agents first, then by file; at most `excessMax`. */
export function licenceExcess(
  snapshot: ConfigSnapshot,
  tier: Tier,
  nodes: number,
  agents = 0,
): readonly StatusDiagnostic[] {
  const found: StatusDiagnostic[] = []
  const nodesMessage = tooManyNodes(tier, nodes)
  if (nodesMessage !== undefined) found.push(diagnostic('', nodesMessage, nodesHelp))
  const agentsMessage = tooManyAgents(tier, agents)
  if (agentsMessage !== undefined) found.push(diagnostic('', agentsMessage, agentsHelp))
  for (const [{ path }, message] of excessOf(snapshot, tier)) {
    if (found.length === excessMax) break
    found.push(diagnostic(path, message, help))
  }
  return found
}

/** Ends when the caller needs no more. */
function* excessOf(snapshot: ConfigSnapshot, tier: Tier): Generator<[ConfigEntry, string]> {
  const lacks = (features: readonly LicensedFeature[]): string[] =>
    [...new Set(features)].flatMap((feature) => lackOf(tier, feature) ?? [])
  for (const entry of snapshot.list('Tenant')) {
    const isExtra = entry.name !== defaultTenant && tiers[tier].tenants === 1
    if (isExtra) for (const message of lacks(['extra-tenants'])) yield [entry, message]
  }
  for (const entry of snapshot.list('Pool')) {
    const { members, geoRules } = entry.object.spec
    const tooMany = tooManyMembers(tier, members.length)
    if (tooMany !== undefined) yield [entry, `${tooMany}; this one has ${members.length}`]
    if (geoRules.length > 0) for (const message of lacks(['geo-rules'])) yield [entry, message]
  }
  for (const entry of snapshot.list('Service')) {
    for (const message of lacks(chainFeatures(entry.object.spec.filterChain))) {
      yield [entry, message]
    }
  }
  for (const kind of kindNames) {
    const { feature } = kinds[kind]
    // A single tenant needs no licence.
    if (feature === undefined || kind === 'Tenant') continue
    for (const entry of snapshot.list(kind)) {
      for (const message of lacks([feature])) yield [entry, message]
    }
  }
}

function diagnostic(file: string, message: string, help: string): StatusDiagnostic {
  const place = { file, line: 1, column: 1 }
  return { severity: 'warning', code: excessCode, message, help, ...place }
}

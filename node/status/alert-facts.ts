// Collects the facts of this node that conditions of alerts examine.
import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { assert } from '#lib/assert.ts'
import type { NodeAlertFacts } from '#alerts/cluster/alert-keeper.ts'
import type {
  CertificateFacts,
  DegradedNodeFacts,
  DownMember,
  DriftedNodeFacts,
  FlappingMember,
  LicenceFacts,
  PoolFacts,
} from '#alerts/facts.ts'
import type { DriftedNode } from '#fleet/drift.ts'
import type { StoppedDeliveryFacts } from '#alerts/facts.ts'
import type { ShownDelivery } from '#ports/deliveries.ts'
import type { HealthReason } from '#ports/operator-view.ts'
import { FlapCounter, flapLimits } from '#alerts/flap-counter.ts'
import type { Flapping } from '#alerts/flap-counter.ts'
import {
  addressOfMember,
  poolOfService,
  serviceCell,
  textOf,
  uidOf,
} from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { firstPolicyCode } from '#bundle/format/routing-cells.ts'
import { freeRatioOf } from '#process/data/disk-use.ts'
import type { NodeLicence } from '#node/compose/licence.ts'
import type { Settings } from '#settings/settings.ts'
import type { GitopsControl } from '#gitops/thread/control.ts'
import type { Clock } from '#lib/clock.ts'
import { fairShare } from '#lib/sequence/fair-share.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import { weightedPolicies } from '#routing/choose/policy.ts'
import { wayOfCode } from '#routing/choose/ways.ts'
import { Family } from '#routing/state/query.ts'
import { firstCandidate, PoolCell } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import type { GeoSource } from '#inputs/geo/geo-source.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import { unhealthyMembers } from '#server/node/health-counts.ts'
import type { DnsNode } from '#server/node/node.ts'
import { filesIn } from '#server/tls/sources.ts'
import { alertLimits } from '#state/ports/alerts.ts'
import { regressedRollouts } from './regressed-rollouts.ts'

export interface AlertFactsParts {
  readonly settings: Pick<Settings, 'health' | 'dataDir' | 'roles' | 'dns' | 'api' | 'redirect'>
  readonly node: Pick<DnsNode, 'live' | 'overlays' | 'status'>
  readonly gitops: Pick<GitopsControl, 'status' | 'config'>
  readonly geo: Pick<GeoSource, 'status'>
  /** null: health checks are off. */
  readonly health: Pick<HealthMonitor, 'onChange'> | null
  /** undefined: the licence was not composed yet. */
  readonly licence: () => Pick<NodeLicence, 'keeper' | 'warnings'> | undefined
  readonly renewals: NodeAlertFacts['renewals']
  readonly redirectTargets: NodeAlertFacts['redirectTargets']
  readonly discoverySources: NodeAlertFacts['discoverySources']
  readonly zoneTransfers: NodeAlertFacts['zoneTransfers']
  readonly zonePushes: NodeAlertFacts['zonePushes']
  readonly zoneKeys: NodeAlertFacts['zoneKeys']
  readonly dataDirFault: () => string | null
  /** What the health of this node says. */
  readonly reasons: () => readonly HealthReason[]
  /** Nodes of the fleet, each with what is wrong with it. */
  readonly drifted: () => readonly DriftedNode[]
  readonly deliveries: () => readonly ShownDelivery[]
  readonly clock: Clock
}

/** Interval at which files of certificates are read. */
const certificatesEveryMs = 60_000
const certificateBytesMax = 256 * 1024

export function createAlertFacts(parts: AlertFactsParts): NodeAlertFacts {
  const { node, gitops, geo, health, licence, clock } = parts
  const flaps = new FlapCounter(clock)
  health?.onChange((changes) => {
    for (const { memberUid, ipAddress } of changes) flaps.note(memberUid, ipAddress)
  })
  return {
    commit: () => node.status().active?.commit ?? '',
    regressions: () => {
      const { config } = gitops
      const snapshot = config.isReady() ? config.snapshot() : undefined
      return regressedRollouts(node.overlays().rollouts, snapshot, clock.nowMs())
    },
    emptyPools: () => {
      const live = node.live()
      return live === undefined ? [] : emptyPoolsIn(live.bundle, live.state)
    },
    flapping: () => flappingIn(node.live()?.bundle, flaps.flapping()),
    downMembers: () => {
      const live = node.live()
      return live === undefined ? [] : downMembersIn(live.bundle, live.state)
    },
    held: heldBy(gitops),
    geo: () =>
      geo.status().map(({ setting, error, buildEpoch }) => ({
        setting,
        error: error ?? '',
        builtAtMs: buildEpoch === null ? null : buildEpoch * 1_000,
      })),
    licence: () => licenceOf(licence()),
    certificates: remembered(clock, () => certificatesOf(parts.settings)),
    renewals: parts.renewals,
    reasons: () => reasonsOf(parts),
    driftedNodes: () => driftedIn(parts.drifted()),
    degradedNodes: () => (node.status().active === null ? [] : degradedIn(parts.drifted())),
    redirectTargets: parts.redirectTargets,
    stoppedDeliveries: () => stoppedIn(parts.deliveries()),
    discoverySources: parts.discoverySources,
    zoneTransfers: parts.zoneTransfers,
    zonePushes: parts.zonePushes,
    zoneKeys: parts.zoneKeys,
    disk: () => ({
      fault: diskFault(parts),
      freePercent: percentOf(freeRatioOf(parts.settings.dataDir)),
    }),
  }
}

/** While the repository cannot be asked, or a look is under way, what was held still is. */
function heldBy(gitops: AlertFactsParts['gitops']): NodeAlertFacts['held'] {
  let last: ReturnType<NodeAlertFacts['held']> = null
  return () => {
    const { sync, code, reason, accepted } = gitops.status()
    if (sync === 'unreachable' || sync === 'pending') return last
    // A node that was never given a configuration is not at fault.
    const isHeld = sync === 'held' && (code !== 'BranchMissing' || accepted !== null)
    last = isHeld ? { code, reason } : null
    return last
  }
}

/**
 * The operator is told why, which is not for everybody who reads the health. A full disk is told
 * of by `disk`.
 */
function reasonsOf({ reasons, gitops }: AlertFactsParts): readonly HealthReason[] {
  const { code: fault, reason } = gitops.status()
  return reasons().flatMap(({ code, message }) => {
    if (code !== 'git-unreachable') return [{ code, message }]
    return fault === 'DiskFull' ? [] : [{ code, message: `${fault}: ${reason}` }]
  })
}

function stoppedIn(deliveries: readonly ShownDelivery[]): readonly StoppedDeliveryFacts[] {
  return deliveries.flatMap(({ channel, phase, target, verdict }) => {
    if ((phase !== 'held' && phase !== 'returned') || verdict === null) return []
    const { gate, wave, value, limit } = verdict
    const isReturned = phase === 'returned'
    return [{ channel, isReturned, commit: target?.commit ?? '', gate, wave, value, limit }]
  })
}

/** No more are reported; one more shows that there are too many. */
const factsMax = alertLimits.findingsPerNodeMax + 1

/**
 * Tenants have equal shares of what is reported: what is down of one hides nothing of others.
 *
 * @param poolOf the pool of a row
 */
function sharedRows(
  { poolTenant }: Bundle,
  rows: Iterable<number>,
  poolOf: (row: number) => number,
): ReadonlySet<number> {
  // By the place of the tenant's name: a name is read of the rows that are reported alone.
  const own = new Map<string, number[]>()
  for (const row of rows) {
    const list = getOrInsert(own, `${poolTenant[poolOf(row)]!}`, () => [])
    if (list.length < factsMax) list.push(row)
  }
  return fairShare(own, factsMax)
}

/** Examines all pools on the main thread, and makes texts only for those that it finds. */
export function emptyPoolsIn(bundle: Bundle, state: RoutingState): readonly PoolFacts[] {
  const found = new Set<number>()
  const isWeighted = weightedCodes(bundle)
  for (let service = 0; service < bundle.counts.services; service++) {
    const pool = poolOfService(bundle, service)
    if (pool < 0) continue
    const code = serviceCell(bundle, service, NodeCell.Algorithm)
    if (!hasCandidate(state, pool, isWeighted(code))) found.add(pool)
  }
  return Array.from(
    sharedRows(bundle, found, (pool) => pool),
    (pool) => ({
      uid: uidOf(bundle.poolUid, pool),
      name: textOf(bundle, bundle.poolName[pool]!),
      tenant: textOf(bundle, bundle.poolTenant[pool]!),
      members: membersOf(bundle, pool),
    }),
  )
}

/** How many the pool declares: a host name, or `from`, has a row for each address it may have. */
function membersOf(bundle: Bundle, pool: number): number {
  const first = bundle.poolMemberStart[pool]!
  const rows = bundle.poolCount4[pool]! + bundle.poolCount6[pool]!
  const uids = Buffer.from(bundle.memberUid.subarray(first * 16, (first + rows) * 16))
  return new Set(
    Array.from({ length: rows }, (_, i) => uids.toString('latin1', i * 16, i * 16 + 16)),
  ).size
}

/** Whether a service with this algorithm code divides its answers by weight. */
function weightedCodes(bundle: Bundle): (code: number) => boolean {
  let policies = weightedOf.get(bundle)
  if (policies === undefined) weightedOf.set(bundle, (policies = weightedPolicies(bundle)))
  const known = policies
  return (code) => known[code - firstPolicyCode] ?? wayOfCode(code)?.weightAs === 'share'
}

/** Cached, since it reads the texts of policies. */
const weightedOf = new WeakMap<Bundle, readonly boolean[]>()

function hasCandidate(state: RoutingState, pool: number, isWeighted: boolean): boolean {
  const row = pool * PoolCell.Words
  const copy = state.pools[row + PoolCell.Version]! & 1
  return [Family.V4, Family.V6].some((family) => {
    const count = state.pools[row + PoolCell.Count + copy * 2 + family]!
    if (count === 0 || !isWeighted) return count > 0
    return state.weightSums[firstCandidate(state, pool, copy, family) + count - 1]! > 0
  })
}

/** Examines all members on the main thread, as `emptyPoolsIn` does with pools. */
export function downMembersIn(bundle: Bundle, state: RoutingState): readonly DownMember[] {
  const poolOf = (row: number): number => bundle.memberPool[row]!
  const down = sharedRows(bundle, unhealthyMembers(bundle, state), poolOf)
  assert(down.size <= factsMax, 'texts are made of as many members as are told')
  return Array.from(down, (row) => {
    const pool = bundle.memberPool[row]!
    return {
      uid: uidOf(bundle.memberUid, row),
      address: addressOfMember(bundle, row),
      pool: textOf(bundle, bundle.poolName[pool]!),
      tenant: textOf(bundle, bundle.poolTenant[pool]!),
    }
  })
}

/** Members that are no longer in the bundle do not flap. */
export function flappingIn(
  bundle: Bundle | undefined,
  all: readonly Flapping[],
): readonly FlappingMember[] {
  if (bundle === undefined || all.length === 0) return []
  const rows = rowsOf(bundle, new Set(all.map(({ uid }) => uid)))
  const reported = sharedRows(bundle, rows.values(), (row) => bundle.memberPool[row]!)
  return all.flatMap(({ uid, address, changes }) => {
    const row = rows.get(uid)
    if (row === undefined || !reported.has(row)) return []
    const pool = bundle.memberPool[row]!
    const name = textOf(bundle, bundle.poolName[pool]!)
    const tenant = textOf(bundle, bundle.poolTenant[pool]!)
    return [{ uid, address, pool: name, tenant, changes, windowMs: flapLimits.windowMs }]
  })
}

/** Examines all members; whole uids are compared only where their last octets match. */
function rowsOf(
  { memberUid, counts }: Bundle,
  uids: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const tails = new Set([...uids].map((uid) => Number.parseInt(uid.slice(-8), 16)))
  const view = new DataView(memberUid.buffer, memberUid.byteOffset, memberUid.byteLength)
  const rows = new Map<string, number>()
  for (let row = 0; row < counts.members; row++) {
    if (!tails.has(view.getUint32(row * 16 + 12))) continue
    const uid = uidOf(memberUid, row)
    if (uids.has(uid)) rows.set(uid, row)
  }
  return rows
}

/** The silence of a control node is the condition `node-missing`. */
function driftedIn(nodes: readonly DriftedNode[]): readonly DriftedNodeFacts[] {
  const found: DriftedNodeFacts[] = []
  for (const { report, drift, ageMs, clockErrorMs } of nodes) {
    for (const kind of drift) {
      if (kind === 'missing' && report.role === 'control') continue
      const refusal = report.refusals.at(-1)?.reason ?? ''
      const node = report.name
      found.push({ node, kind, seq: report.seq, ageSeconds: ageMs / 1000, clockErrorMs, refusal })
      if (found.length === factsMax) return found
    }
  }
  return found
}

/** A control node tells of itself by its own findings, `driftedIn` of a refused bundle. */
function degradedIn(nodes: readonly DriftedNode[]): readonly DegradedNodeFacts[] {
  return nodes
    .filter(({ report, isCounted }) => report.role !== 'control' && isCounted)
    .flatMap(({ report: { name, reasons = [] } }) =>
      reasons.filter((code) => code !== 'bundle-refused').map((code) => ({ node: name, code })),
    )
    .slice(0, factsMax)
}

function licenceOf(
  licence: Pick<NodeLicence, 'keeper' | 'warnings'> | undefined,
): LicenceFacts | null {
  if (licence === undefined) return null
  const { enforced, valid, reason, expiresAt, installId } = licence.keeper.state
  // Before the database was read, it is unknown whether it holds a licence.
  if (installId === '') return null
  return {
    isEnforced: enforced,
    isValid: valid,
    reason,
    expiresAtMs: expiresAt === 0 ? null : expiresAt * 1_000,
    excess: licence.warnings()[0]?.message ?? '',
  }
}

function remembered<T>(clock: Clock, read: () => T): () => T {
  let known: { readonly value: T; readonly atMs: number } | undefined
  return () => {
    const nowMs = clock.monotonicMs()
    if (known === undefined || nowMs - known.atMs >= certificatesEveryMs) {
      known = { value: read(), atMs: nowMs }
    }
    return known.value
  }
}

function certificatesOf({
  health,
  roles,
  dns,
  api,
  redirect,
}: AlertFactsParts['settings']): readonly CertificateFacts[] {
  const ofClients = Object.entries(health.clientCertificates).map(([name, { cert }]) => ({
    ...{ name, path: cert },
  }))
  const ofServers = [
    ...(roles.includes('dns') ? filesIn('dns.tls', dns.tls) : []),
    ...(api.enabled ? filesIn('api.tls', api.tls) : []),
    ...(redirect.enabled ? filesIn('redirect.https', redirect.https) : []),
  ].map(({ name, certFile }) => ({ name, path: certFile }))
  return [...ofClients, ...ofServers].map(({ name, path }) => {
    try {
      if (statSync(path).size > certificateBytesMax) throw new Error('the file is too large')
      const { validTo } = new X509Certificate(readFileSync(path))
      return { name, path, error: '', expiresAtMs: Date.parse(validTo) }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      return { name, path, error: code ?? message, expiresAtMs: null }
    }
  })
}

function diskFault({ node, dataDirFault }: AlertFactsParts): string {
  const fault = dataDirFault()
  if (fault !== null) return fault
  return node.status().isStored
    ? ''
    : 'The bundle is not stored: a restart would serve an older one.'
}

const percentOf = (ratio: number | null): number | null => (ratio === null ? null : ratio * 100)

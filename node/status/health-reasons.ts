// Lists the reasons why a node is degraded or not ready, in the order in which they are shown.
import type { HealthReason, HealthStatus } from '#ports/operator-view.ts'
import { namesOfAbsent } from '#bundle/load/absent-zones.ts'
import type { Clock } from '#lib/clock.ts'
import type { GitopsControl } from '#gitops/thread/control.ts'
import type { DnsNode } from '#server/node/node.ts'
import type { BehindNode } from '#server/signing/behind-nodes.ts'
import type { CertificateStatus } from '#server/tls/certificate.ts'
import type { EphemeralStatus } from '#state/ephemeral.ts'
import type { DatabaseView } from '#node/stores/records.ts'

export interface HealthParts {
  readonly clock: Clock
  readonly node: Pick<DnsNode, 'status'>
  readonly gitops: Pick<GitopsControl, 'status' | 'config'>
  readonly shared: () => Pick<EphemeralStatus, 'state'>
  readonly database: () => DatabaseView
  /** false: the data directory cannot be written, so a restart would serve what it holds. */
  readonly canKeep: () => boolean
  /** false: a backup that was due could not be taken. */
  readonly isBackedUp: () => boolean
  /** false: the file of the audit log cannot be written. */
  readonly isAudited: () => boolean
  /** True until the first account is made. */
  readonly isSetupOpen: () => boolean
  /** null: there is no delivery in waves. */
  readonly deliveryPhase: () => string | null
  /** Why no delivery goes on, a sentence; empty: one could, or there is none. */
  readonly deliveryFault: () => string
  /** null: this node keeps no journal. */
  readonly journal: () => { readonly error: string | null } | null
  /** null: queries are not logged. */
  readonly queryLog: () => { readonly isFailing: boolean } | null
  /** True when pools declare health checks, and this node makes none. */
  readonly areChecksOff: () => boolean
  /** A sentence for each geo database that the configuration uses and that is absent. */
  readonly missingGeo: () => readonly string[]
  /** Zones from elsewhere whose records are not here. */
  readonly absentZones: () => readonly string[]
  /** Zones from elsewhere, each with how its transfers go. */
  readonly zoneTransfers: () => readonly { readonly zone: string; readonly state: string }[]
  /** A sentence for each zone that should be signed and has no key here. */
  readonly missingKeys: () => readonly string[]
  /** When the newest key of a zone was made; 0: there is none in the database. */
  readonly newestKeyMs: () => number
  /** A sentence for each reason why keys of the database are not used. */
  readonly keyTroubles: () => readonly string[]
  /** Nodes that do not take keys of zones. */
  readonly behindNodes: () => readonly BehindNode[]
  /** A sentence for each signed zone whose parent has DS records of other keys alone. */
  readonly dsFaults: () => readonly string[]
  /** Names of nodes that do not have the newest certificate long after it came. */
  readonly certificateBehind: () => readonly string[]
  /** What DNS over TLS and the API use, where they speak it. */
  readonly certificates: () => readonly CertificateStatus[]
  /** null: no addresses are announced. */
  readonly anycast: () => AnycastFacts | null
}

interface AnycastFacts {
  readonly isAnnounced: boolean
  readonly isGuarded: boolean
  readonly reason: string | null
  readonly driver: { readonly isReachable: boolean | null }
}

interface Row {
  readonly code: string
  /** A function for a reason with several causes. */
  readonly message: string | ((parts: HealthParts) => string)
  readonly holds: (parts: HealthParts) => boolean
  /** True for a notice: there is something to do, but nothing is wrong. */
  readonly isNotice?: true
}

const status = 'GET /api/v1/gitops/status says why.'

export const redisAway =
  'Redis is away, too slow or takes no writes: this node goes on with its own memory. See the log.'

export const queryLogLost =
  'The query log cannot be written: its records are lost until it can. See the log.'

export const faultyOf = (certificates: readonly CertificateStatus[]): readonly string[] =>
  certificates
    .filter(({ fault, isEnding }) => fault !== null || isEnding)
    .map(({ name, fault, expiresAtMs }) => {
      const ends = `ends ${new Date(expiresAtMs).toISOString()}`
      if (fault === null) return `${name} ${ends}`
      return `${name} cannot be used: ${fault}${expiresAtMs === 0 ? '' : `; what serves ${ends}`}`
    })

export const certificatesFaulty = (names: readonly string[]): string =>
  `Certificates need a look: ${names.join('; ')}. The log names the files.`

export const geoMissing = 'geo-missing'
export const zoneAbsent = 'zone-absent'
export const keyMissing = 'zone-key-missing'
export const keysUnused = 'zone-keys-unused'
export const keysStale = 'zone-keys-stale'

/** Returns the message about zones without a key, however many there are. */
export function missingKeysMessage(missing: readonly string[]): string {
  // The name of a zone may end it.
  // One reason may hold for all zones.
  const reasons = [...new Set(missing)]
  return `Clients that validate get SERVFAIL: ${shownOf(reasons)}.`.replace(/\.\.$/, '.')
}

export function absentOn(node: Pick<DnsNode, 'live'>): readonly string[] {
  const live = node.live()
  return live === undefined ? [] : namesOfAbsent(live.bundle)
}

export function absentZonesMessage(zones: readonly string[]): string {
  return (
    `Records of ${shownOf(zones)} are answered SERVFAIL: ` +
    'no zone transfer has come yet, or what came has expired.'
  )
}

export function unusedKeysMessage(troubles: readonly string[]): string {
  return `Keys of zones stay as they are on this node: ${shownOf(troubles)}.`
}

/** An expired one is absent. */
function staleZonesOf({ zoneTransfers }: HealthParts): readonly string[] {
  const stale = zoneTransfers().filter(({ state }) =>
    ['failing', 'held', 'refused'].includes(state),
  )
  return stale.map(({ zone, state }) => `${zone} (${state})`)
}

/** People's clocks differ by minutes. */
const aheadMsMax = 3_600_000

/** The latest moment that this node knows to have been; a commit that it makes may hide others. */
function latestOf({ gitops, newestKeyMs }: HealthParts): { readonly is: string; atMs: number } {
  const committedAtMs = gitops.status().head?.committedAtMs ?? 0
  const madeAtMs = newestKeyMs()
  return committedAtMs >= madeAtMs
    ? { is: 'the newest commit is of', atMs: committedAtMs }
    : { is: 'a key of a zone was made at', atMs: madeAtMs }
}

/** A machine without a battery for its clock starts in the past: what it signs then has expired. */
function clockMessage(parts: HealthParts): string {
  const { is, atMs } = latestOf(parts)
  const [now, latest] = [parts.clock.nowMs(), atMs].map((ms) =>
    new Date(ms).toISOString().slice(0, -5).concat('Z'),
  )
  return (
    `The clock of this node says ${now}, and ${is} ${latest}: set the clock, else validators ` +
    'take what this node signs for expired. Where it is right, the other one was ahead.'
  )
}

function behindMessage(nodes: readonly BehindNode[]): string {
  const lines = nodes.map(({ name, behindMs, isWaitedFor }) => {
    const minutes = Math.floor(behindMs / 60_000)
    return `${name} for ${minutes} minutes${isWaitedFor ? '' : ', and rolls wait no more for it'}`
  })
  return (
    'Nodes answer by keys of zones of before, and turn bogus once keys roll without them: ' +
    `${shownOf(lines)}. Their health and log say why.`
  )
}

function faultyParentsMessage(faults: readonly string[]): string {
  return `Clients that validate take answers for forgeries: ${shownOf(faults)}.`
}

function deliveryMessage({ deliveryFault }: HealthParts): string {
  const fault = deliveryFault()
  return fault === ''
    ? 'A change was stopped on its way to the nodes. GET /api/v1/deliveries says why.'
    : `No change goes to the nodes that pull; they keep what they have. ${fault}`
}

function shownOf(zones: readonly string[]): string {
  const more = zones.length - zonesShown
  return `${zones.slice(0, zonesShown).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

const zonesShown = 3

const noBundle: Row = {
  code: 'no-bundle',
  message: `No bundle yet: there is nothing to answer from. ${status}`,
  holds: ({ node }) => node.status().active === null,
}

const degradations: readonly Row[] = [
  {
    code: 'bundle-refused',
    message: `The newest bundle was refused, and the one before serves. ${status}`,
    holds: ({ node }) => node.status().refused !== null,
  },
  {
    code: 'record-expired',
    message: 'The channel record is past its expiry: see whether the clock and Git are right.',
    holds: ({ node }) => node.status().expired,
  },
  {
    code: 'clock-behind',
    message: clockMessage,
    holds: (parts) => parts.clock.nowMs() + aheadMsMax < latestOf(parts).atMs,
  },
  {
    code: 'git-held',
    message: (parts) => `${heldOf(parts)} ${status}`,
    holds: ({ gitops }) => gitops.status().sync === 'held',
  },
  {
    code: 'git-unreachable',
    message: `The repository cannot be read or written; what was accepted serves. ${status}`,
    holds: ({ gitops }) => gitops.status().sync === 'unreachable',
  },
  {
    code: 'write-failed',
    message:
      'In the last hour a change failed by a mistake of gslbd. The log says why: please report it.',
    holds: ({ gitops }) => gitops.status().faultAtMs > 0,
  },
  {
    code: 'bundle-not-stored',
    message: 'The bundle is not on the disk: a restart would serve an older one. See the log.',
    holds: ({ node }) => !node.status().isStored,
  },
  {
    code: 'data-directory',
    message: 'The data directory cannot be written. See the log.',
    holds: ({ canKeep }) => !canKeep(),
  },
  {
    code: 'database-away',
    message: ({ database }) =>
      'The database is away: nobody can log in, and accounts cannot be read. ' +
      `${database().fault ?? ''} See the log.`.trimStart(),
    holds: ({ database }) => !database().isUp,
  },
  {
    code: 'redis-away',
    message: redisAway,
    holds: ({ shared }) => shared().state === 'away',
  },
  {
    code: 'delivery-stopped',
    message: deliveryMessage,
    holds: ({ deliveryPhase, deliveryFault }) =>
      deliveryFault() !== '' || ['held', 'returned'].includes(deliveryPhase() ?? ''),
  },
  {
    code: 'bgp-away',
    message: 'The BGP daemon cannot be told of the addresses. GET /api/v1/bgp says why.',
    holds: ({ anycast }) => anycast()?.driver.isReachable === false,
  },
  {
    code: 'addresses-withdrawn',
    message: 'The addresses of this node are not announced. GET /api/v1/bgp says why.',
    holds: ({ anycast }) => isWithdrawn(anycast()),
  },
  {
    code: 'bgp-unguarded',
    message: 'If this node were killed now, its addresses might stay announced. See the log.',
    holds: ({ anycast }) => anycast()?.isGuarded === false,
  },
  {
    code: 'tls-certificate',
    message: ({ certificates }) => certificatesFaulty(faultyOf(certificates())),
    holds: ({ certificates }) => faultyOf(certificates()).length > 0,
  },
  {
    code: 'backup-failed',
    message: 'A backup that was due could not be taken. See the log.',
    holds: ({ isBackedUp }) => !isBackedUp(),
  },
  {
    code: 'journal-ended',
    message:
      'The journal cannot be written: answers from now on cannot be explained later. See the log.',
    holds: ({ journal }) => (journal()?.error ?? null) !== null,
  },
  {
    code: 'query-log',
    message: queryLogLost,
    holds: ({ queryLog }) => queryLog()?.isFailing === true,
  },
  {
    code: 'audit-log',
    message: 'The audit log cannot be written; its lines are in the main log.',
    holds: ({ isAudited }) => !isAudited(),
  },
  {
    code: geoMissing,
    message: ({ missingGeo }) => missingGeo().join(' '),
    holds: ({ missingGeo }) => missingGeo().length > 0,
  },
  {
    code: zoneAbsent,
    message: ({ absentZones }) =>
      `${absentZonesMessage(absentZones())} GET /api/v1/zone-transfers says why.`,
    holds: ({ absentZones }) => absentZones().length > 0,
  },
  {
    code: 'zone-transfer',
    message: (parts) =>
      `Zones from elsewhere are not kept up to date: ${shownOf(staleZonesOf(parts))}. ` +
      'GET /api/v1/zone-transfers says why.',
    holds: (parts) => staleZonesOf(parts).length > 0,
  },
  {
    code: keyMissing,
    message: ({ missingKeys }) => missingKeysMessage(missingKeys()),
    holds: ({ missingKeys }) => missingKeys().length > 0,
  },
  {
    code: keysUnused,
    message: ({ keyTroubles }) => unusedKeysMessage(keyTroubles()),
    holds: ({ keyTroubles }) => keyTroubles().length > 0,
  },
  {
    code: 'zone-keys-behind',
    message: ({ behindNodes }) => behindMessage(behindNodes()),
    holds: ({ behindNodes }) => behindNodes().length > 0,
  },
  {
    code: 'certificate-behind',
    message: ({ certificateBehind }) =>
      `Nodes have not taken the newest certificate: ${shownOf(certificateBehind())}. ` +
      'Their health and log say why.',
    holds: ({ certificateBehind }) => certificateBehind().length > 0,
  },
  {
    code: 'zone-ds-mismatch',
    message: ({ dsFaults }) => faultyParentsMessage(dsFaults()),
    holds: ({ dsFaults }) => dsFaults().length > 0,
  },
  {
    code: 'checks-off',
    message:
      'Pools declare health checks, and this node makes none (health.enabled): its members are ' +
      'not probed, and all of them are answered.',
    holds: ({ areChecksOff }) => areChecksOff(),
    isNotice: true,
  },
  {
    code: 'setup-open',
    message:
      'There is no account yet, and setup is open: make the first one, or set ' +
      'auth.setupEndpoint to false. The log has the code that it takes from another machine.',
    holds: ({ isSetupOpen }) => isSetupOpen(),
    isNotice: true,
  },
]

/** False for a moment at a start, until the first announcement. */
export function isWithdrawn(anycast: AnycastFacts | null): boolean {
  return anycast?.isAnnounced === false && anycast.reason !== 'starting'
}

/** A database that goes away later is no reason to withdraw a node that answers queries. */
const obstacles: readonly Row[] = [
  noBundle,
  {
    code: 'configuration-unread',
    message: `The accepted configuration has not been read yet. ${status}`,
    holds: ({ gitops }) => !gitops.config.isReady(),
  },
  {
    code: 'database-away',
    message: ({ database }) =>
      `The database was not reached yet. ${`${database().fault ?? ''} See the log.`.trimStart()}`,
    holds: ({ database }) => !database().wasThere,
  },
]

export function healthOf(parts: HealthParts): HealthStatus {
  const reasons = reasonsOf([noBundle, ...degradations], parts)
  if (noBundle.holds(parts)) return { status: 'starting', reasons }
  const isDegraded = degradations.some((row) => row.isNotice !== true && row.holds(parts))
  return { status: isDegraded ? 'degraded' : 'ok', reasons }
}

/** Lists the reasons why the node has not been ready since its start. */
export function unreadyOf(parts: HealthParts): readonly HealthReason[] {
  return reasonsOf(obstacles, parts)
}

function reasonsOf(rows: readonly Row[], parts: HealthParts): readonly HealthReason[] {
  const held = rows.filter(({ holds }) => holds(parts))
  return held.map(({ code, message }) => ({
    code,
    message: typeof message === 'string' ? message : message(parts),
  }))
}

/** The commit that is held, if any, and what serves meanwhile. */
function heldOf({ gitops, node }: HealthParts): string {
  const { code, head, accepted } = gitops.status()
  const serving = node.status().active === null ? 'nothing serves yet' : 'the last bundle serves'
  if (code === 'StateUnreadable') return `What was accepted cannot be read; ${serving}.`
  if (code === 'BranchMissing') {
    return accepted === null
      ? `The branch has no commit yet; ${serving}.`
      : 'The branch is missing; the commit that was accepted from it serves.'
  }
  if (accepted === null) return `The newest commit is held, and none is accepted; ${serving}.`
  if (head?.commit !== accepted.commit) {
    return 'The newest commit is held, and the accepted one serves.'
  }
  return code === 'SignersUnreadable'
    ? 'The list of signers cannot be used: the next commit would be held; the accepted one serves.'
    : `The accepted commit cannot be used again as it is; ${serving}.`
}

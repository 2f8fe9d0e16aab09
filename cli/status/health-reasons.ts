// The table of reasons why a node is degraded or not ready, in the order in which they are told.
import type { HealthReason, HealthStatus } from '#api/ports/operator-view.ts'
import type { GitopsControl } from '#gitops/thread/control.ts'
import type { DnsNode } from '#runtime/node/node.ts'
import type { EphemeralStatus } from '#state/ephemeral.ts'
import type { DatabaseView } from '#cli/node/records.ts'

export interface HealthParts {
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
}

interface Row extends HealthReason {
  readonly holds: (parts: HealthParts) => boolean
}

const status = 'GET /api/v1/gitops/status says why.'

const noBundle: Row = {
  code: 'no-bundle',
  message: `No bundle yet: every query is refused. ${status}`,
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
    code: 'git-held',
    message: `The newest commit is held, and the accepted one serves. ${status}`,
    holds: ({ gitops }) => gitops.status().sync === 'held',
  },
  {
    code: 'git-unreachable',
    message: `The repository cannot be read or written; what was accepted serves. ${status}`,
    holds: ({ gitops }) => gitops.status().sync === 'unreachable',
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
    message: 'The database is away: nobody can log in, and accounts cannot be read. See the log.',
    holds: ({ database }) => !database().isUp,
  },
  {
    code: 'redis-away',
    message: 'Redis is away or too slow: this node goes on with its own memory. See the log.',
    holds: ({ shared }) => shared().state === 'away',
  },
  {
    code: 'backup-failed',
    message: 'A backup that was due could not be taken. See the log.',
    holds: ({ isBackedUp }) => !isBackedUp(),
  },
  {
    code: 'audit-log',
    message: 'The audit log cannot be written; its lines are in the main log.',
    holds: ({ isAudited }) => !isAudited(),
  },
]

/** A database that goes away later is no reason to take away a node that answers queries. */
const obstacles: readonly Row[] = [
  noBundle,
  {
    code: 'configuration-unread',
    message: `The accepted configuration has not been read yet. ${status}`,
    holds: ({ gitops }) => !gitops.config.isReady(),
  },
  {
    code: 'database-away',
    message: 'The database was not reached yet. See the log.',
    holds: ({ database }) => !database().wasThere,
  },
]

export function healthOf(parts: HealthParts): HealthStatus {
  const reasons = reasonsOf([noBundle, ...degradations], parts)
  if (noBundle.holds(parts)) return { status: 'starting', reasons }
  return { status: reasons.length === 0 ? 'ok' : 'degraded', reasons }
}

/** What the node still waits for since its start. */
export function unreadyOf(parts: HealthParts): readonly HealthReason[] {
  return reasonsOf(obstacles, parts)
}

function reasonsOf(rows: readonly Row[], parts: HealthParts): readonly HealthReason[] {
  return rows.filter(({ holds }) => holds(parts)).map(({ code, message }) => ({ code, message }))
}

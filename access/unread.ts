// Makes the 503 reply while the accepted configuration is not read.
import type { ConfigView } from '#config/view.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import type { Viewer } from './caller.ts'
import { apiLimits } from '#http/limits.ts'
import { later } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { storeFailed } from '#http/store-reply.ts'
import type { Tenants } from './tenants.ts'

/** Commits in hex, and why the newest one is not read; null: there is none. */
interface ReadCommits {
  readonly accepted: string | null
  readonly active: string | null
  readonly reason: { readonly code: string; readonly message: string } | null
}

export interface ViewParts {
  readonly view: { readonly gitops: () => ReadCommits }
}

/** Why the validity of a credential is not known yet. */
export type Obstacle = StoreFailure | { readonly code: 'config-unread' }

export function obstacleReply(ports: ViewParts, obstacle: Obstacle): Reply {
  return obstacle.code === 'config-unread' ? unreadReply(ports, null) : storeFailed(obstacle)
}

/** @param viewer null: the caller is unknown, and is told nothing of the commit */
export function unreadReply({ view }: ViewParts, viewer: Viewer | null): Reply {
  const { reason, ...commits } = view.gitops()
  const { readingSeconds, unreadableSeconds } = apiLimits.retryAfter
  const what = `the configuration${viewer === null ? '' : commitOf(commits)}`
  const isAdmin = viewer?.isSystemAdmin === true
  const sentence =
    reason === null
      ? `${what} is being read; try again in a moment`
      : `${what} cannot be read${isAdmin ? reasonOf(reason) : whomToAsk}`
  return later(503, sentence, reason === null ? readingSeconds : unreadableSeconds)
}

/** The reason may name files that not everybody may see, as in gitops/status. */
const whomToAsk = '; the administrator of the system sees the reason in /api/v1/gitops/status'

function reasonOf({ code, message }: NonNullable<ReadCommits['reason']>): string {
  return ` (${code}): ${message}`
}

function commitOf({ accepted, active }: Omit<ReadCommits, 'reason'>): string {
  const commit = accepted ?? active
  return commit === null ? '' : ` of commit ${commit.slice(0, 10)}`
}

/** The tenant `default` exists without any configuration. */
export function tenantPresence(
  { config, tenants }: { readonly config: ConfigView; readonly tenants: Tenants },
  id: string,
): 'there' | 'gone' | 'unread' {
  if (id === defaultTenant) return 'there'
  if (!config.isReady()) return 'unread'
  return tenants.find(id) === undefined ? 'gone' : 'there'
}

// Composes the feed of a node: its sources, and the key of its tokens.
import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import { Feed } from '#feed/feed.ts'
import { FeedTokens } from '#feed/tokens.ts'
import type { MemberHealthView } from '#ports/member-health.ts'
import type { OverlayView } from '#ports/overlay-view.ts'
import type { NodeFacts } from '#ports/node-facts.ts'
import { statsByTenant } from '#api/resources/dashboard.ts'
import type { ConfigView } from '#config/view.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { systemAfter } from '#lib/timer.ts'
import type { WebSocketTokens } from '#state/ports/websocket-tokens.ts'
import type { NodeSecrets } from '#process/data/secrets.ts'

interface NodeFeedParts extends Pick<NodeSecrets, 'apiKey' | 'secretKey'> {
  readonly config: ConfigView
  readonly memberHealth: MemberHealthView
  readonly overlays: OverlayView
  readonly webSocketTokens: WebSocketTokens
  readonly clientsMax: number
  readonly clientRegions: NodeFacts['clientRegions']
  readonly log: Log
}

interface NodeFeed {
  readonly node: NodeFacts
  readonly feed: Feed
  readonly feedTokens: FeedTokens
}

export function createNodeFeed(parts: NodeFeedParts): NodeFeed {
  const { config, memberHealth, overlays, webSocketTokens, clientsMax, log } = parts
  const node: NodeFacts = {
    uptimeSeconds: () => process.uptime(),
    webSocketClients: () => feed.clientCount,
    clientRegions: parts.clientRegions,
  }
  const feed = new Feed({
    config,
    memberHealth,
    overlays,
    stats: () => statsByTenant({ config, memberHealth, node }),
    clientsMax,
    clock: systemClock,
    after: systemAfter,
    defer: setImmediate,
    log,
  })
  return { node, feed, feedTokens: new FeedTokens(tokenKey(parts), webSocketTokens, systemClock) }
}

/**
 * The key of tokens is derived from GSLB_SECRET_KEY, so that a token is valid on every node, and
 * from GSLB_API_KEY, so that a new one revokes tokens. It is never derived from GSLB_API_KEY alone,
 * which a token would help to guess. Without GSLB_SECRET_KEY each node has a random key.
 */
function tokenKey({ apiKey, secretKey }: NodeFeedParts): Uint8Array {
  if (secretKey === null) return randomBytes(32)
  const salt = createHash('sha256')
    .update(apiKey ?? '')
    .digest()
  return new Uint8Array(hkdfSync('sha256', secretKey, salt, 'gslbd feed token', 32))
}

// /api/v1/ws and /api/v1/ws/token: the WebSocket feed, and the tokens that open it.
import { Type } from '#lib/schema/type.ts'
import { closed } from '#http/shapes.ts'
import { Authenticator, credentialMark } from '#access/auth/authenticator.ts'
import { apiLimits } from '#http/limits.ts'
import { mayFollow } from '#ports/feed-port.ts'
import { feedPath } from '#http/handshake/web-socket.ts'
import { crossSite } from '#http/origin.ts'
import { later, refused, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { storeFailed } from '#http/store-reply.ts'
import { obstacleReply } from '#access/unread.ts'

const route = routesOf({ tag: 'WebSocket' })

const token = route('GET /api/v1/ws/token', {
  // The feed begins with a snapshot.
  needs: 'snapshot:read',
  summary: 'A token for one connection to the feed, soon',
  responses: {
    200: {
      description: 'A signed token (JWT) that opens the feed once, on any node',
      schema: Type.Object({
        token: Type.String(),
        expiresAt: Type.Integer({ description: 'Unix milliseconds' }),
      }),
    },
  },
  ports: ['feed', 'feedTokens'],
  handle: async ({ caller, ports }) => {
    // Records events between this response and the connection.
    ports.feed.listen()
    const { token, expiresAtMs } = await ports.feedTokens.issue(credentialMark(caller))
    return success({ token, expiresAt: expiresAtMs })
  },
})

const unauthorized = refused(401, 'token: is expired, was used, or is none of this server')

const feed = route(`GET ${feedPath}`, {
  needs: 'public',
  summary: 'The feed of events over a WebSocket, which the token opens',
  query: closed({
    token: Type.String({ minLength: 1, maxLength: apiLimits.feed.tokenLengthMax }),
    revision: Type.Optional(
      Type.String({
        maxLength: apiLimits.feed.revisionLengthMax,
        description: 'The last revision that the client has: sends what came after it',
      }),
    ),
  }),
  responses: { 101: { description: 'From here on it is a WebSocket (RFC 6455)', schema: null } },
  refusals: [401, 403, 426],
  ports: ['view', 'config', 'auth', 'identities', 'sessions', 'tenants', 'feed', 'feedTokens'],
  handle: async ({ ports, query, request }) => {
    if (!request.isHandshake) {
      const answer = refused(426, 'this needs a WebSocket; connect with ws:// or wss://')
      return { ...answer, headers: { connection: 'Upgrade', upgrade: 'websocket' } }
    }
    if (request.isOtherOrigin) return crossSite
    const full = ports.feed.whyFull(null)
    if (full !== null) return later(503, full, 10)
    const mark = await ports.feedTokens.markOf(query.token)
    if (mark === null) return unauthorized
    const authenticator = new Authenticator(ports)
    const ask = () => authenticator.callerOf(mark)
    const caller = await ask()
    if (caller === null) return unauthorized
    if ('code' in caller) return obstacleReply(ports, caller)
    // The role may have lost the permission since the token was issued.
    if (!mayFollow(caller)) return refused(403, 'permission denied: this needs snapshot:read')
    const fullForIt = ports.feed.whyFull(caller)
    if (fullForIt !== null) return later(503, fullForIt, 10)
    // Last, so that a client that is told to come later can use the same token.
    const redeemed = await ports.feedTokens.redeem(query.token)
    if (!redeemed.ok) return redeemed.error === null ? unauthorized : storeFailed(redeemed.error)
    const revision = query.revision ?? null
    return {
      status: 101,
      upgrade: (socket) => ports.feed.accept(socket, { caller, ask, revision }),
    }
  },
})

export const webSocketRoutes = Object.freeze([token, feed])

// /api/v1/cluster/nodes: the nodes of the cluster, and restarts. /api/v1/bgp: announced routes.
import { Type } from '#lib/schema/type.ts'
import type { AnnouncedAddresses } from '#ports/anycast-view.ts'
import { ClusterNode } from '#ports/cluster-view.ts'
import type { RestartFault, SeenNode } from '#ports/cluster-view.ts'
import { whoFields } from '#access/caller.ts'
import { missing, refused, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { nullable } from '#http/shapes.ts'

const route = routesOf({ tag: 'Cluster', withoutConfig: true, ofPlatform: true })

const Announced = Type.Object(
  {
    node: Type.String(),
    daemon: Type.String({ description: 'The BGP daemon that is told: bird or exabgp' }),
    addresses: Type.Array(Type.String()),
    isAnnounced: Type.Boolean({ description: 'What the node wants; `driver` says what is' }),
    since: Type.Integer({ description: 'Unix milliseconds' }),
    reason: nullable(
      Type.String({
        description:
          'Why not: starting, no-bundle, bundle-old, silent, draining; null: they are announced',
      }),
    ),
    holdDownSeconds: Type.Integer({ description: 'Until they may be announced again' }),
    driver: Type.Object({
      isReachable: nullable(Type.Boolean({ description: 'null: it was not told anything yet' })),
      announces: nullable(
        Type.String({
          description:
            'all, some or none of the protocols, as the daemon says; null: it cannot be asked',
        }),
      ),
      reply: Type.String({ description: 'Its last words, or why it cannot be told' }),
      at: nullable(Type.Integer({ description: 'Unix milliseconds' })),
    }),
    selfQuery: nullable(
      Type.Object(
        {
          address: Type.String(),
          fault: nullable(Type.String()),
          milliseconds: Type.Number(),
          at: Type.Integer({ description: 'Unix milliseconds' }),
        },
        { description: 'The last query of the node to itself; null: none yet' },
      ),
    ),
    silentLooks: Type.Integer({ description: 'Looks without an answer, in a row' }),
    isGuarded: Type.Boolean({
      description: 'A second process withdraws the routes, should the node be killed',
    }),
  },
  { title: 'AnnouncedAddresses' },
)

const list = route('GET /api/v1/cluster/nodes', {
  needs: 'cluster:status',
  summary: 'The nodes: what each answers from, how busy and how well it is',
  details:
    'Only for the tenant `default`. This node first; the others are those with the same ' +
    '`redis.url`, which say it every five seconds, and nodes of the role dns, which say it when ' +
    'they ask for a bundle. They are listed for a day after they fell silent.',
  responses: { 200: { description: 'The nodes', schema: Type.Array(ClusterNode) } },
  ports: ['cluster', 'clock'],
  handle: async ({ ports }) => {
    const nowMs = ports.clock.nowMs()
    return success((await ports.cluster.nodes()).map((node) => showNode(node, nowMs)))
  },
})

const statusOf: Readonly<Record<RestartFault, number>> = {
  unknown: 404,
  unsupervised: 409,
  silent: 503,
  alone: 501,
}

const restartTaken = 'a restart of the node was asked for, and it has taken it'

const restart = route('POST /api/v1/cluster/nodes/{name}/restart', {
  needs: 'cluster:restart',
  summary: 'Restart a node: it stops as at SIGTERM, and its supervisor starts it again',
  details:
    'Answers under way go out first. 409: nothing would start it again. 501: this node reaches ' +
    'no other one. 503: the node does not answer.',
  responses: {
    202: {
      description: 'The node has taken it',
      schema: Type.Object({ name: Type.String(), status: Type.Literal('restarting') }),
    },
  },
  refusals: [409, 501],
  ports: ['cluster', 'log'],
  handle: async ({ ports, params: { name }, caller, requestId }) => {
    const asked = await ports.cluster.restart(name)
    if (asked.ok) ports.log.info({ node: name, requestId, ...whoFields(caller) }, restartTaken)
    if (asked.ok) return { status: 202, body: { name, status: 'restarting' } }
    const { code, message } = asked.error
    return code === 'unknown' ? missing('node') : refused(statusOf[code], message)
  },
})

const bgp = route('GET /api/v1/bgp', {
  needs: 'bgp:status',
  summary: 'Addresses that this node announces by BGP, or why it does not',
  details: 'Only for the tenant `default`. An empty list: `anycast.driver` is none.',
  responses: {
    200: { description: 'The addresses of this node', schema: Type.Array(Announced) },
  },
  ports: ['cluster', 'anycast'],
  handle: async ({ ports }) => {
    const status = ports.anycast.status()
    if (status === null) return success([])
    const [self] = await ports.cluster.nodes()
    return success([showAnnounced(self?.name ?? '', status)])
  },
})

function showAnnounced(node: string, status: AnnouncedAddresses) {
  const { daemon, addresses, isAnnounced, sinceMs, reason, driver, selfQuery } = status
  const { isReachable, announces, reply, atMs } = driver
  const heldMs = status.holdDownLeftMs
  return {
    ...{ node, daemon, addresses, isAnnounced, reason },
    since: Math.floor(sinceMs),
    holdDownSeconds: Math.ceil(heldMs / 1_000),
    driver: { isReachable, announces, reply, at: atMs === null ? null : Math.floor(atMs) },
    selfQuery:
      selfQuery === null
        ? null
        : {
            address: selfQuery.address,
            fault: selfQuery.fault,
            milliseconds: selfQuery.tookMs,
            at: Math.floor(selfQuery.atMs),
          },
    ...{ silentLooks: status.silentLooks, isGuarded: status.isGuarded },
  }
}

function showNode(node: SeenNode, nowMs: number) {
  const { name, isSelf, isMissing, version, commit, digest, seq, issuedAtMs } = node
  const { busyRatio, queries, status, reasons, members, isSupervised } = node
  return {
    name,
    isSelf,
    isMissing,
    version,
    startedAt: Math.floor(node.startedAtMs),
    seenAt: Math.floor(node.atMs),
    commit,
    digest,
    seq,
    ageSeconds: issuedAtMs === null ? null : Math.max(0, (nowMs - issuedAtMs) / 1_000),
    load: node.answersDns === false ? null : { busyRatio, queries },
    ...{ role: node.role, labels: node.labels, isKnown: node.isKnown, drift: node.drift },
    clockOffsetMs: node.clockOffsetMs === null ? null : Math.round(node.clockOffsetMs),
    refusals: node.refusals.map(({ atMs, ...refusal }) => ({ ...refusal, at: Math.floor(atMs) })),
    health: { status, reasons, members },
    canRestart: isSupervised,
  }
}

export const clusterRoutes = Object.freeze([list, restart, bgp])

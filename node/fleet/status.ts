// Serves the state of a node of the role dns alone over HTTP: a page, health, readiness and
// metrics.
import type { MetricsSnapshot } from '#metrics/snapshot.ts'
import { systemKey } from '#access/auth/policy.ts'
import { readSecrets } from '#process/data/secrets.ts'
import { dataDirectorySnapshot } from '#process/data/disk-use.ts'
import { nodeSnapshot } from '#node/status/operator-view.ts'
import { ThreadLoad } from '#node/status/thread-load.ts'
import type { Io } from '#system/process/command.ts'
import { pagePolicy, statusPage } from '#fleet/status-page.ts'
import { StatusServer, jsonAnswer } from '#fleet/status-server.ts'
import type { StatusAnswer } from '#fleet/status-server.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { HandedSockets, descriptorOf, listenerName } from '#system/sockets/handed-sockets.ts'
import type { ListenerSockets } from '#system/sockets/handed-sockets.ts'
import { healthOf, noBundle } from './pulled-health.ts'
import type { PulledNode } from './pulled-node.ts'

export interface OpenStatus {
  /** null: it is off in the settings. */
  readonly port: number | null
  /** The sockets that another process may take over. */
  readonly sockets: () => readonly ListenerSockets[]
  readonly close: () => Promise<void>
}

const metricsType = 'text/plain; version=0.0.4; charset=utf-8'
const isOfThisMachine = (address: string): boolean =>
  address === '::1' || address === 'localhost' || address.startsWith('127.')

/** Listens where `api` says, if `api.enabled`. Errors: a sentence for the operator. */
export async function openStatusServer(
  pulled: PulledNode,
  log: Log,
  env: Io['env'],
  handed = new HandedSockets(),
): Promise<Result<OpenStatus, string>> {
  const { enabled, listenAddr, port } = pulled.settings.api
  if (!enabled) return ok({ port: null, sockets: () => [], close: async () => undefined })
  const secrets = readSecrets(env)
  if (!secrets.ok) return secrets
  const { apiKey, metricsToken } = secrets.value
  if (apiKey === null && !isOfThisMachine(listenAddr)) {
    return err(
      `api.listenAddr is ${listenAddr}, and everybody who reaches it could read the metrics; ` +
        'set GSLB_API_KEY, or api.listenAddr to 127.0.0.1',
    )
  }
  const key = apiKey === null ? null : systemKey(apiKey)
  const token = metricsToken === null ? null : systemKey(metricsToken)
  const metrics = metricsOf(pulled)
  const mayRead = (authorization = ''): boolean =>
    key === null || key.matches(tokenIn(authorization))
  const server = new StatusServer(
    {
      '/': (authorization) => (mayRead(authorization) ? page(pulled) : askForPassword),
      // The newest seq is included: a restored control node continues above that of its nodes.
      '/api/v1/health': () =>
        jsonAnswer(200, { ...healthOf(pulled), newest: newestOf(pulled.node.resumePoint()) }),
      '/api/v1/ready': () => ready(pulled),
      '/metrics': async (authorization) => {
        const isScraper = token?.matches(tokenIn(authorization ?? '')) === true
        if (!isScraper && !mayRead(authorization)) {
          return jsonAnswer(401, { error: 'this needs a valid credential' })
        }
        return { status: 200, type: metricsType, text: await metrics() }
      },
    },
    (error) => log.error({ err: error }, 'the status of the node cannot be computed'),
  )
  const name = listenerName('api', listenAddr, port)
  const [socket] = handed.take(name)
  const listening = await server.listen(listenAddr, port, socket)
  if (!listening.ok) return err(`api: ${listening.error}`)
  const sockets = (): readonly ListenerSockets[] => {
    const descriptor = descriptorOf(server.server)
    return descriptor === undefined ? [] : [{ name, descriptors: [descriptor] }]
  }
  return ok({ port: listening.value, sockets, close: () => server.close() })
}

/** Without the bundle itself: everybody may read the health of a node. */
function newestOf(point: ReturnType<PulledNode['node']['resumePoint']>): object | null {
  return point === null ? null : { seq: point.seq, digest: point.digest }
}

/** RFC 6750 section 2.1; for browsers the password of RFC 7617. */
function tokenIn(authorization: string): string {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? []
  if (scheme.toLowerCase() !== 'basic') return value
  const text = Buffer.from(value, 'base64').toString()
  return text.slice(text.indexOf(':') + 1)
}

const askForPassword: StatusAnswer = {
  ...jsonAnswer(401, { error: 'this needs a valid credential: the password is GSLB_API_KEY' }),
  headers: { 'www-authenticate': 'Basic realm="gslbd", charset="UTF-8"' },
}

function page(pulled: PulledNode): StatusAnswer {
  const { puller, report } = pulled
  const { status, reasons } = healthOf(pulled)
  const text = statusPage({
    report: report(puller.pulled()),
    health: status,
    reasons: reasons.map(({ message }) => message),
    pull: puller.status(),
    nowMs: systemClock.nowMs(),
  })
  const headers = { 'content-security-policy': pagePolicy, 'referrer-policy': 'no-referrer' }
  return { status: 200, type: 'text/html; charset=utf-8', text, headers }
}

function ready({ node }: PulledNode): StatusAnswer {
  if (node.status().active !== null) return jsonAnswer(200, { status: 'ready', reasons: [] })
  const reasons = [noBundle]
  return jsonAnswer(503, { error: `not ready: ${noBundle.message}`, reasons })
}

const noNotices = { counts: { sent: 0, acknowledged: 0, failed: 0 } } as const

function metricsOf(pulled: PulledNode): () => Promise<string> {
  const { node, health, resolver, shared, geo, puller } = pulled
  const load = new ThreadLoad(systemClock)
  const parts = {
    node,
    nodeName: pulled.settings.state.nodeName,
    health,
    resolver,
    shared: shared.status,
    redirects: () => ({ listener: pulled.redirects?.counts() ?? null, targets: [] }),
    geo: () => geo?.status() ?? [],
    load,
    clock: systemClock,
    feedClients: () => 0,
    queryLog: () => pulled.queryLog?.counts() ?? null,
    zonePushes: () => [],
    missingKeys: pulled.missingKeys,
    updates: { counts: new Map<number, number>() },
    notifier: pulled.exchange?.notifier ?? noNotices,
  }
  const snapshot = (): MetricsSnapshot => {
    load.sample(node.counters().map(({ threadId }) => threadId))
    return {
      ...nodeSnapshot(parts),
      certificates: node.tcpStats?.secure?.certificates ?? [],
      isDatabaseUp: null,
      backupAgeSeconds: null,
      dataDirectory: dataDirectorySnapshot(
        pulled.settings.dataDir,
        pulled.dataDir.fault(),
        node.status(),
      ),
      ...{ apiRequests: [], apiWrites: null, spans: null },
      gitops: null,
      pull: puller.status(),
      given: null,
      fleet: null,
      alerts: null,
      anycast: pulled.anycast(),
      journal: pulled.journal?.status() ?? null,
    }
  }
  // Loaded on demand: it takes 75 ms of a start, and 9 MiB.
  let metrics: { readonly text: () => Promise<string> } | undefined
  return async () => {
    const { createMetrics } = await import('#metrics/metrics.ts')
    metrics ??= createMetrics(snapshot)
    return metrics.text()
  }
}

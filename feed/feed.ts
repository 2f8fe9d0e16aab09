// The WebSocket feed: sends changes of the configuration and of health to everybody who may see
// them.
import type { ConfigChange, ConfigView } from '#config/view.ts'
import { partsIn } from '#config/entry.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { After } from '#lib/timer.ts'
import { visibleTenant } from '#access/caller.ts'
import type { Caller } from '#access/caller.ts'
import type { MemberHealthView } from '#ports/member-health.ts'
import type { OverlayView } from '#ports/overlay-view.ts'
import { FeedClient } from './client.ts'
import type { FeedSocket } from '#http/feed-socket.ts'
import { configEvents } from './config-events.ts'
import { EffectiveNews } from './effective-news.ts'
import { EventLog } from './event-log.ts'
import type { EventLogSizes } from './event-log.ts'
import { HealthNews } from './health-news.ts'
import { closeCodes, feedLimits } from './limits.ts'
import { memberMessage, messageOf } from './messages.ts'
import { liveMessages, snapshotMessages } from './snapshot.ts'
import { CredentialRecheck } from './credential-recheck.ts'
import type { Arrival, FeedPort } from '#ports/feed-port.ts'

type StatsByTenant = (tenant: string | null) => object

interface FeedParts {
  readonly config: ConfigView
  readonly memberHealth: MemberHealthView
  readonly overlays: OverlayView
  /** Computes the dashboard's numbers; null: for all tenants. */
  readonly stats: () => StatsByTenant
  /** 0: the feed is off. */
  readonly clientsMax: number
  readonly clock: Clock
  readonly after: After
  readonly defer: (fn: () => void) => void
  readonly log: Log
  readonly sizes?: EventLogSizes
}

interface CountedStats {
  readonly atMs: number
  readonly of: StatsByTenant
  /** By tenant; null: for all. */
  readonly messages: Map<string | null, Buffer>
}

export class Feed implements FeedPort {
  readonly #parts: FeedParts
  readonly #history: EventLog
  readonly #news: HealthNews
  readonly #effective: EffectiveNews
  readonly #clients = new Map<FeedClient, CredentialRecheck>()
  #isListening = false
  #isClosing = false
  #callOffTick: (() => void) | null = null
  #callOffLook: (() => void) | null = null
  /** The numbers of this period; null: no client has needed them. */
  #stats: CountedStats | null = null
  #allGone: (() => void) | null = null

  constructor(parts: FeedParts) {
    this.#parts = parts
    this.#history = new EventLog(parts.sizes)
    this.#news = new HealthNews(parts.memberHealth, parts.clock)
    this.#effective = new EffectiveNews(parts.overlays)
  }

  get clientsMax(): number {
    return this.#parts.clientsMax
  }

  get clientCount(): number {
    return this.#clients.size
  }

  whyFull(caller: Caller | null): string | null {
    const { clientsMax } = this.#parts
    if (this.#isClosing) return 'the node is shutting down'
    if (this.#clients.size >= clientsMax) return 'the feed has no place for one more client'
    const tenant = caller === null ? null : visibleTenant(caller)
    if (tenant === null) return null
    let ofTenant = 0
    for (const client of this.#clients.keys()) if (client.tenant === tenant) ofTenant++
    const isFull = ofTenant >= Math.ceil(clientsMax * feedLimits.tenantShare)
    return isFull ? 'the feed has no place for one more client of this tenant' : null
  }

  listen(): void {
    if (this.#isListening) return
    this.#isListening = true
    const { config, memberHealth, overlays } = this.#parts
    config.onChange((change) => this.#configChanged(change))
    memberHealth.onChange((uids) => this.#healthChanged(uids))
    overlays.onRegression(() => this.#look())
    this.#look()
    this.#history.mark(config.snapshot().revision)
  }

  accept(socket: FeedSocket, { caller, ask, revision }: Arrival): void {
    this.listen()
    const why = this.whyFull(caller)
    if (why !== null) {
      socket.close(closeCodes.tryLater, why)
      this.#parts.after(feedLimits.closeGraceMs, () => socket.terminate())
      return
    }
    const { config, memberHealth, overlays, clock, after, defer } = this.#parts
    const tenant = visibleTenant(caller)
    const now = () => {
      const nowMs = clock.nowMs()
      return { config: config.snapshot(), health: memberHealth, overlays, tenant, nowMs }
    }
    const snapshot = () => {
      const parts = now()
      return { messages: snapshotMessages(parts), revision: parts.config.revision }
    }
    const live = () => liveMessages(now())
    const client = new FeedClient({
      ...{ socket, log: this.#history, tenant, snapshot, live, revision, clock, after, defer },
    })
    this.#clients.set(client, new CredentialRecheck(caller, ask, clock))
    socket.onClosed(() => {
      this.#clients.delete(client)
      if (this.#clients.size === 0) this.#allGone?.()
    })
    if (this.#callOffTick === null) this.#tickLater()
  }

  /** Announces to every client that the node stops; resolves when none is left. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#callOffLook?.()
    const gone = new Promise<void>((resolve) => (this.#allGone = resolve))
    if (this.#clients.size === 0) return
    for (const client of this.#clients.keys()) client.close(closeCodes.goingAway, 'shutting down')
    await gone
    this.#callOffTick?.()
    this.#callOffTick = null
  }

  #configChanged(change: ConfigChange): void {
    const nowMs = this.#parts.clock.nowMs()
    const after = this.#effective.now(change.after, nowMs)
    this.#history.append(configEvents(change, { before: this.#effective.reported, after }))
    this.#look(poolsIn(change))
    this.#history.mark(change.after.revision)
    const gone = [...change.deleted, ...change.updated.map(({ before }) => before)]
      .flatMap((entry) => partsIn('Member', entry).map(({ uid }) => uid))
      .filter((uid) => change.after.part('Member', uid) === undefined)
    this.#news.forget(gone)
    this.#wakeAll()
  }

  /**
   * Reports members that time or a regression changed.
   *
   * @param reported pools that were reported already
   */
  #look(reported: ReadonlySet<string> = new Set()): void {
    this.#callOffLook?.()
    this.#callOffLook = null
    if (this.#isClosing) return
    const { config, clock, after } = this.#parts
    const nowMs = clock.nowMs()
    const snapshot = config.snapshot()
    const view = this.#effective.now(snapshot, nowMs)
    const changed = this.#effective
      .look(snapshot, nowMs)
      .filter(({ poolId }) => !reported.has(poolId))
      .map(({ poolId, tenant, member }) => ({
        tenant,
        message: memberMessage('updated', poolId, member, view),
      }))
    if (changed.length > 0) this.#history.append(changed)
    const restMs = this.#effective.restMs(snapshot, nowMs)
    if (restMs !== null) this.#callOffLook = after(restMs, () => this.#look())
    if (changed.length > 0) this.#wakeAll()
  }

  #healthChanged(memberUids: readonly string[]): void {
    this.#history.append(this.#news.eventsOf(memberUids, this.#parts.config.snapshot()))
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const client of this.#clients.keys()) client.wake()
  }

  #tickLater(): void {
    this.#callOffTick = this.#parts.after(feedLimits.tickMs, () => {
      this.#callOffTick = null
      if (this.#clients.size === 0) return
      this.#tick()
      this.#tickLater()
    })
  }

  #tick(): void {
    for (const [client, recheck] of this.#clients) {
      client.tick()
      if (client.isOpen) this.#recheck(client, recheck)
    }
    this.#sendStats()
  }

  #recheck(client: FeedClient, recheck: CredentialRecheck): void {
    recheck.check().then(
      (end) => {
        if (end !== null) client.close(end.code, end.reason)
      },
      (error: unknown) => this.#parts.log.error({ err: error }, 'a feed could not be checked'),
    )
  }

  /** Sends the numbers to each client periodically, computed once, and soon to a new one. */
  #sendStats(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    let stats = this.#stats
    const isDue = stats === null || nowMs - stats.atMs >= feedLimits.statsMs
    if (stats === null || isDue) {
      stats = this.#stats = { atMs: nowMs, of: this.#parts.stats(), messages: new Map() }
    }
    for (const [client, recheck] of this.#clients) {
      if (!recheck.seesStats) {
        if (isDue) client.offerStats(null)
        continue
      }
      if (!isDue && client.hasStats) continue
      const { tenant } = client
      const message = stats.messages.get(tenant) ?? messageOf('stats_update', stats.of(tenant))
      stats.messages.set(tenant, message)
      client.offerStats(message)
    }
  }
}

function poolsIn({ created, updated, deleted }: ConfigChange): ReadonlySet<string> {
  const entries = [...created, ...updated.map(({ after }) => after), ...deleted]
  return new Set(entries.map(({ uid }) => uid))
}

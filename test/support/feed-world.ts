// The feed behind a real server, over a configuration, health and time that tests control.
import { request } from 'node:http'
import { WebSocket } from 'ws'
import { systemKey, tokenHash } from '#access/auth/policy.ts'
import { Feed } from '#feed/feed.ts'
import type { EventLogSizes } from '#feed/event-log.ts'
import { feedLimits } from '#feed/limits.ts'
import { unprobed } from '#ports/member-health.ts'
import type { KnownHealth, MemberHealthView } from '#ports/member-health.ts'
import type { ServerPorts } from '#api/server/app.ts'
import { createApiServer } from '#api/server/server.ts'
import type { HttpServer } from '#api/server/listening.ts'
import { configEntry } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { LiveConfigView, noConfig } from '#config/view.ts'
import { ok } from '#lib/result.ts'
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import { validate } from '#schemas/validator.ts'
import { MemorySessions } from '#state/memory/sessions.ts'
import { anyUser, devMode, portsOf, silentLog, unseenOverlays } from './api-ports.ts'
import { keyOf, rootKey } from './config-world.ts'
import { FakeTime } from './fake-time.ts'
import { valueOf } from './store-values.ts'
import { waitUntil } from './wait-until.ts'
import { portOf } from './port-of.ts'
import type { User } from '#state/ports/users.ts'

export const feedStartMs = Date.UTC(2026, 0, 15, 12)

const folderOf: Partial<Record<Kind, string>> = {
  ...{ Pool: 'pools', Service: 'services' },
  ...{ Rollout: 'rollouts', MaintenanceWindow: 'maintenance-windows' },
}
let blobs = 0

/** An object as an accepted commit has it. */
export function objectOf<K extends 'Pool' | 'Service' | 'Rollout' | 'MaintenanceWindow'>(
  kind: K,
  tenant: string,
  name: string,
  spec: object,
  uid?: string,
): ConfigEntry<K> {
  const metadata = uid === undefined ? { name } : { name, uid }
  const object = { apiVersion: 'gslb/v1', kind, metadata, spec: structuredClone(spec) }
  const faults = validate(kind, object)
  if (faults.length > 0) throw new Error(JSON.stringify(faults))
  const path = `tenants/${tenant}/${folderOf[kind]}/${name}.yaml`
  const entry = configEntry(path, `blob-${++blobs}`, kind, object as unknown as ObjectOf[Kind])
  return entry as ConfigEntry<K>
}

export const member = (ipAddress: string, more: object = {}) => ({ ipAddress, port: 80, ...more })

/** A view in which each commit gives all objects. */
export function createCommits() {
  const view = new LiveConfigView()
  let count = 0
  const commit = (...entries: ConfigEntry[]): string => {
    const revision = String(++count).padStart(40, '0')
    view.apply({ isWhole: true, revision, changed: entries, removed: [] })
    return revision
  }
  /** The state of a first start. */
  const none = (): void => {
    view.apply(noConfig)
  }
  return { view, commit, none }
}

export interface Heard {
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** A client of the feed, and all events that it received. */
export interface Listener {
  readonly socket: WebSocket
  readonly heard: Heard[]
  /** Types and identifying fields in order, without statistics. */
  readonly said: () => string[]
  readonly until: (what: string, probe: (heard: readonly Heard[]) => boolean) => Promise<void>
  /** Code and reason, once it is closed. */
  readonly closed: Promise<readonly [code: number, reason: string]>
}

export interface FeedWorldOptions {
  readonly clientsMax?: number
  readonly sizes?: EventLogSizes
  readonly ports?: Partial<ServerPorts>
}

export class FeedWorld {
  readonly time = new FakeTime(feedStartMs)
  readonly commits = createCommits()
  readonly sessions = new MemorySessions(this.time.clock)
  readonly feed: Feed
  readonly ports: ServerPorts
  readonly server: HttpServer
  /** By address; health of other members is unknown. */
  readonly health = new Map<string, KnownHealth>()
  readonly #healthHandlers = new Set<(uids: readonly string[]) => void>()
  readonly #roles = new Map<string, { tenantId: string; role: string }>()
  readonly tenantOfKey = new Map(['acme', 'zenith'].map((id) => [tokenHash(keyOf(id)), id]))
  /** Number of times the statistics were computed. */
  statsCounted = 0
  #port = 0

  constructor({ clientsMax = 10, sizes, ports = {} }: FeedWorldOptions = {}) {
    const memberHealth: MemberHealthView = {
      node: 'n1',
      of: ({ ipAddress }) => this.health.get(ipAddress) ?? unprobed('n1'),
      onChange: (handler) => {
        this.#healthHandlers.add(handler)
        return () => this.#healthHandlers.delete(handler)
      },
    }
    const config = this.commits.view
    const overlays = ports.overlays ?? unseenOverlays
    const { clock, after } = this.time
    const stats = () => {
      this.statsCounted++
      return (tenant: string | null) => ({ totalPools: 1, tenant })
    }
    this.feed = new Feed({
      ...{ config, memberHealth, overlays, stats, clientsMax, clock, after, defer: setImmediate },
      log: silentLog,
      ...(sizes === undefined ? {} : { sizes }),
    })
    this.ports = portsOf({
      auth: { ...devMode, systemKey: systemKey(rootKey) },
      config,
      memberHealth,
      overlays,
      clock,
      feed: this.feed,
      sessions: this.sessions,
      users: portOf('users', { find: async (_scope, id) => ok(this.#userOf(id)) }),
      roles: portOf('roles', { findByName: async () => ok(null) }),
      tenantKeys: portOf('tenantKeys', {
        findTenant: async (hash) => ok(this.tenantOfKey.get(hash) ?? null),
      }),
      tenants: portOf('tenants', {
        find: (id) => ({ id, name: id, rpsLimit: 1_000, createdAt: feedStartMs / 1_000 }),
      }),
      ...ports,
    })
    const options = { trustedProxies: [], allowDevMode: true, listenAddr: '127.0.0.1', port: 0 }
    this.server = createApiServer({ ports: this.ports, log: silentLog, ...options })
  }

  async start(): Promise<void> {
    const listening = await this.server.listen()
    if (!listening.ok) throw new Error(listening.error)
    this.#port = listening.value.port
  }

  async stop(): Promise<void> {
    const closed = this.server.close()
    await waitUntil('the last words', () => this.feed.whyFull(null)?.includes('shutting down'))
    this.time.pass(feedLimits.closeGraceMs)
    await closed
  }

  get origin(): string {
    return `127.0.0.1:${this.#port}`
  }

  /** @returns the token of a session */
  async logIn(userId: string, tenantId: string, role: string): Promise<string> {
    this.#roles.set(userId, { tenantId, role })
    const token = tokenHash(`session of ${userId}`).slice(0, 43)
    const identity = { userId, tenantId, role, createdAtMs: feedStartMs }
    await valueOf(this.sessions.create(tokenHash(token), identity, 86_400_000))
    return token
  }

  setRole(userId: string, tenantId: string, role: string): void {
    this.#roles.set(userId, { tenantId, role })
    this.ports.identities.forget()
  }

  /** Reports changed health of members. */
  tellHealth(...uids: string[]): void {
    for (const handler of this.#healthHandlers) handler(uids)
  }

  async token(bearer: string): Promise<string> {
    const headers = { authorization: `Bearer ${bearer}` }
    const answer = await fetch(`http://${this.origin}/api/v1/ws/token`, { headers })
    return ((await answer.json()) as { token: string }).token
  }

  async connect(bearer: string, revision?: string): Promise<Listener> {
    const listener = this.open({ token: await this.token(bearer), revision })
    await listener.until('a first message', ({ length }) => length > 0)
    return listener
  }

  open(query: { readonly token: string; readonly revision?: string | undefined }): Listener {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    const search = new URLSearchParams(given as [string, string][]).toString()
    const socket = new WebSocket(`ws://${this.origin}/api/v1/ws?${search}`)
    const heard: Heard[] = []
    socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString()) as Heard))
    const closed = new Promise<readonly [number, string]>((resolve) => {
      socket.on('close', (code, reason) => resolve([code, reason.toString()]))
    })
    socket.on('error', () => undefined)
    return {
      socket,
      heard,
      said: () => heard.filter(({ type }) => type !== 'stats_update').map(inShort),
      until: async (what, probe) => void (await waitUntil(what, () => probe(heard))),
      closed,
    }
  }

  /** The response to a refused handshake. */
  async refusal(
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<readonly [status: number, body: string]> {
    const handshake = request(`http://${this.origin}${path}`, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
        ...headers,
      },
    })
    return new Promise((resolve, reject) => {
      handshake.on('error', reject)
      handshake.on('response', (response) => {
        let body = ''
        response.on('data', (chunk: Buffer) => (body += chunk.toString()))
        response.on('end', () => resolve([response.statusCode ?? 0, body]))
      })
      handshake.on('upgrade', (_response, socket) => {
        socket.destroy()
        reject(new Error('the handshake was accepted'))
      })
      handshake.end()
    })
  }

  #userOf(id: string): User | null {
    const found = this.#roles.get(id)
    return found === undefined ? null : { ...anyUser, id, ...found }
  }
}

/** Short form of an event: `member_update snapshot 192.0.2.1`. */
export function inShort({ type, payload }: Heard): string {
  const { action, member, pool, service, ipAddress, healthy, revision } = payload as {
    action?: string
    member?: { ipAddress: string }
    pool?: { name: string }
    service?: { name: string }
    ipAddress?: string
    healthy?: boolean
    revision?: string
  }
  const words = [
    type,
    action,
    member?.ipAddress ?? pool?.name ?? service?.name ?? ipAddress,
    healthy === undefined ? undefined : healthy ? 'healthy' : 'failing',
    revision?.replace(/^0+/, ''),
  ]
  return words.filter((word) => word !== undefined).join(' ')
}

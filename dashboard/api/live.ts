// Holds pools, members, services and their health as they are now: a snapshot, then the feed.
import { signal } from '@preact/signals'
import type { paths } from 'openapi-of-gslbd'
import { monotonicMs, nowMs } from './clock.ts'
import { Refusal, endSession, firstRevisions, send, sentence, sessionNow } from './client.ts'
import { forgetTrail, noteTrail } from './health-changes.ts'

type Snapshot = paths['/api/v1/snapshot']['get']['responses'][200]['content']['application/json']
export type Pool = Snapshot['pools'][number]
export type Service = Snapshot['services'][number]
export type Member =
  paths['/api/v1/members/{id}']['get']['responses'][200]['content']['application/json']

/** Findings of one node about a member. */
interface Verdict {
  readonly healthy: boolean
  /** false: the member is not probed. */
  readonly probed?: boolean
  readonly score: number
  readonly reason: string
  readonly since: number
  readonly rttMs: number
}

/** `off`: this caller may not follow the feed, so screens poll. */
type Link = 'connecting' | 'live' | 'lost' | 'off'

export const link = signal<Link>('connecting')
/** When the node last sent something, Unix milliseconds; 0: never. */
export const heardMs = signal(0)
/** Why nothing is known yet; empty: it is, or is loading. */
export const liveFault = signal('')
/** The commit of all values below. */
const revision = signal('')
/** Raised by each commit after the first that screens have read. */
export const commits = signal(0)
/** Raised by each change below, at most a few times a second. */
export const beat = signal(0)

const touch = (): number => beat.value
const pools = new Map<string, Pool>()
const services = new Map<string, Service>()
const members = new Map<string, Member>()
const verdicts = new Map<string, Map<string, Verdict>>()

/** Raised when an object is created, changed or deleted, not by health. */
let shape = 0
/** By pool; dropped at each change of one of its members. */
const standings = new Map<string, readonly Standing[]>()

function reshaped(): void {
  shape++
  standings.clear()
}

/** Computed again only when objects change: health changes too often to sort ten thousand. */
export function ofObjects<T>(make: () => T): () => T {
  let at = -1
  let made: T
  return () => {
    touch()
    if (at !== shape) {
      made = make()
      at = shape
    }
    return made
  }
}

export const allPools = ofObjects((): readonly Pool[] => [...pools.values()].sort(byName))
export const allServices = ofObjects((): readonly Service[] => [...services.values()].sort(byName))
export const allMembers = ofObjects((): readonly Member[] => [...members.values()])
const membersByPool = ofObjects(() => Map.groupBy(members.values(), ({ poolId }) => poolId))
export const poolOf = (id: string): Pool | undefined => (touch(), pools.get(id))
export const serviceOf = (id: string): Service | undefined => (touch(), services.get(id))
export const memberOf = (id: string): Member | undefined => (touch(), members.get(id))
export const membersOf = (pool: string): readonly Member[] => membersByPool().get(pool) ?? []
export const verdictsOf = (member: string): ReadonlyMap<string, Verdict> => (
  touch(),
  verdicts.get(member) ?? new Map<string, Verdict>()
)

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0

/** The address, or the host name. */
export const targetOf = ({ ipAddress, hostname, from = '' }: Member): string =>
  ipAddress === '' ? (hostname ?? `from:${from}`) : ipAddress

export type Standing = 'up' | 'down' | 'split' | 'disabled' | 'unknown'

/** State of a member, by the verdicts of all nodes. */
export function standingOf(member: Member): Standing {
  if (!member.enabled) return 'disabled'
  const found = [...verdictsOf(member.id).values()]
  if (found.length === 0) return 'unknown'
  const good = found.filter(({ healthy }) => healthy).length
  return good === found.length ? 'up' : good === 0 ? 'down' : 'split'
}

/** States of a pool's members. */
export function standingsOf(pool: string): readonly Standing[] {
  touch()
  const known = standings.get(pool)
  if (known !== undefined) return known
  const found = membersOf(pool).map(standingOf)
  standings.set(pool, found)
  return found
}

let socket: WebSocket | null = null
let isWanted = false
let failures = 0
let retry: ReturnType<typeof setTimeout> | undefined
let pending: ReturnType<typeof setTimeout> | undefined
const beatMs = 250
/** How many pauses in a reader's typing a change waits for. */
const pausesMax = 4
const retryMaxMs = 15_000
/** The node says something every ten seconds: after this time the connection is gone. */
const silentMaxMs = 30_000
const lookMs = 5_000
/** Time of an answer before the feed begins: a connection that hangs must not stop the next try. */
const beginMs = 15_000
/** That of a large installation takes its time on a slow line. */
const snapshotMs = 60_000

/** Numbers change together, not ten times a second under the reader's cursor. */
function changed(): void {
  pending ??= setTimeout(() => tell(pausesMax), beatMs)
}

/** Typing must not wait for numbers. */
function tell(pauses: number): void {
  if (isTyping() && pauses > 0) {
    pending = setTimeout(() => tell(pauses - 1), typingPauseMs)
    return
  }
  pending = undefined
  beat.value++
}

export function follow(): void {
  if (isWanted) return
  isWanted = true
  void connect()
}

export function unfollow(): void {
  isWanted = false
  clearTimeout(retry)
  socket?.close()
  socket = null
  for (const map of [pools, services, members, verdicts]) map.clear()
  forgetTrail()
  reshaped()
  revision.value = ''
  heardMs.value = 0
  liveFault.value = ''
  link.value = 'connecting'
}

async function connect(): Promise<void> {
  try {
    const { body } = await send('/api/v1/ws/token', { timeoutMs: beginMs })
    const { token } = body as { readonly token: string }
    if (revision.value === '') await readSnapshot()
    if (isWanted) open(token)
  } catch (error) {
    const status = error instanceof Refusal ? error.status : 0
    if (heardMs.value === 0) liveFault.value = sentence(error)
    if (status === 403) link.value = 'off'
    else again()
  }
}

function follows(next: string): void {
  if (revision.value !== next) commits.value++
  revision.value = next
}

async function readSnapshot(): Promise<void> {
  const answer = await send('/api/v1/snapshot', { timeoutMs: snapshotMs })
  const found = answer.body as Snapshot
  for (const map of [pools, services, members]) map.clear()
  for (const pool of found.pools) pools.set(pool.id, pool)
  for (const service of found.services) services.set(service.id, service)
  for (const list of Object.values(found.members)) {
    for (const member of list as Member[]) members.set(member.id, member)
  }
  reshaped()
  // Data that screens have read meanwhile is of the same commit, so they need not read it again.
  const isFirst = revision.value === '' && firstRevisions.size === 1
  if (isFirst) revision.value = answer.revision
  else follows(answer.revision)
  heardMs.value = nowMs()
  liveFault.value = ''
  changed()
}

function open(token: string): void {
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws'
  const query = new URLSearchParams({ token, revision: revision.value })
  const opened = new WebSocket(`${scheme}://${location.host}/api/v1/ws?${query.toString()}`)
  socket = opened
  const own = sessionNow()
  let saidAtMs = monotonicMs()
  const watch = setInterval(() => {
    if (monotonicMs() - saidAtMs > silentMaxMs) lose()
  }, lookMs)
  const lose = (code = 0): void => {
    clearInterval(watch)
    if (socket !== opened) return
    socket = null
    opened.close()
    if (code === 4401) endSession(own)
    again()
  }
  opened.onopen = () => {
    failures = 0
    link.value = 'live'
    heardMs.value = nowMs()
    saidAtMs = monotonicMs()
  }
  opened.onmessage = ({ data }: MessageEvent<string>) => {
    saidAtMs = monotonicMs()
    if (socket === opened) hear(data)
  }
  opened.onclose = ({ code }) => lose(code)
}

function again(): void {
  if (!isWanted) return
  link.value = 'lost'
  retry = setTimeout(() => void connect(), Math.min(retryMaxMs, 1_000 * 2 ** failures))
  failures++
}

interface Message {
  readonly type: string
  readonly payload: Record<string, unknown>
}

function hear(data: string): void {
  const { type, payload } = JSON.parse(data) as Message
  heardMs.value = nowMs()
  hearing[type]?.(payload)
}

const hearing: Readonly<Record<string, (payload: Record<string, unknown>) => void>> = {
  health_update: (payload) => {
    const { memberId, node } = payload as { memberId: string; node: string }
    const known = verdicts.get(memberId) ?? new Map<string, Verdict>()
    const verdict = payload as unknown as Verdict
    const { healthy, since, probed = true } = verdict
    if (!probed) known.delete(node)
    else if (known.get(node)?.healthy !== healthy) {
      noteTrail({ memberId, node, healthy, since: since > 0 ? since : nowMs() })
    }
    verdicts.set(memberId, probed ? known.set(node, verdict) : known)
    standings.delete(members.get(memberId)?.poolId ?? '')
    changed()
  },
  pool_update: ({ action, pool }) => put(pools, action, pool as Pool),
  service_update: ({ action, service }) => put(services, action, service as Service),
  member_update: ({ action, member }) => put(members, action, member as Member),
  // All pools and services may have changed.
  snapshot: () => {
    members.clear()
    reshaped()
    void readSnapshot().catch(() => socket?.close())
  },
  revision: (payload) => {
    follows(String(payload['revision']))
    changed()
  },
}

function put<T extends { readonly id: string }>(
  map: Map<string, T>,
  action: unknown,
  object: T,
): void {
  if (action === 'deleted') map.delete(object.id)
  else map.set(object.id, object)
  reshaped()
  changed()
}

/** Length of a pause in typing, for which changes wait. */
const typingPauseMs = 200
let typingPause: ReturnType<typeof setTimeout> | undefined

addEventListener(
  'keydown',
  () => {
    clearTimeout(typingPause)
    typingPause = setTimeout(() => (typingPause = undefined), typingPauseMs)
  },
  true,
)

/** Whether something was typed a moment ago. */
const isTyping = (): boolean => typingPause !== undefined

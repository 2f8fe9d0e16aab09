// Opens and resolves alerts from the reports of all nodes, and picks the channels to notify.
import { conditionOf } from '#alerts/conditions.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { fairShare } from '#lib/sequence/fair-share.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { alertLimits, operatorId, severities } from '#state/ports/alerts.ts'
import type {
  AlertChanges,
  AlertStore,
  AlertUpdate,
  Finding,
  NodeReport,
  Severity,
  StoredAlert,
  StoredChannel,
} from '#state/ports/alerts.ts'
import { keyOf } from './findings.ts'

interface OpeningsParts {
  readonly store: Pick<AlertStore, 'listAlerts' | 'listChannels' | 'record'>
  /** How long alerts are gathered into one message. */
  readonly groupWaitMs: number
  readonly clock: Clock
  readonly log: Log
}

/** A finding of one node, or of several together; `node` '' stands for these. */
interface Wanted {
  readonly finding: Finding
  readonly node: string
}

interface Changes extends Omit<AlertChanges, 'opened'> {
  readonly opened: readonly StoredAlert[]
  /** Open alerts that have become more severe. */
  readonly rising: readonly StoredAlert[]
  /** An open alert is found less severe, and not for long. */
  readonly isFalling: boolean
}

const rank = (severity: Severity): number => severities.indexOf(severity)

/** An alert whose condition only a newer version has ends at once. */
const clearMsOf = ({ condition }: StoredAlert): number => conditionOf(condition)?.clearMs ?? 0

export class Openings {
  readonly #parts: OpeningsParts
  /** When an open alert was last found, by the monotonic clock. */
  #lastWantedMs = new Map<string, number>()
  /** When it was last found as severe as it is. */
  #lastSevereMs = new Map<string, number>()
  #isFullLogged = false
  #opened = 0
  #resolved = 0

  constructor(parts: OpeningsParts) {
    this.#parts = parts
  }

  /** Counts of this node. */
  counts(): { readonly opened: number; readonly resolved: number } {
    return { opened: this.#opened, resolved: this.#resolved }
  }

  /** @returns true when nothing changes until something else is found */
  async look(term: number, reports: readonly NodeReport[]): Promise<boolean> {
    const { store } = this.#parts
    const query = { state: 'open', before: '', limit: alertLimits.openMax } as const
    const open = await store.listAlerts('every-tenant', query)
    if (!open.ok) return false
    const wanted = wantedBy(reports)
    const { isFalling, rising, ...changes } = this.#changes(open.value, wanted)
    const { opened, updated, resolved } = changes
    if (opened.length + rising.length + updated.length + resolved.length === 0) {
      return open.value.length === wanted.size && !isFalling
    }
    const asks = opened.length + rising.length > 0
    const channels = asks ? await store.listChannels('every-tenant') : undefined
    if (channels?.ok === false) return false
    const listeners = channels?.value ?? []
    const heardBy = (alert: StoredAlert): string[] =>
      listeners.filter((channel) => hears(channel, alert)).map(({ id }) => id)
    const recorded = await store.record(term, {
      ...changes,
      opened: opened.map((alert) => ({ alert, channels: heardBy(alert) })),
      updated: [...updated, ...rising.map((alert) => ({ ...alert, channels: heardBy(alert) }))],
    })
    if (recorded.ok && recorded.value === 'recorded') {
      this.#opened += opened.length
      this.#resolved += resolved.length
    }
    return false
  }

  #changes(open: readonly StoredAlert[], wanted: ReadonlyMap<string, Wanted>): Changes {
    const { clock, groupWaitMs } = this.#parts
    const [nowMs, monotonicMs] = [clock.nowMs(), clock.monotonicMs()]
    const byKey = new Map(open.map((alert) => [alertKey(alert), alert]))
    const lastWantedMs = new Map<string, number>()
    const resolved: string[] = []
    for (const [key, alert] of byKey) {
      const atMs = wanted.has(key) ? monotonicMs : (this.#lastWantedMs.get(key) ?? monotonicMs)
      lastWantedMs.set(key, atMs)
      if (!wanted.has(key) && monotonicMs - atMs >= clearMsOf(alert)) resolved.push(alert.id)
    }
    this.#lastWantedMs = lastWantedMs
    const missing = [...wanted].flatMap(([key, one]) => (byKey.has(key) ? [] : [one]))
    const room = alertLimits.openMax - open.length + resolved.length
    const opened = this.#bounded(missing, room).map(({ finding, node }) =>
      alertOf(finding, node, nowMs),
    )
    const found = this.#found(byKey, wanted, monotonicMs)
    return { opened, ...found, resolved, nowMs, readyAtMs: nowMs + groupWaitMs }
  }

  /**
   * Open alerts that are found in other words. Like an end, a lower severity must have been found
   * for a while: what goes up and down must not be told again each time.
   */
  #found(
    open: ReadonlyMap<string, StoredAlert>,
    wanted: ReadonlyMap<string, Wanted>,
    monotonicMs: number,
  ): Pick<Changes, 'updated' | 'rising' | 'isFalling'> {
    const lastSevereMs = new Map<string, number>()
    const updated: AlertUpdate[] = []
    const rising: StoredAlert[] = []
    let isFalling = false
    for (const [key, { finding }] of wanted) {
      const alert = open.get(key)
      if (alert === undefined) continue
      const { severity, title, detail } = finding
      const isLess = rank(severity) > rank(alert.severity)
      const atMs = isLess ? (this.#lastSevereMs.get(key) ?? monotonicMs) : monotonicMs
      lastSevereMs.set(key, atMs)
      if (isLess && monotonicMs - atMs < clearMsOf(alert)) isFalling = true
      else if (rank(severity) < rank(alert.severity)) {
        rising.push({ ...alert, severity, title, detail })
      } else if (!isSame(alert, finding)) {
        updated.push({ id: alert.id, severity, title, detail, channels: [] })
      }
    }
    this.#lastSevereMs = lastSevereMs
    return { updated, rising, isFalling }
  }

  #bounded(missing: readonly Wanted[], room: number): readonly Wanted[] {
    const isFull = missing.length > room
    if (isFull && !this.#isFullLogged) {
      this.#parts.log.warn({ max: alertLimits.openMax }, 'no more alerts are opened until some end')
    }
    this.#isFullLogged = isFull
    if (!isFull) return missing
    return [
      ...fairShare(
        Map.groupBy(missing, ({ finding }) => finding.tenantId),
        room,
      ),
    ]
  }
}

function wantedBy(reports: readonly NodeReport[]): ReadonlyMap<string, Wanted> {
  const wanted = new Map<string, Wanted>()
  for (const { node, findings } of reports) {
    for (const finding of findings) {
      const of = finding.isOfNode ? node : ''
      const key = JSON.stringify([keyOf(finding), of])
      const before = wanted.get(key)?.finding
      // The first of those that find it worst has the wording, so that it does not alternate.
      const isWorse = before !== undefined && rank(finding.severity) < rank(before.severity)
      if (before === undefined || isWorse) wanted.set(key, { finding, node: of })
    }
  }
  return wanted
}

const alertKey = (alert: StoredAlert): string => JSON.stringify([keyOf(alert), alert.node])

const isSame = (alert: StoredAlert, { severity, title, detail }: Finding): boolean =>
  alert.severity === severity && alert.title === title && alert.detail === detail

function alertOf(finding: Finding, node: string, nowMs: number): StoredAlert {
  const { tenantId, condition, severity, subject, title, detail } = finding
  return {
    ...{ id: uuidV7(nowMs), tenantId, condition, severity, subject, node, title, detail },
    ...{ openedAtMs: nowMs, resolvedAtMs: null },
  }
}

/** A tenant is notified of its own alerts, the operator of all. */
function hears(channel: StoredChannel, alert: StoredAlert): boolean {
  const isTheirs = channel.tenantId === operatorId || channel.tenantId === alert.tenantId
  const isChosen = channel.conditions.length === 0 || channel.conditions.includes(alert.condition)
  const isSevere = rank(alert.severity) <= rank(channel.minSeverity)
  return channel.enabled && isTheirs && isChosen && isSevere
}

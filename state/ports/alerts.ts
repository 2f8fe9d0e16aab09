// The port to alerts: channels, silences, open alerts, findings of each node, and the queue of
// notices. All nodes of an installation share it.
import type { StoreCall } from './store-result.ts'
import type { TenantScope } from './tenant-scope.ts'

/** Most severe first. */
export const severities = ['critical', 'error', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

/** Stands for the operator of the installation in place of a tenant. No tenant has this id. */
export const operatorId = ''

export type ChannelValue = string | number | readonly string[]
export type ChannelSettings = Readonly<Record<string, ChannelValue>>

export interface StoredChannel {
  readonly id: string
  /** `operatorId`: the channel of the operator, which receives alerts of the whole installation. */
  readonly tenantId: string
  readonly name: string
  readonly kind: string
  /** Destination for display, without path or secret. */
  readonly target: string
  /** Without secrets. */
  readonly settings: ChannelSettings
  /** Sealed under GSLB_SECRET_KEY: the secret settings as JSON. */
  readonly secretCiphertext: string
  /** Names of the secret settings that are set. */
  readonly secrets: readonly string[]
  /** Empty: every condition. */
  readonly conditions: readonly string[]
  readonly minSeverity: Severity
  readonly enabled: boolean
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Delivery state of a channel. */
interface ChannelHealth {
  /** null: never. */
  readonly lastSentAtMs: number | null
  /** Consecutive failures; 0: the last message was sent. */
  readonly failures: number
  /** Why the last message was not sent, or not to all; empty: it was. */
  readonly fault: string
  /** Time of the next try; 0: at once. */
  readonly retryAtMs: number
  /** Notices dropped since the channel was made: its queue was full, or sending took too long. */
  readonly dropped: number
  /** Notices in the queue. */
  readonly queued: number
}

export type ChannelWithHealth = StoredChannel & { readonly health: ChannelHealth }

/** Absent fields stay unchanged. */
export type ChannelChange = Partial<
  Omit<StoredChannel, 'id' | 'tenantId' | 'kind' | 'createdAtMs' | 'updatedAtMs'>
> & { readonly updatedAtMs: number }

/** Holds back notices of new alerts; ends of alerts are still sent. */
export interface StoredSilence {
  readonly id: string
  /** Tenant whose channels it silences. */
  readonly tenantId: string
  /** Empty: every condition. */
  readonly condition: string
  /** Empty: every subject. */
  readonly subject: string
  readonly reason: string
  readonly createdAtMs: number
  readonly untilMs: number
}

/** A fault found by one node. */
export interface Finding {
  readonly condition: string
  readonly severity: Severity
  /** `operatorId`: it concerns the installation. */
  readonly tenantId: string
  /** The object at fault, such as a uid; condition, tenant and subject identify the alert. */
  readonly subject: string
  /** True: each node has its own alert; false: one alert covers the findings of all nodes. */
  readonly isOfNode: boolean
  /** One line. */
  readonly title: string
  /** Sentences: what is wrong, and what to do. */
  readonly detail: string
}

export interface StoredAlert {
  readonly id: string
  readonly tenantId: string
  readonly condition: string
  readonly severity: Severity
  readonly subject: string
  /** Empty: it concerns no single node. */
  readonly node: string
  readonly title: string
  readonly detail: string
  readonly openedAtMs: number
  /** null: it is open. */
  readonly resolvedAtMs: number | null
}

interface AlertQuery {
  /** Left out: both. */
  readonly state?: 'open' | 'resolved'
  /** Only alerts opened before the one with this id; '': from the newest. */
  readonly before: string
  readonly limit: number
}

export interface NodeReport {
  readonly node: string
  /** Rises with every report, which shows that the node is alive. */
  readonly beat: number
  /** Commit that the node serves; '': none yet. */
  readonly commit: string
  readonly findings: readonly Finding[]
}

/** Names the node that opens, resolves and sends alerts. Each new holder has a higher term. */
export interface AlertLease {
  /** '': it was released. */
  readonly holder: string
  readonly term: number
  /** Rises with each renewal. */
  readonly beat: number
}

interface AlertOpening {
  readonly alert: StoredAlert
  /** Ids of the channels to notify. */
  readonly channels: readonly string[]
}

export interface AlertUpdate extends Pick<StoredAlert, 'id' | 'severity' | 'title' | 'detail'> {
  /** Ids of the channels to notify, since it has become more severe. */
  readonly channels: readonly string[]
}

export interface AlertChanges {
  readonly opened: readonly AlertOpening[]
  readonly updated: readonly AlertUpdate[]
  /** Ids of ended alerts. Each channel notified of the alert is notified of its end. */
  readonly resolved: readonly string[]
  readonly nowMs: number
  /**
   * Earliest time of sending notices of new alerts, which are gathered until then. Ends may be sent
   * at once.
   */
  readonly readyAtMs: number
}

export type AlertEvent = 'opened' | 'resolved'

/** One notice for one channel. */
export interface AlertNotice {
  readonly id: string
  readonly channelId: string
  readonly event: AlertEvent
  readonly alert: StoredAlert
  /** The message in which sending was tried; '': not tried yet. */
  readonly messageId: string
}

export type SendOutcome =
  /** `fault`: of several receivers, some were refused. */
  | { readonly ok: true; readonly fault?: string }
  /** `isFinal`: the message itself was refused, so a retry is pointless. */
  | { readonly ok: false; readonly fault: string; readonly isFinal: boolean }

export const alertLimits = {
  channelsPerTenantMax: 20,
  /** Channels of all tenants and the operator. */
  channelsMax: 1_000,
  silencesPerTenantMax: 100,
  /** Findings in one node's report, shared by the tenants and the operator. */
  findingsPerNodeMax: 1_000,
  /** Open alerts of all tenants; above, none are opened until some end. */
  openMax: 5_000,
  /**
   * Queued notices for one channel; more are dropped and counted. A channel of the operator has
   * half of them for alerts of the installation.
   */
  noticesPerChannelMax: 500,
  /** Age at which an unsent notice is dropped and counted. */
  noticeKeptMs: 24 * 3_600_000,
  noticesPerMessageMax: 50,
  /** How long an alert is kept after its end. */
  alertKeptMs: 30 * 24 * 3_600_000,
  /** More are taken from the tenants that have most. */
  alertsKeptMax: 20_000,
  titleLengthMax: 200,
  detailLengthMax: 2_000,
  faultLengthMax: 300,
} as const

export interface AlertStore {
  /** By name. */
  readonly listChannels: (scope: TenantScope) => StoreCall<readonly ChannelWithHealth[]>
  /** @returns null: no such channel in the scope */
  readonly findChannel: (scope: TenantScope, id: string) => StoreCall<ChannelWithHealth | null>
  readonly createChannel: (
    channel: StoredChannel,
  ) => StoreCall<void, 'name-taken' | 'too-many-channels'>
  /** Turning a channel off clears its queue. @returns null: no such channel */
  readonly updateChannel: (
    scope: TenantScope,
    id: string,
    change: ChannelChange,
  ) => StoreCall<ChannelWithHealth | null, 'name-taken'>
  /** Deletes a channel with its queue. @returns whether it existed */
  readonly deleteChannel: (scope: TenantScope, id: string) => StoreCall<boolean>
  /** Silences that are in force. */
  readonly listSilences: (scope: TenantScope, nowMs: number) => StoreCall<readonly StoredSilence[]>
  readonly createSilence: (silence: StoredSilence) => StoreCall<void, 'too-many-silences'>
  readonly deleteSilence: (scope: TenantScope, id: string) => StoreCall<boolean>
  /** Newest first. */
  readonly listAlerts: (scope: TenantScope, query: AlertQuery) => StoreCall<readonly StoredAlert[]>

  /** @param findings null: the node's last findings stay */
  readonly report: (
    node: string,
    commit: string,
    findings: readonly Finding[] | null,
  ) => StoreCall<void>
  readonly reports: () => StoreCall<readonly NodeReport[]>
  /** The node was stopped or removed: its reports are no longer expected. */
  readonly retire: (node: string) => StoreCall<void>

  /** null: none was ever taken. */
  readonly lease: () => StoreCall<AlertLease | null>
  /**
   * @param seen the lease to take over; null: the first one.
   * @returns null: another node was faster
   */
  readonly takeLease: (seen: AlertLease | null, holder: string) => StoreCall<AlertLease | null>
  /** @returns null: the lease was lost */
  readonly renewLease: (own: AlertLease) => StoreCall<AlertLease | null>
  readonly releaseLease: (own: AlertLease) => StoreCall<void>

  /** Stores changes of alerts and their notices in one step, or nothing when the term is over. */
  readonly record: (term: number, changes: AlertChanges) => StoreCall<'recorded' | 'term-over'>
  /**
   * Notices that may be sent now: the oldest ones of each channel, those tried before first.
   *
   * @param busy channels to leave out
   */
  readonly due: (nowMs: number, busy: readonly string[]) => StoreCall<readonly AlertNotice[]>
  /** Call it before the message is sent. `term-over`: also when one of the notices is gone. */
  readonly beginMessage: (
    term: number,
    messageId: string,
    noticeIds: readonly string[],
  ) => StoreCall<'begun' | 'term-over'>
  /** Call it after sending. @param retryAtMs after a failure: when to try the channel again */
  readonly settleMessage: (
    channelId: string,
    messageId: string,
    outcome: SendOutcome,
    times: { readonly nowMs: number; readonly retryAtMs: number },
  ) => StoreCall<void>
  /** Removes old and surplus entries. @param alertsMax default: `alertLimits.alertsKeptMax` */
  readonly prune: (nowMs: number, alertsMax?: number) => StoreCall<void>
}

/** The calls that the API needs. */
export type AlertAdmin = Pick<
  AlertStore,
  | 'listChannels'
  | 'findChannel'
  | 'createChannel'
  | 'updateChannel'
  | 'deleteChannel'
  | 'listSilences'
  | 'createSilence'
  | 'deleteSilence'
  | 'listAlerts'
>

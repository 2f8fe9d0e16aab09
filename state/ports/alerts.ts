// The port to alerts: channels, silences, what is open, what each node finds, and what waits to be
// sent. All nodes of an installation share it.
import type { StoreCall } from './store-result.ts'
import type { TenantScope } from './tenant-scope.ts'

/** Most severe first. */
export const severities = ['critical', 'error', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

/** In the place of a tenant: the operator of the installation. No tenant has this id. */
export const operatorId = ''

export type ChannelValue = string | number | readonly string[]
export type ChannelSettings = Readonly<Record<string, ChannelValue>>

export interface StoredChannel {
  readonly id: string
  /** `operatorId`: the channel is the operator's, and hears of the whole installation. */
  readonly tenantId: string
  readonly name: string
  readonly kind: string
  /** Where messages go, for people: no path, no secret. */
  readonly target: string
  /** No secret is in it. */
  readonly settings: ChannelSettings
  /** Sealed under GSLB_SECRET_KEY: the secret settings as JSON. */
  readonly secretCiphertext: string
  /** Names of the secret settings that there are. */
  readonly secrets: readonly string[]
  /** Empty: every condition. */
  readonly conditions: readonly string[]
  readonly minSeverity: Severity
  readonly enabled: boolean
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** How a channel does. */
export interface ChannelHealth {
  /** null: never. */
  readonly lastSentAtMs: number | null
  /** Failures in a row; 0: the last message went out. */
  readonly failures: number
  /** Why the last one failed; empty while there are none. */
  readonly fault: string
  /** Next try; 0: at once. */
  readonly retryAtMs: number
  /** What was never sent, since the channel was made: its queue was full, or it took too long. */
  readonly dropped: number
  /** What waits to be sent. */
  readonly queued: number
}

export type ChannelWithHealth = StoredChannel & { readonly health: ChannelHealth }

/** What is left out stays. */
export type ChannelChange = Partial<
  Omit<StoredChannel, 'id' | 'tenantId' | 'kind' | 'createdAtMs' | 'updatedAtMs'>
> & { readonly updatedAtMs: number }

/** Holds back what begins; what ends is told all the same. */
export interface StoredSilence {
  readonly id: string
  /** The tenant for whose channels it is. */
  readonly tenantId: string
  /** Empty: every condition. */
  readonly condition: string
  /** Empty: every subject. */
  readonly subject: string
  readonly reason: string
  readonly createdAtMs: number
  readonly untilMs: number
}

/** What one node finds wrong. */
export interface Finding {
  readonly condition: string
  readonly severity: Severity
  /** `operatorId`: it concerns the installation. */
  readonly tenantId: string
  /** What it is about, such as a uid; with the condition and the tenant it names the alert. */
  readonly subject: string
  /** Each node has its own alert; else one alert covers what several nodes find. */
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

export interface AlertQuery {
  /** Left out: both. */
  readonly state?: 'open' | 'resolved'
  /** Opened before the one of this id; '': from the newest. */
  readonly before: string
  readonly limit: number
}

export interface NodeReport {
  readonly node: string
  /** Rises with every report of the node, which shows that the node is there. */
  readonly beat: number
  /** The commit that the node answers from; '': none yet. */
  readonly commit: string
  readonly findings: readonly Finding[]
}

/** Its holder is the node that opens, resolves and sends. A new holder has a higher term. */
export interface AlertLease {
  /** '': it was given back. */
  readonly holder: string
  readonly term: number
  /** Rises when the holder renews it. */
  readonly beat: number
}

export interface AlertOpening {
  readonly alert: StoredAlert
  /** Ids of the channels that are told. */
  readonly channels: readonly string[]
}

export interface AlertChanges {
  readonly opened: readonly AlertOpening[]
  /** Another title or detail; nobody is told. */
  readonly updated: readonly Pick<StoredAlert, 'id' | 'severity' | 'title' | 'detail'>[]
  /** Ids of alerts that end. Each channel that was told of the alert is told of its end. */
  readonly resolved: readonly string[]
  readonly nowMs: number
  /** When what begins may be sent; before, it is gathered. What ends may be sent at once. */
  readonly readyAtMs: number
}

export const alertEvents = ['opened', 'resolved'] as const
export type AlertEvent = (typeof alertEvents)[number]

/** One thing to tell one channel. */
export interface AlertNotice {
  readonly id: string
  readonly channelId: string
  readonly event: AlertEvent
  readonly alert: StoredAlert
  /** The message in which sending it was tried; '': it was not tried yet. */
  readonly messageId: string
}

export type SendOutcome =
  | { readonly ok: true }
  /** `isFinal`: the message itself is refused, and sent again would be again. */
  | { readonly ok: false; readonly fault: string; readonly isFinal: boolean }

export const alertLimits = {
  channelsPerTenantMax: 20,
  /** Channels of all tenants and the operator. */
  channelsMax: 1_000,
  silencesPerTenantMax: 100,
  /** Findings that one node reports; the most severe first. */
  findingsPerNodeMax: 1_000,
  /** Open alerts of all tenants; more are not opened until some end. */
  openMax: 5_000,
  /** Notices that wait for one channel; more are dropped and counted. */
  noticesPerChannelMax: 500,
  /** A notice that could not be sent for so long is dropped and counted. */
  noticeKeptMs: 24 * 3_600_000,
  noticesPerMessageMax: 50,
  /** How long an alert is kept after its end. */
  alertKeptMs: 30 * 24 * 3_600_000,
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
  /** A channel that is turned off forgets what waits for it. @returns null: no such channel */
  readonly updateChannel: (
    scope: TenantScope,
    id: string,
    change: ChannelChange,
  ) => StoreCall<ChannelWithHealth | null, 'name-taken'>
  /** Deletes a channel, and what waits for it. @returns whether there was one */
  readonly deleteChannel: (scope: TenantScope, id: string) => StoreCall<boolean>
  /** Silences that still hold. */
  readonly listSilences: (scope: TenantScope, nowMs: number) => StoreCall<readonly StoredSilence[]>
  readonly createSilence: (silence: StoredSilence) => StoreCall<void, 'too-many-silences'>
  readonly deleteSilence: (scope: TenantScope, id: string) => StoreCall<boolean>
  /** Newest first. */
  readonly listAlerts: (scope: TenantScope, query: AlertQuery) => StoreCall<readonly StoredAlert[]>

  /** @param findings null: the last ones of the node stay */
  readonly report: (
    node: string,
    commit: string,
    findings: readonly Finding[] | null,
  ) => StoreCall<void>
  readonly reports: () => StoreCall<readonly NodeReport[]>
  /** The node was stopped, or is gone for good: nobody waits for its word. */
  readonly retire: (node: string) => StoreCall<void>

  /** null: there never was one. */
  readonly lease: () => StoreCall<AlertLease | null>
  /** @param seen taken over from that; null: as the first. @returns null: another was faster */
  readonly takeLease: (seen: AlertLease | null, holder: string) => StoreCall<AlertLease | null>
  /** @returns null: it was lost */
  readonly renewLease: (own: AlertLease) => StoreCall<AlertLease | null>
  readonly releaseLease: (own: AlertLease) => StoreCall<void>

  /** What is open, and what is told of it, in one step, or nothing where the term is over. */
  readonly record: (term: number, changes: AlertChanges) => StoreCall<'recorded' | 'term-over'>
  /**
   * What may be sent now: of each channel the oldest ones, those that were tried before first.
   * @param busy channels that are left out
   */
  readonly due: (nowMs: number, busy: readonly string[]) => StoreCall<readonly AlertNotice[]>
  /** Called before the message leaves. `term-over`: also when one of the notices is gone. */
  readonly beginMessage: (
    term: number,
    messageId: string,
    noticeIds: readonly string[],
  ) => StoreCall<'begun' | 'term-over'>
  /** Called after it. @param retryAtMs after a failure: when the channel may be tried again */
  readonly settleMessage: (
    channelId: string,
    messageId: string,
    outcome: SendOutcome,
    times: { readonly nowMs: number; readonly retryAtMs: number },
  ) => StoreCall<void>
  /** Removes what is too old, or too much. */
  readonly prune: (nowMs: number) => StoreCall<void>
}

/** What the API does with it. */
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

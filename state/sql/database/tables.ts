// The table types of the query builder; `migrations/` creates the tables.
import type { Generated, Kysely } from 'kysely'

export interface UsersTable {
  readonly id: string
  readonly email: string
  readonly email_key: string
  readonly display_name: string
  readonly role: string
  readonly tenant_id: string
  readonly auth_provider: string
  readonly password_hash: string | null
  readonly totp_ciphertext: string | null
  readonly totp_active: boolean
  readonly totp_last_step: number | null
  readonly oidc_identity: string | null
  readonly created_at_ms: number
  readonly updated_at_ms: number
}

export interface RolesTable {
  readonly id: string
  /** Empty: every tenant. */
  readonly tenant_id: string
  readonly name: string
  /** JSON: an array of atoms. */
  readonly permissions: string
  /** JSON: the permissions that the program has given to this built-in role so far. */
  readonly given_permissions: string
  readonly is_system: boolean
  readonly created_at_ms: number
  readonly updated_at_ms: number
}

interface TenantKeysTable {
  readonly tenant_id: string
  readonly key_hash: string
  readonly created_at_ms: number
}

/** One row, with id 1. */
export interface InstallationTable {
  readonly id: number
  readonly install_id: string
  readonly licence_token: string | null
  readonly licence_source: string | null
  readonly licence_saved_at_ms: number | null
  readonly trial_kind: string | null
  readonly trial_started_at_ms: number | null
  readonly trial_expires_at_ms: number | null
}

interface SettingsTable {
  readonly key: string
  /** JSON. */
  readonly value: string
  readonly updated_at_ms: number
}

interface UsageHoursTable {
  readonly tenant_id: string
  readonly period: string
  readonly dns_queries: number
  readonly api_calls: number
}

interface UsageBatchesTable {
  readonly id: string
  readonly at_ms: number
}

export interface AuditEntriesTable {
  readonly id: string
  readonly at_ms: number
  readonly method: string
  readonly path: string
  readonly actor: string
  readonly remote: string
  readonly status: number
  readonly duration_ms: number
  readonly tenant_id: string
  readonly request_id: string | null
  /** Empty: no account. */
  readonly user_id: string
  /** Empty: no account, or not to be kept. */
  readonly user_email: string
  /** Further effects of the call; empty: none. */
  readonly note: string
}

interface HealthVerdictsTable {
  readonly node: string
  readonly member_uid: string
  readonly ip_address: string
  readonly healthy: boolean
  readonly warming: boolean
  readonly at_ms: number
}

export interface TsigKeysTable {
  readonly id: string
  readonly tenant_id: string
  readonly name: string
  readonly algorithm: string
  readonly scope: string | null
  readonly secret_ciphertext: string
  readonly created_at_ms: number
}

export interface TxtRecordsTable {
  readonly id: string
  readonly tenant_id: string
  readonly name: string
  /** Base64. */
  readonly rdata: string
  readonly ttl_seconds: number
  readonly created_at_ms: number
  readonly written_by: string
}

/** Records written at run time that are not TXT. */
export interface WrittenRecordsTable extends TxtRecordsTable {
  readonly type: number
}

/** One row, with id 1; a write of keys or records locks it first. */
interface DynamicDnsTable {
  readonly id: number
  readonly keys_revision: number
  readonly records_revision: number
}

interface ResponseHitsTable {
  readonly rule_uid: string
  readonly hits: number
  readonly at_ms: number
}

interface ResponseHitBatchesTable {
  readonly id: string
  readonly at_ms: number
}

export interface AlertChannelsTable {
  readonly id: string
  /** Empty: the operator's. */
  readonly tenant_id: string
  readonly name: string
  readonly kind: string
  readonly target: string
  /** JSON: an object. */
  readonly settings: string
  readonly secret_ciphertext: string
  /** JSON: an array of names. */
  readonly secrets: string
  /** JSON: an array of names. */
  readonly conditions: string
  readonly min_severity: string
  readonly enabled: boolean
  readonly created_at_ms: number
  readonly updated_at_ms: number
  readonly last_sent_at_ms: number | null
  readonly failures: Generated<number>
  readonly fault: Generated<string>
  readonly retry_at_ms: Generated<number>
  readonly dropped: Generated<number>
}

export interface AlertSilencesTable {
  readonly id: string
  readonly tenant_id: string
  readonly condition: string
  readonly subject: string
  readonly reason: string
  readonly created_at_ms: number
  readonly until_ms: number
}

export interface AlertsTable {
  readonly id: string
  readonly tenant_id: string
  readonly condition: string
  readonly severity: string
  readonly subject: string
  readonly node: string
  readonly title: string
  readonly detail: string
  /** JSON: ids of the channels to notify. */
  readonly channels: string
  readonly opened_at_ms: number
  readonly resolved_at_ms: number | null
}

export interface AlertNoticesTable {
  readonly id: string
  readonly channel_id: string
  readonly alert_id: string
  readonly event: string
  /** Empty: not tried yet. */
  readonly message_id: string
  readonly ready_at_ms: number
  readonly created_at_ms: number
}

interface AlertReportsTable {
  readonly node: string
  readonly beat: number
  readonly commit_id: string
  /** JSON: an array. */
  readonly findings: string
}

/** One row, with id 1. */
interface AlertLeaseTable {
  readonly id: number
  readonly holder: string
  readonly term: number
  readonly beat: number
}

export interface ZoneKeysTable {
  readonly zone: string
  readonly version: number
  /** JSON: an array of keys, their private halves sealed. */
  readonly keys: string
  readonly updated_at_ms: number
}

interface ZoneKeyRevisionTable {
  readonly id: number
  readonly revision: number
}

/** One row, with id 1. */
interface AcmeStateTable {
  readonly id: number
  readonly version: number
  /** Sealed under GSLB_SECRET_KEY. */
  readonly sealed: string
  readonly updated_at_ms: number
}

export interface AcmeDnsAccountsTable {
  readonly username: string
  /** SHA-256 of a random text. */
  readonly password_hash: string
  readonly subdomain: string
  /** JSON: networks. */
  readonly allow_from: string
  readonly created_at_ms: number
}

interface DomainChecksTable {
  readonly uid: string
  readonly domain: string
  /** null: claimed, but never checked. */
  readonly verified_at_ms: number | null
  /** JSON. */
  readonly result: string | null
  readonly claimed_until_ms: number
}

interface DeliveriesTable {
  readonly channel: string
  readonly revision: number
  readonly decider: string
  /** JSON. */
  readonly state: string
}

interface CommitActivationsTable {
  readonly node: string
  readonly commit_id: string
  readonly at_ms: number
}

interface HeldCommitsTable {
  readonly commit_id: string
  readonly author: string
  readonly committed_at_ms: number
  readonly code: string
  readonly reason: string
  readonly held_at_ms: number
}

interface ObjectUsesTable {
  readonly object_key: string
  readonly seen_ms: number
  readonly used_ms: number | null
}

interface NodeUsesTable {
  readonly node: string
  readonly since_ms: number
  readonly until_ms: number
  readonly is_stopped: boolean
}

interface MemberChangesTable {
  readonly node: string
  readonly member_uid: string
  /** Days since the Unix epoch. */
  readonly day: number
  readonly changes: number
}

interface JournalSegmentsTable {
  readonly node: string
  readonly run: string
  readonly number: number
  readonly bytes: number
  readonly from_ms: number
  readonly to_ms: number
  readonly has_swap: boolean
  readonly stored_ms: number
}

interface JournalPartsTable {
  readonly node: string
  readonly run: string
  readonly number: number
  readonly at_byte: number
  readonly octets: Uint8Array
}

interface ZonePushesTable {
  readonly target: string
  readonly revision: number
  readonly state: string
}

interface ZonePushRecordsTable {
  readonly target: string
  readonly record: string
}

interface SchemaVersionsTable {
  readonly version: number
  readonly name: string
  readonly applied_at_ms: number
}

export interface Tables {
  readonly users: UsersTable
  readonly roles: RolesTable
  readonly tenant_keys: TenantKeysTable
  readonly installation: InstallationTable
  readonly settings: SettingsTable
  readonly usage_hours: UsageHoursTable
  readonly usage_batches: UsageBatchesTable
  readonly audit_entries: AuditEntriesTable
  readonly health_verdicts: HealthVerdictsTable
  readonly tsig_keys: TsigKeysTable
  readonly txt_records: TxtRecordsTable
  readonly written_records: WrittenRecordsTable
  readonly dynamic_dns: DynamicDnsTable
  readonly response_hits: ResponseHitsTable
  readonly response_hit_batches: ResponseHitBatchesTable
  readonly alert_channels: AlertChannelsTable
  readonly alert_silences: AlertSilencesTable
  readonly alerts: AlertsTable
  readonly alert_notices: AlertNoticesTable
  readonly alert_reports: AlertReportsTable
  readonly alert_lease: AlertLeaseTable
  readonly domain_checks: DomainChecksTable
  readonly zone_keys: ZoneKeysTable
  readonly zone_key_revision: ZoneKeyRevisionTable
  readonly acme_state: AcmeStateTable
  readonly acme_dns_accounts: AcmeDnsAccountsTable
  readonly zone_pushes: ZonePushesTable
  readonly zone_push_records: ZonePushRecordsTable
  readonly deliveries: DeliveriesTable
  readonly commit_activations: CommitActivationsTable
  readonly held_commits: HeldCommitsTable
  readonly object_uses: ObjectUsesTable
  readonly node_uses: NodeUsesTable
  readonly member_changes: MemberChangesTable
  readonly journal_segments: JournalSegmentsTable
  readonly journal_parts: JournalPartsTable
  readonly gslbd_schema: SchemaVersionsTable
}

export type Db = Kysely<Tables>

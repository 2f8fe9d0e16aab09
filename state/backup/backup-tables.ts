// Lists the tables and columns that a backup holds: the data of people.
import type { Tables } from '#state/sql/database/tables.ts'

interface BackupTable {
  readonly table: keyof Tables
  readonly columns: readonly string[]
}

const row = <T extends keyof Tables>(
  table: T,
  columns: Record<keyof Tables[T] & string, true>,
): BackupTable => ({ table, columns: Object.keys(columns) })

/** All tables but `gslbd_schema`, which the program writes. A missing column does not compile. */
export const backupTables: readonly BackupTable[] = Object.freeze([
  row('installation', {
    ...{ id: true, install_id: true },
    ...{ licence_token: true, licence_source: true, licence_saved_at_ms: true },
    ...{ trial_kind: true, trial_started_at_ms: true, trial_expires_at_ms: true },
  }),
  row('settings', { key: true, value: true, updated_at_ms: true }),
  row('roles', {
    ...{ id: true, tenant_id: true, name: true, permissions: true, given_permissions: true },
    ...{ is_system: true, created_at_ms: true, updated_at_ms: true },
  }),
  row('users', {
    ...{ id: true, email: true, email_key: true, display_name: true, role: true, tenant_id: true },
    ...{ auth_provider: true, password_hash: true, totp_ciphertext: true, totp_active: true },
    ...{ totp_last_step: true, oidc_identity: true, created_at_ms: true, updated_at_ms: true },
  }),
  row('tenant_keys', { tenant_id: true, key_hash: true, created_at_ms: true }),
  row('usage_hours', { tenant_id: true, period: true, dns_queries: true, api_calls: true }),
  row('usage_batches', { id: true, at_ms: true }),
  row('audit_entries', {
    ...{ id: true, at_ms: true, method: true, path: true, actor: true, remote: true },
    ...{ status: true, duration_ms: true, tenant_id: true, request_id: true },
    ...{ user_id: true, user_email: true, note: true },
  }),
  row('health_verdicts', {
    ...{ node: true, member_uid: true, ip_address: true },
    ...{ healthy: true, warming: true, at_ms: true },
  }),
  row('tsig_keys', {
    ...{ id: true, tenant_id: true, name: true, algorithm: true, scope: true },
    ...{ secret_ciphertext: true, created_at_ms: true },
  }),
  row('txt_records', {
    ...{ id: true, tenant_id: true, name: true, rdata: true },
    ...{ ttl_seconds: true, created_at_ms: true, written_by: true },
  }),
  row('written_records', {
    ...{ id: true, tenant_id: true, name: true, type: true, rdata: true },
    ...{ ttl_seconds: true, created_at_ms: true, written_by: true },
  }),
  row('response_hits', { rule_uid: true, hits: true, at_ms: true }),
  row('response_hit_batches', { id: true, at_ms: true }),
  row('alert_channels', {
    ...{ id: true, tenant_id: true, name: true, kind: true, target: true, settings: true },
    ...{ secret_ciphertext: true, secrets: true, conditions: true, min_severity: true },
    ...{ enabled: true, created_at_ms: true, updated_at_ms: true, last_sent_at_ms: true },
    ...{ failures: true, fault: true, retry_at_ms: true, dropped: true },
  }),
  row('alert_silences', {
    ...{ id: true, tenant_id: true, condition: true, subject: true, reason: true },
    ...{ created_at_ms: true, until_ms: true },
  }),
  row('alerts', {
    ...{ id: true, tenant_id: true, condition: true, severity: true, subject: true, node: true },
    ...{ title: true, detail: true, channels: true, opened_at_ms: true, resolved_at_ms: true },
  }),
  row('alert_notices', {
    ...{ id: true, channel_id: true, alert_id: true, event: true, message_id: true },
    ...{ ready_at_ms: true, created_at_ms: true },
  }),
  row('alert_reports', { node: true, beat: true, commit_id: true, findings: true }),
  row('alert_lease', { id: true, holder: true, term: true, beat: true }),
  row('domain_checks', {
    ...{ uid: true, domain: true, verified_at_ms: true, result: true, claimed_until_ms: true },
  }),
  row('commit_activations', { node: true, commit_id: true, at_ms: true }),
  row('held_commits', {
    ...{ commit_id: true, author: true, committed_at_ms: true },
    ...{ code: true, reason: true, held_at_ms: true },
  }),
  row('object_uses', { object_key: true, seen_ms: true, used_ms: true }),
  row('node_uses', { node: true, since_ms: true, until_ms: true, is_stopped: true }),
  row('member_changes', { node: true, member_uid: true, day: true, changes: true }),
  // Without the revision: see `swap` in state/sql/dnssec/zone-keys.ts.
  row('zone_keys', { zone: true, version: true, keys: true, updated_at_ms: true }),
  row('acme_state', { id: true, version: true, sealed: true, updated_at_ms: true }),
  row('acme_dns_accounts', {
    ...{ username: true, password_hash: true, subdomain: true, allow_from: true },
    created_at_ms: true,
  }),
  row('zone_pushes', { target: true, revision: true, state: true }),
  row('zone_push_records', { target: true, record: true }),
  row('dynamic_dns', { id: true, keys_revision: true, records_revision: true }),
])

// Empties the tables for the next test.
import { sql } from 'kysely'
import type { Sql } from '#state/sql/database/sql.ts'
import type { Tables } from '#state/sql/database/tables.ts'
import { valueOf } from './store-values.ts'

/** All tables but the one with the schema's version. */
const names: readonly (keyof Tables)[] = [
  'users',
  'roles',
  'tenant_keys',
  'installation',
  'settings',
  'usage_hours',
  'usage_batches',
  'audit_entries',
  'health_verdicts',
  'tsig_keys',
  'txt_records',
  'written_records',
  'dynamic_dns',
  'response_hits',
  'response_hit_batches',
  'alert_notices',
  'alerts',
  'alert_channels',
  'alert_silences',
  'alert_reports',
  'alert_lease',
  'domain_checks',
  'zone_keys',
  'zone_key_revision',
  'acme_state',
  'acme_dns_accounts',
  'commit_activations',
  'held_commits',
  'deliveries',
  'object_uses',
  'node_uses',
  'member_changes',
  'journal_parts',
  'journal_segments',
]

export async function emptyTables(database: Sql): Promise<void> {
  // Not `truncate`, which makes a new file for each table and index; and one statement, not thirty.
  const deletions = names.map((name) => `delete from ${name};`).join(' ')
  await valueOf(database.repeatable((db) => sql.raw(`do $$ begin ${deletions} end $$`).execute(db)))
}

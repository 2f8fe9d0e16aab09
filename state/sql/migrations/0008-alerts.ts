// Schema 8: alerts, their channels and silences, findings of each node, and the queue of notices.
import type { Migration } from '#state/sql/database/migration.ts'

export const alerts: Migration = {
  version: 8,
  name: 'alerts',
  statements: [
    `create table alert_channels (
      id text primary key,
      tenant_id text not null,
      name text not null,
      kind text not null,
      target text not null,
      settings text not null,
      secret_ciphertext text not null,
      secrets text not null,
      conditions text not null,
      min_severity text not null,
      enabled boolean not null,
      created_at_ms bigint not null,
      updated_at_ms bigint not null,
      last_sent_at_ms bigint,
      failures bigint not null default 0,
      fault text not null default '',
      retry_at_ms bigint not null default 0,
      dropped bigint not null default 0,
      unique (tenant_id, name)
    )`,
    `create table alert_silences (
      id text primary key,
      tenant_id text not null,
      condition text not null,
      subject text not null,
      reason text not null,
      created_at_ms bigint not null,
      until_ms bigint not null
    )`,
    'create index alert_silences_of_tenant on alert_silences (tenant_id, until_ms)',
    `create table alerts (
      id text primary key,
      tenant_id text not null,
      condition text not null,
      severity text not null,
      subject text not null,
      node text not null,
      title text not null,
      detail text not null,
      channels text not null,
      opened_at_ms bigint not null,
      resolved_at_ms bigint
    )`,
    `create unique index alerts_open on alerts (tenant_id, condition, subject, node)
      where resolved_at_ms is null`,
    'create index alerts_of_tenant on alerts (tenant_id, id)',
    'create index alerts_by_end on alerts (resolved_at_ms)',
    `create table alert_notices (
      id text primary key,
      channel_id text not null references alert_channels (id) on delete cascade,
      alert_id text not null references alerts (id) on delete cascade,
      event text not null,
      message_id text not null default '',
      ready_at_ms bigint not null,
      created_at_ms bigint not null
    )`,
    'create index alert_notices_of_channel on alert_notices (channel_id, id)',
    'create index alert_notices_of_alert on alert_notices (alert_id)',
    `create table alert_reports (
      node text primary key,
      beat bigint not null,
      commit_id text not null,
      findings text not null
    )`,
    `create table alert_lease (
      id smallint primary key check (id = 1),
      holder text not null,
      term bigint not null,
      beat bigint not null
    )`,
  ],
}

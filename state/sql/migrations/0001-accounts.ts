// Schema 1: people, roles, tenant keys, the licence and settings.
import type { Migration } from '#state/sql/database/migration.ts'

export const accounts: Migration = {
  version: 1,
  name: 'accounts',
  statements: [
    `create table users (
      id text primary key,
      email text not null,
      email_key text not null unique,
      display_name text not null,
      role text not null,
      tenant_id text not null,
      auth_provider text not null,
      password_hash text,
      totp_ciphertext text,
      totp_active boolean not null default false,
      totp_last_step bigint,
      created_at_ms bigint not null,
      updated_at_ms bigint not null
    )`,
    'create index users_of_tenant on users (tenant_id, created_at_ms, id)',
    `create table roles (
      id text primary key,
      tenant_id text not null default '',
      name text not null,
      permissions text not null,
      given_permissions text not null default '[]',
      is_system boolean not null default false,
      created_at_ms bigint not null,
      updated_at_ms bigint not null,
      unique (tenant_id, name)
    )`,
    `create table tenant_keys (
      tenant_id text primary key,
      key_hash text not null unique,
      created_at_ms bigint not null
    )`,
    `create table installation (
      id smallint primary key check (id = 1),
      install_id text not null,
      licence_token text,
      licence_source text,
      licence_saved_at_ms bigint,
      trial_kind text,
      trial_started_at_ms bigint,
      trial_expires_at_ms bigint
    )`,
    `create table settings (
      key text primary key,
      value text not null,
      updated_at_ms bigint not null
    )`,
  ],
}

// Schema 16: the certificate that an ACME server gives, and accounts of the acme-dns endpoint.
import type { Migration } from '#state/sql/database/migration.ts'

export const certificates: Migration = {
  version: 16,
  name: 'certificates',
  statements: [
    `create table acme_state (
      id smallint primary key check (id = 1),
      version bigint not null,
      sealed text not null,
      updated_at_ms bigint not null
    )`,
    `create table acme_dns_accounts (
      username text primary key,
      password_hash text not null,
      subdomain text not null unique,
      allow_from text not null,
      created_at_ms bigint not null
    )`,
  ],
}

// Schema 11: last use of names and members, and counts of members' health changes.
import type { Migration } from '#state/sql/database/migration.ts'

export const objectUse: Migration = {
  version: 11,
  name: 'object-use',
  statements: [
    `create table object_uses (
      object_key text primary key,
      seen_ms bigint not null,
      used_ms bigint
    )`,
    `create table node_uses (
      node text primary key,
      since_ms bigint not null,
      until_ms bigint not null,
      is_stopped boolean not null
    )`,
    `create table member_changes (
      node text not null,
      member_uid text not null,
      day integer not null,
      changes integer not null,
      primary key (node, member_uid, day)
    )`,
    'create index member_changes_by_day on member_changes (day)',
  ],
}

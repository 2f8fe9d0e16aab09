// Schema 12: copies of all nodes' journals, in parts.
import type { Migration } from '#state/sql/database/migration.ts'

export const journals: Migration = {
  version: 12,
  name: 'journals',
  statements: [
    `create table journal_segments (
      node text not null,
      run text not null,
      number bigint not null,
      bytes bigint not null,
      from_ms bigint not null,
      to_ms bigint not null,
      has_swap boolean not null,
      stored_ms bigint not null,
      primary key (node, run, number)
    )`,
    `create table journal_parts (
      node text not null,
      run text not null,
      number bigint not null,
      at_byte bigint not null,
      octets bytea not null,
      primary key (node, run, number, at_byte),
      foreign key (node, run, number) references journal_segments on delete cascade
    )`,
  ],
}

// Schema 9: when commits became active on which nodes; which were held, and why.
import type { Migration } from '#state/sql/database/migration.ts'

export const history: Migration = {
  version: 9,
  name: 'history',
  statements: [
    `create table commit_activations (
      node text not null,
      commit_id text not null,
      at_ms bigint not null,
      primary key (node, commit_id)
    )`,
    'create index commit_activations_of_commit on commit_activations (commit_id, at_ms)',
    'create index commit_activations_by_time on commit_activations (at_ms)',
    `create table held_commits (
      commit_id text primary key,
      author text not null,
      committed_at_ms bigint not null,
      code text not null,
      reason text not null,
      held_at_ms bigint not null
    )`,
  ],
}

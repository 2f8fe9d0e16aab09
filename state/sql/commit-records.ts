// Keeps the history of commits in the tables `commit_activations` and `held_commits`.
import { assert } from '#lib/assert.ts'
import { commitRecordLimits } from '../ports/commit-records.ts'
import type { CommitActivation, CommitRecords, HeldCommit } from '../ports/commit-records.ts'
import type { Sql } from './database/sql.ts'
import type { Db } from './database/tables.ts'

const { activationsPerNodeMax, activationKeptMs, heldMax, waitingMax } = commitRecordLimits

export function createSqlCommitRecords(database: Sql): CommitRecords {
  return {
    activated: (activations) =>
      database.repeatable(async (db) => {
        assert(activations.length <= waitingMax, 'what is stored at once is bounded')
        if (activations.length === 0) return
        await addActivations(db, activations)
        for (const node of new Set(activations.map((one) => one.node))) await prune(db, node)
        const newestMs = Math.max(...activations.map(({ atMs }) => atMs))
        await db
          .deleteFrom('commit_activations')
          .where('at_ms', '<', newestMs - activationKeptMs)
          .execute()
      }),
    held: (commits) =>
      database.repeatable(async (db) => {
        assert(commits.length <= waitingMax, 'what is stored at once is bounded')
        if (commits.length > 0) await addHeld(db, commits)
      }),
    accepted: (commits) =>
      database.repeatable(async (db) => {
        assert(commits.length <= waitingMax, 'what is stored at once is bounded')
        if (commits.length === 0) return
        await db.deleteFrom('held_commits').where('commit_id', 'in', commits).execute()
      }),
    activationsOf: (commits) =>
      database.repeatable(async (db) => {
        assert(commits.length <= commitRecordLimits.askedMax, 'a question is bounded')
        if (commits.length === 0) return []
        const rows = await db
          .selectFrom('commit_activations')
          .selectAll()
          .where('commit_id', 'in', commits)
          .orderBy('at_ms')
          .orderBy('node')
          .limit(commitRecordLimits.rowsMax)
          .execute()
        return rows.map(({ node, commit_id: commit, at_ms: atMs }) => ({ node, commit, atMs }))
      }),
    heldCommits: () =>
      database.repeatable(async (db) => {
        const rows = await newestHeld(db).selectAll().execute()
        return rows.map((row) => ({
          ...{ commit: row.commit_id, author: row.author, committedAtMs: row.committed_at_ms },
          ...{ code: row.code, reason: row.reason, heldAtMs: row.held_at_ms },
        }))
      }),
  }
}

async function addActivations(db: Db, activations: readonly CommitActivation[]): Promise<void> {
  await db
    .insertInto('commit_activations')
    .values(activations.map(({ node, commit, atMs }) => ({ node, commit_id: commit, at_ms: atMs })))
    .onConflict((conflict) => conflict.columns(['node', 'commit_id']).doNothing())
    .execute()
}

async function prune(db: Db, node: string): Promise<void> {
  const kept = db
    .selectFrom('commit_activations')
    .select('commit_id')
    .where('node', '=', node)
    .orderBy('at_ms', 'desc')
    .orderBy('commit_id')
    .limit(activationsPerNodeMax)
  await db
    .deleteFrom('commit_activations')
    .where('node', '=', node)
    .where('commit_id', 'not in', kept)
    .execute()
}

async function addHeld(db: Db, commits: readonly HeldCommit[]): Promise<void> {
  const rows = commits.map(({ commit, author, committedAtMs, code, reason, heldAtMs }) => ({
    ...{ commit_id: commit, author, committed_at_ms: committedAtMs, code },
    ...{ reason: reason.slice(0, commitRecordLimits.reasonLengthMax), held_at_ms: heldAtMs },
  }))
  await db
    .insertInto('held_commits')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('commit_id').doUpdateSet((eb) => ({
        code: eb.ref('excluded.code'),
        reason: eb.ref('excluded.reason'),
      })),
    )
    .execute()
  await db
    .deleteFrom('held_commits')
    .where('commit_id', 'not in', newestHeld(db).select('commit_id'))
    .execute()
}

function newestHeld(db: Db) {
  return db
    .selectFrom('held_commits')
    .orderBy('held_at_ms', 'desc')
    .orderBy('commit_id')
    .limit(heldMax)
}

// Announces commits to other nodes by NOTIFY.
import { sql } from 'kysely'
import type { CommitAnnouncements } from '../ports/commit-news.ts'
import type { Sql } from './database/sql.ts'

export const commitChannel = 'gslbd_commits'

export function createSqlCommitNews(database: Sql): CommitAnnouncements {
  return {
    announce: (text) =>
      database.repeatable(async (db) => {
        await sql`select pg_notify(${commitChannel}, ${text})`.execute(db)
      }),
  }
}

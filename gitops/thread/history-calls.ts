// Passes questions about the history from the main thread to the Git thread, and the answers back.
import type { SourceFile } from '#compiler/read/source.ts'
import type {
  CommitChange,
  ConfigHistory,
  FilesFault,
  HistoryPage,
  HistoryQuestion,
} from '#config/history.ts'
import { err } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export type HistoryAsked =
  | { readonly about: 'list'; readonly list: HistoryQuestion }
  | { readonly about: 'change'; readonly commit: string; readonly tenant: string | null }
  | { readonly about: 'files'; readonly commit: string }
export type HistoryAnswer = Result<HistoryPage | CommitChange | readonly SourceFile[], FilesFault>

/** The tenant that asks; null: a system administrator, or the node itself. */
export function askerOf(asked: HistoryAsked): string | null {
  if (asked.about === 'list') return asked.list.tenant
  return asked.about === 'change' ? asked.tenant : null
}

/** Answers a question, in the Git thread. Never rejects. */
export async function askHistory(
  history: ConfigHistory,
  asked: HistoryAsked,
): Promise<HistoryAnswer> {
  try {
    if (asked.about === 'list') return await history.list(asked.list)
    if (asked.about === 'files') return await history.filesOf(asked.commit)
    return await history.changeOf(asked.commit, asked.tenant)
  } catch {
    return err('unavailable')
  }
}

/** The history as the main thread sees it. @param ask passes a question to the Git thread */
export function historyThrough(
  ask: (asked: HistoryAsked) => Promise<HistoryAnswer>,
): ConfigHistory {
  return {
    list: (list) => ask({ about: 'list', list }) as ReturnType<ConfigHistory['list']>,
    changeOf: (commit, tenant) =>
      ask({ about: 'change', commit, tenant }) as ReturnType<ConfigHistory['changeOf']>,
    filesOf: (commit) => ask({ about: 'files', commit }) as ReturnType<ConfigHistory['filesOf']>,
  }
}

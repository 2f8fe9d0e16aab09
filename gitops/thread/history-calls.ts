// Passes questions about the history from the main thread to the Git thread, and the answers back.
import { assert } from '#lib/assert.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { historyLimits } from '#config/history.ts'
import type {
  CommitChange,
  ConfigHistory,
  FilesFault,
  HistoryFault,
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

/** Holds the questions that are not answered yet, in the main thread. */
export class PendingQuestions implements ConfigHistory {
  readonly #send: (id: number, asked: HistoryAsked) => boolean
  readonly #resolvers = new Map<number, (answer: HistoryAnswer) => void>()
  #lastId = 0

  /** @param send returns false when there is no thread to ask */
  constructor(send: (id: number, asked: HistoryAsked) => boolean) {
    this.#send = send
  }

  list = (list: HistoryQuestion): Promise<Result<HistoryPage, HistoryFault>> =>
    this.#ask({ about: 'list', list }) as Promise<Result<HistoryPage, HistoryFault>>

  changeOf = (commit: string, tenant: string | null): Promise<Result<CommitChange, HistoryFault>> =>
    this.#ask({ about: 'change', commit, tenant }) as Promise<Result<CommitChange, HistoryFault>>

  filesOf = (commit: string): Promise<Result<readonly SourceFile[], FilesFault>> =>
    this.#ask({ about: 'files', commit }) as Promise<Result<readonly SourceFile[], FilesFault>>

  settle(id: number, answer: HistoryAnswer): void {
    assert(id > 0 && id <= this.#lastId, 'the thread answers a question that it was asked')
    this.#resolvers.get(id)?.(answer)
    this.#resolvers.delete(id)
  }

  abandon(): void {
    for (const resolve of this.#resolvers.values()) resolve(err('unavailable'))
    this.#resolvers.clear()
  }

  #ask(asked: HistoryAsked): Promise<HistoryAnswer> {
    if (this.#resolvers.size >= historyLimits.askedMax) return Promise.resolve(err('busy'))
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#resolvers.set(id, resolve)
      if (this.#send(id, asked)) return
      this.#resolvers.delete(id)
      resolve(err('unavailable'))
    })
  }
}

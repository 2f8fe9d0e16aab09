// Defines what a forge is asked to take: the comment and the status of a review.
import type { Result } from '#lib/result.ts'

/** Result of a review, as a forge shows it. */
export interface Verdict {
  readonly state: 'success' | 'failure'
  /** Result in one line. */
  readonly verdict: string
}

export interface Change {
  /** `OWNER/NAME`; for GitLab, id or path of the project. */
  readonly repository: string
  /** 40 hex digits. */
  readonly commit: string
  /** Where the details are; '': nowhere. */
  readonly detailsUrl: string
}

/** Sends one request. Errors: a sentence, without the token. */
export type Call = (
  method: 'GET' | 'POST' | 'PATCH' | 'PUT',
  path: string,
  body?: object,
) => Promise<Result<unknown, string>>

export interface Forge {
  readonly apiUrl: string
  /** Header fields with the token. */
  readonly headers: (token: string) => Readonly<Record<string, string>>
  /** Creates the comment, or updates it. */
  readonly comment: (call: Call, change: Change, number: number, body: string) => Reply
  readonly status: (call: Call, change: Change, verdict: Verdict) => Reply
  /** The open pull request with this head; null: there is none. */
  readonly find: (
    call: Call,
    change: Change,
    head: string,
  ) => Promise<Result<number | null, string>>
}

type Reply = Promise<Result<unknown, string>>

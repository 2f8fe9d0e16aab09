// What a hosting service is asked to take: the comment and the status of a review.
import type { Result } from '#lib/result.ts'

/** What is told of a review. */
export interface Verdict {
  readonly state: 'success' | 'failure'
  /** One line. */
  readonly verdict: string
}

export interface Change {
  /** `OWNER/NAME`; of GitLab, the id or the path of the project. */
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
  /** Header fields that carry the token. */
  readonly headers: (token: string) => Readonly<Record<string, string>>
  /** Makes the one comment of this kind, or brings it up to date. */
  readonly comment: (call: Call, change: Change, number: number, body: string) => Reply
  readonly status: (call: Call, change: Change, verdict: Verdict) => Reply
  /** The open pull request whose head is the commit; null: there is none. */
  readonly find: (
    call: Call,
    change: Change,
    head: string,
  ) => Promise<Result<number | null, string>>
}

export type Reply = Promise<Result<unknown, string>>

// Defines the reply of a handler: status, body, headers. Expected refusals are replies, not throws.
import type { AuditEntry } from '#state/ports/audit.ts'
import type { FeedSocket } from './feed-socket.ts'

export interface Reply {
  readonly status: number
  /** undefined: no body. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** For the audit log: the account concerned, and further effects of the call. */
  readonly noted?: Pick<AuditEntry, 'user' | 'note'>
  /** Takes the connection over after a 101. */
  readonly upgrade?: (socket: FeedSocket) => void
}

export const success = (body: unknown, headers: Reply['headers'] = {}): Reply => ({
  status: 200,
  body,
  headers,
})
export const created = (body: unknown, headers: Reply['headers'] = {}): Reply => ({
  status: 201,
  body,
  headers,
})
export const noContent = (headers: Reply['headers'] = {}): Reply => ({ status: 204, headers })

/** @param more fields beside `error` */
export function refused(
  status: number,
  error: string,
  more: Readonly<Record<string, unknown>> = {},
): Reply {
  return { status, body: { error, ...more } }
}

/** @param seconds until another try */
export function later(status: 429 | 503, sentence: string, seconds: number): Reply {
  const headers = { 'retry-after': String(Math.ceil(seconds)) }
  return { ...refused(status, sentence), headers }
}

/** A 400 names the field and says what to write. */
export const invalid = (field: string, reason: string): Reply => refused(400, `${field}: ${reason}`)
export const missing = (what: string): Reply => refused(404, `there is no such ${what}`)

// Forwards log lines of the health thread to the main thread's log.
import type { Log } from '#lib/log.ts'

export interface LogMessage {
  readonly kind: 'log'
  readonly level: keyof Log
  /** Plain data; no errors, whose own fields do not cross a thread. */
  readonly fields: object
  readonly message: string
}

/** @param post sends to the main thread */
export function logThrough(post: (message: LogMessage) => void): Required<Log> {
  const at =
    (level: keyof Log) =>
    (fields: object, message: string): void => {
      post({ kind: 'log', level, fields, message })
    }
  return { info: at('info'), warn: at('warn'), error: at('error'), debug: at('debug') }
}

// The logger interface for the layers below `node/`; pino satisfies it.

export interface Log {
  /** `fields` become keys of the log line; `message` is a sentence. Neither may hold a secret. */
  readonly info: (fields: object, message: string) => void
  readonly warn: (fields: object, message: string) => void
  readonly error: (fields: object, message: string) => void
}

// What the layers below `node/` say by: the logger, which pino satisfies, and how far long work is.

export interface Log {
  /** `fields` become keys of the log line; `message` is a sentence. Neither may hold a secret. */
  readonly info: (fields: object, message: string) => void
  readonly warn: (fields: object, message: string) => void
  readonly error: (fields: object, message: string) => void
}

/**
 * @param doing a few words; with a count they end with what is counted: `compiling: file`
 * @param done which one it is at, from 1 on
 * @param all how many there are; left out where that is not known yet
 */
export type Tell = (doing: string, done?: number, all?: number) => void

// Defines how layers below `node/` report: the logger, which pino satisfies, and progress of long
// work.

export interface Log {
  /** `fields` become keys of the log line; `message` is a sentence. Neither may hold a secret. */
  readonly info: (fields: object, message: string) => void
  readonly warn: (fields: object, message: string) => void
  readonly error: (fields: object, message: string) => void
  /** What is seen where somebody asks for it. Left out: nobody does. */
  readonly debug?: (fields: object, message: string) => void
}

/**
 * @param doing a few words; with a count they end in the counted thing: `compiling: file`
 *
 * @param done number of the current one, from 1
 * @param all how many there are; left out when unknown
 */
export type Tell = (doing: string, done?: number, all?: number) => void

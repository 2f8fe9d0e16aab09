// The backup file format: gzipped lines of JSON, the same for every database.
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream'

/** First line. */
export interface BackupHeader {
  readonly format: 'gslbd-backup'
  readonly version: 1
  /** The schema that the rows are of. */
  readonly schema: number
  readonly createdAtMs: number
}

/** Before the rows of a table, each of which is a JSON object on a line of its own. */
export interface TableLine {
  readonly table: string
  readonly columns: readonly string[]
}

/** Last line; without it the file was cut. */
export interface BackupEnd {
  readonly rows: number
  /** Of all lines before, with their line ends. */
  readonly sha256: string
}

export const backupLimits = {
  lineBytesMax: 4 * 1_048_576,
  rowsPerFetch: 500,
} as const

/** Adds up what `BackupEnd` says. */
export class BackupSum {
  readonly #hash = createHash('sha256')

  add(line: string): void {
    this.#hash.update(line).update('\n')
  }

  digest(): string {
    return this.#hash.digest('hex')
  }
}

/** @throws the error of the file system or of zlib; Error for a line that is too long */
export async function* readLines(path: string): AsyncGenerator<string> {
  const file = createReadStream(path)
  const stream = createGunzip()
  // Its error reaches the loop below through `stream`.
  pipeline(file, stream, () => undefined)
  let rest = ''
  for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    if (rest.length > backupLimits.lineBytesMax) throw new Error('a line is too long')
    yield* lines
  }
  if (rest !== '') yield rest
}

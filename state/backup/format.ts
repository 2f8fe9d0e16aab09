// The backup file format: gzipped lines of JSON, the same for every database.
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream'

/** First line. */
export interface BackupHeader {
  readonly format: 'gslbd-backup'
  /** 1: the database alone; 2: the node's files follow; 3: the list of nodes is one of them. */
  readonly version: 1 | 2 | 3
  /** Schema version of the rows. */
  readonly schema: number
  readonly createdAtMs: number
}

/** Precedes the rows of a table, each of which is a JSON object on a line of its own. */
export interface TableLine {
  readonly table: string
  readonly columns: readonly string[]
}

/**
 * Files of the node outside of the database, with their greatest size in octets. `config.bundle` is
 * a Git bundle (gitformat-bundle(5)) of the node's whole repository.
 */
export const backupFiles = Object.freeze({
  'keys/node.pem': 65_536,
  allowed_signers: 4 * 1_048_576,
  ssh_key: 65_536,
  known_hosts: 4 * 1_048_576,
  'gitops/state.json': 64 * 1_048_576,
  nodes: 8 * 1_048_576,
  'config.bundle': 64 * 1024 ** 3,
})
export type BackupFileName = keyof typeof backupFiles

/** Precedes the octets of a file, in parts of one line each. */
export interface FileLine {
  readonly file: BackupFileName
}

export interface OctetsLine {
  /** Base64. */
  readonly octets: string
}

/** The last line; without it the file was truncated. */
export interface BackupEnd {
  readonly rows: number
  /** Digest of all lines before, with their line ends. */
  readonly sha256: string
}

export const backupLimits = {
  lineBytesMax: 4 * 1_048_576,
  rowsPerFetch: 500,
  octetsPerLine: 262_144,
} as const

/** Computes the sums in `BackupEnd`. */
export class BackupSum {
  readonly #hash = createHash('sha256')

  add(line: string): void {
    this.#hash.update(line).update('\n')
  }

  digest(): string {
    return this.#hash.digest('hex')
  }
}

/** @throws the error of the file system or of zlib; Error for a too long line */
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

// Keeps the outcome of a check of a large configuration in the user's cache directory, so that the
// next check of the same files only repeats it.
import { createHash, hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
} from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { SourceFile } from '#compiler/read/source.ts'
import { programStamp } from '#gitops/sync/program-stamp.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { variable } from '#system/process/command.ts'
import type { Exit, Io } from '#system/process/command.ts'

export const outcomeLimits = Object.freeze({
  /** A smaller configuration is checked about as fast as its outcome is found. */
  configurationBytesMin: 256 * 1024,
  /** A longer outcome is not kept. */
  bytesMax: 1024 * 1024,
  /** When there are more, the oldest are removed. */
  filesMax: 64,
})

export interface Outcome {
  readonly out: string
  readonly exit: typeof Exit.Ok | typeof Exit.ErrorsFound
}

/** Fields of a file beside its digest. */
interface Kept extends Outcome {
  readonly stamp: string
}

const magic = 'gslbd outcome 1'

/** The outcome of one check. */
export class KeptOutcome {
  readonly #env: Io['env']
  readonly #note: (line: string) => void
  /** Computed on demand: in a checkout it needs all its files. */
  static #stamp = ''
  /** undefined: nothing is kept. */
  #path: string | undefined

  /** @param note called once with why a file is thrown away, or cannot be written */
  constructor(env: Io['env'], note: (line: string) => void) {
    this.#env = env
    this.#note = note
  }

  /** @param asked everything beside program and files that the outcome depends on */
  find(files: readonly SourceFile[], asked: unknown): Outcome | undefined {
    const bytes = files.reduce((sum, file) => sum + (file.bytes?.length ?? 0), 0)
    if (bytes < outcomeLimits.configurationBytesMin) return undefined
    const folder = cacheFolder(this.#env)
    if (folder === undefined) return undefined
    const path = join(folder, nameOf(files, asked))
    this.#path = path
    KeptOutcome.#stamp ||= programStamp()
    const kept = read(path)
    if (kept.ok && kept.value === undefined) return undefined
    if (kept.ok && kept.value?.stamp === KeptOutcome.#stamp) return kept.value
    const reason = kept.ok ? 'is of another version of gslbd' : kept.error
    this.#note(`${path} ${reason}; it is thrown away, and everything checked`)
    try {
      rmSync(path, { force: true, recursive: true })
    } catch {
      // `keep` reports that nothing can be written there.
    }
    return undefined
  }

  /** To be called when `find` had none. Never rejects: failures are noted. */
  async keep({ out, exit }: Outcome): Promise<void> {
    const path = this.#path
    if (path === undefined) return
    const text = encode({ stamp: KeptOutcome.#stamp, out, exit })
    if (Buffer.byteLength(text) > outcomeLimits.bytesMax) return
    const { writeDurably } = await import('#lib/durable-file.ts')
    try {
      writeDurably(path, text, 0o600)
      removeOldest(join(path, '..'), path)
    } catch (error) {
      const { message } = error as Error
      this.#note(`${path} cannot be written, and the next check takes as long: ${message}`)
    }
  }
}

/** In hex. Unique for a list of files and what is asked. */
function nameOf(files: readonly SourceFile[], asked: unknown): string {
  const contents = createHash('sha256')
  let list = JSON.stringify(asked)
  for (const { path, kind, sizeBytes, bytes } of files) {
    list += `\0${path}\0${kind} ${sizeBytes} ${bytes !== null}`
    if (bytes !== null) contents.update(bytes)
  }
  return hash('sha256', `${contents.digest('hex')}${list}`)
}

/** A folder to which nobody else may write. undefined: there is none. */
function cacheFolder(env: Io['env']): string | undefined {
  const [own, home] = [variable(env, 'XDG_CACHE_HOME'), variable(env, 'HOME')]
  const user = own !== undefined && isAbsolute(own) ? own : home
  if (user === undefined || !isAbsolute(user)) return undefined
  const cache = join(user === home ? join(user, '.cache') : user, 'gslbd')
  const folder = join(cache, 'checks')
  try {
    if (!isOurs(user)) return undefined
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return isOurs(cache) && isOurs(folder) ? folder : undefined
  } catch {
    return undefined
  }
}

/** The same check as in `bin/node/pin`. @throws when the folder may not be examined */
function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() === true && isOwn(found)
}

const othersWrite = 0o022

function isOwn({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  return uid === process.getuid?.() && (mode & othersWrite) === 0
}

/** undefined: there is no file. Errors: a clause about the file. */
function read(path: string): Result<Kept | undefined, string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  let fd
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const found = fstatSync(fd)
    if (!found.isFile() || !isOwn(found)) return err('is not a file that you alone can write')
    if (found.size > outcomeLimits.bytesMax) return err('is too large')
    return decode(readFileSync(fd, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? ok(undefined) : err(`cannot be read: ${message}`)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function encode(kept: Kept): string {
  const json = JSON.stringify(kept)
  return `${magic}\n${hash('sha256', json)}\n${json}`
}

function decode(text: string): Result<Kept, string> {
  const [first, digest, json = ''] = text.split('\n', 3)
  if (first !== magic) return err('is of another form')
  if (digest !== hash('sha256', json) || !text.endsWith(json)) return err('is damaged')
  // The digest fits, so this program wrote it.
  return ok(JSON.parse(json) as Kept)
}

/** Removes all others than `newest`, whatever the clock was when they were written. */
function removeOldest(folder: string, newest: string): void {
  const files = readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => path !== newest)
  if (files.length < outcomeLimits.filesMax) return
  const writtenMs = (path: string): number =>
    lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const byAge = files.map((path) => ({ path, ms: writtenMs(path) })).toSorted((a, b) => b.ms - a.ms)
  for (const { path } of byAge.slice(outcomeLimits.filesMax - 1)) {
    rmSync(path, { force: true, recursive: true })
  }
}

// Opens PGlite, PostgreSQL inside this process, on a directory, and finds the cause when the disk
// refuses it.
import { fsyncSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { releaseZeroPages } from '#system/worker/release-memory.ts'
import { databaseMachine } from './database-machine.ts'
import { LibraryFiles } from './library-files.ts'
import type { LibraryFileSystem } from './library-files.ts'

/**
 * By default the database may lose acknowledged writes. It has no implementation of `fdatasync`;
 * `fsync` gets one below.
 *
 * The default cache takes 128 MiB, and 100 connections, of which one is used, 4 MiB. With 4 MiB of
 * cache, statements on tables of 20 MiB take up to 9 % longer than with 16: the system caches pages
 * of files, too.
 */
const parameters = [
  ...['fsync=on', 'wal_sync_method=fsync', 'min_wal_size=32MB', 'max_wal_size=64MB'],
  ...['shared_buffers=4MB', 'max_connections=10', 'max_wal_senders=0', 'max_replication_slots=0'],
]

/** More than the few octets that a full disk may have left. */
const probeBytes = 8192
/** PostgreSQL makes its log in files of 16 MiB, and opening the database may need one. */
const freeBytesMin = 16 * 1024 * 1024

/** A missing or empty directory becomes a database. */
export async function openPglite(directory: string): Promise<PGlite> {
  const defaults = (PGlite as unknown as { defaultStartParams: readonly string[] })
    .defaultStartParams
  try {
    const library = new LibraryFiles()
    const database = await PGlite.create({
      fs: new FlushingFiles(directory),
      fsBundle: library.blob,
      pgliteWasmModule: databaseMachine(),
      startParams: [
        ...defaults.filter((parameter) => parameter !== '-F'),
        ...parameters.flatMap((parameter) => ['-c', parameter]),
      ],
    })
    const { FS, HEAPU8 } = database.Module as unknown as OpenMachine
    library.letGo(FS)
    // Shared memory is zeroed at the start, used or not.
    releaseZeroPages(HEAPU8)
    return database
  } catch (error) {
    throw causeIn(directory) ?? error
  }
}

/**
 * Finds out why files cannot be written, since the machine ends without a message.
 *
 * @returns the file system's error, with its code; undefined: the files can be written
 */
export function causeIn(directory: string): unknown {
  const probe = join(directory, `.probe-${process.pid}`)
  try {
    mkdirSync(directory, { recursive: true })
    writeFileSync(probe, Buffer.alloc(probeBytes))
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize < freeBytesMin ? noSpace() : undefined
  } catch (error) {
    return error
  } finally {
    removeQuietly(probe)
  }
}

function noSpace(): Error {
  return Object.assign(new Error('the disk has no room for a log file'), { code: 'ENOSPC' })
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The probe file could not be made.
  }
}

/** The fields used of Emscripten's module. */
interface OpenMachine {
  readonly FS: LibraryFileSystem
  readonly HEAPU8: Uint8Array
}

/** The same, before it runs. */
interface Machine {
  readonly NODEFS?: {
    readonly stream_ops: { fsync?: (stream: { readonly nfd?: number }) => number }
  }
}

/** The one import used of those that Emscripten gives the machine. */
interface Imports {
  readonly env: { _setitimer_js: (which: number, delayMs: number) => number }
}
type Instantiate = (imports: Imports, done: unknown) => object

/** A longer delay fires at once (`setTimeout` of Node). */
const timerMsMax = 2 ** 31 - 1

/**
 * PostgreSQL takes its timers from the wall clock: after that was set back by a month they would
 * fire at once, and again and again.
 */
function boundTimers(imports: Imports): Imports {
  const { env } = imports
  const { _setitimer_js: set } = env
  env._setitimer_js = (which, delayMs) => set(which, Math.min(delayMs, timerMsMax))
  return imports
}

/** Host files that reach the disk on fsync, unlike those of the package; and bounded timers. */
class FlushingFiles extends NodeFS {
  override async init(...args: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...args)
    const flush = (machine: Machine): void => {
      if (machine.NODEFS === undefined) return
      machine.NODEFS.stream_ops.fsync = ({ nfd }) => {
        if (nfd !== undefined) fsyncSync(nfd)
        return 0
      }
    }
    const preRun = [...(emscriptenOpts.preRun ?? []), flush]
    const { instantiateWasm: instantiate } = emscriptenOpts as { instantiateWasm: Instantiate }
    const instantiateWasm: Instantiate = (imports, done) => instantiate(boundTimers(imports), done)
    return { emscriptenOpts: { ...emscriptenOpts, preRun, instantiateWasm } }
  }
}

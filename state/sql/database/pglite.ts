// PostgreSQL inside this process (PGlite), in a directory that one process holds at a time.
import { existsSync, fsyncSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { Kysely, PGliteDialect } from 'kysely'
import { sqlFault } from './faults.ts'
import { draftPath, makeDatabase } from './make-database.ts'
import type { SqlDriver } from './sql.ts'
import type { Tables } from './tables.ts'

/**
 * The default is a database that may forget what it acknowledged, and that takes 128 MiB for its
 * cache. `fdatasync` has no implementation in it; `fsync` gets one below.
 */
const parameters = [
  'fsync=on',
  'wal_sync_method=fsync',
  'shared_buffers=16MB',
  'min_wal_size=32MB',
  'max_wal_size=64MB',
]

/** A disk may have a few octets left. */
const probeBytes = 8192
/** PostgreSQL makes its log in files of 16 MiB, and opening the database may need one. */
const freeBytesMin = 16 * 1024 * 1024

/**
 * @param directory  two processes must never open it at once: who opens it holds the data
 *   directory (`cli/data/data-dir.ts`), and the database is inside
 */
export function pgliteDriver(directory: string): SqlDriver {
  return async (signal) => {
    if (!existsSync(directory)) await made(directory, signal)
    const pglite = await openPglite(directory)
    let broken = false
    const watched = watch(pglite, () => (broken = true))
    const db = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite: watched }) })
    return {
      db,
      close: async () => {
        await db.destroy()
        if (!pglite.closed) await pglite.close()
      },
      isBroken: () => broken || pglite.closed,
    }
  }
}

async function made(directory: string, signal: AbortSignal): Promise<void> {
  try {
    await makeDatabase(directory, signal)
  } catch (error) {
    throw signal.aborted ? error : (causeIn(dirname(draftPath(directory))) ?? error)
  }
}

/** A directory that is not there, or is empty, becomes a database. */
export async function openPglite(directory: string): Promise<PGlite> {
  const defaults = (PGlite as unknown as { defaultStartParams: readonly string[] })
    .defaultStartParams
  try {
    return await PGlite.create({
      fs: new FlushingFiles(directory),
      startParams: [
        ...defaults.filter((parameter) => parameter !== '-F'),
        ...parameters.flatMap((parameter) => ['-c', parameter]),
      ],
    })
  } catch (error) {
    throw causeIn(directory) ?? error
  }
}

/**
 * The machine ends without a word when its files cannot be written.
 *
 * @returns the file system's error, with its code; undefined: the files can be written
 */
function causeIn(directory: string): unknown {
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
    // Nor could it be made.
  }
}

/** The parts of Emscripten's module that are used here. */
interface Machine {
  readonly NODEFS?: {
    readonly stream_ops: { fsync?: (stream: { readonly nfd?: number }) => number }
  }
}

/** Files of the host which, unlike the ones of the package, reach the disk when told to. */
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
    const preRun = [...((emscriptenOpts.preRun ?? []) as ((machine: never) => void)[]), flush]
    return { emscriptenOpts: { ...emscriptenOpts, preRun: preRun as never } }
  }
}

/** An error without a SQLSTATE is one of the machine, which does not survive it. */
function watch(pglite: PGlite, onBroken: () => void): PGlite {
  const query = pglite.query.bind(pglite)
  pglite.query = (async (...args: Parameters<typeof query>) => {
    try {
      return await query(...args)
    } catch (error) {
      if (sqlFault(error).kind === 'unknown') onBroken()
      throw error
    }
  }) as typeof pglite.query
  return pglite
}

// Finds the data directory that a command works on, and keeps nodes out of it meanwhile.
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openDataDir } from '#process/data/data-dir.ts'
import { CommandFault, needed, variable } from '#system/process/command.ts'
import type { Exit, Io } from '#system/process/command.ts'

/** Absolute: `--data-dir`, else GSLB_DATA_DIR, else ./data. */
export function dataDirOf(
  values: { readonly 'data-dir'?: string | undefined },
  { env }: Pick<Io, 'env'>,
): string {
  return resolve(values['data-dir'] ?? variable(env, 'GSLB_DATA_DIR') ?? './data')
}

/** @throws CommandFault where no node has used the directory */
export function checkNodeKey(dataDir: string, exit: Exit): void {
  if (existsSync(join(dataDir, 'keys', 'node.pem'))) return
  const why = `${dataDir} holds no key of a node; name the data directory with --data-dir`
  throw new CommandFault(exit, why)
}

/**
 * What root writes, a node that runs as another user could not read at its next start.
 *
 * @throws CommandFault where this process is root, and the node is not
 */
export function checkOwner(dataDir: string, exit: Exit, ownId = process.getuid?.()): void {
  const key = statSync(join(dataDir, 'keys', 'node.pem'), { throwIfNoEntry: false })
  if (ownId !== 0 || key === undefined || key.uid === 0) return
  const why =
    `the node of ${dataDir} is not run by root, and could not read what root writes: run this as ` +
    `its user, such as sudo -u '#${key.uid}' gslbd …`
  throw new CommandFault(exit, why)
}

/**
 * Works while no node runs in the directory.
 *
 * @throws CommandFault where one does
 */
export async function holding<T>(
  dataDir: string,
  exit: Exit,
  work: () => T | Promise<T>,
): Promise<T> {
  checkOwner(dataDir, exit)
  const held = needed(openDataDir(dataDir), exit)
  try {
    return await work()
  } finally {
    held.release()
  }
}

// Finds the data directory that a command works on, and keeps nodes out of it meanwhile.
import { existsSync } from 'node:fs'
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
 * Works while no node runs in the directory.
 *
 * @throws CommandFault where one does
 */
export async function holding<T>(
  dataDir: string,
  exit: Exit,
  work: () => T | Promise<T>,
): Promise<T> {
  const held = needed(openDataDir(dataDir), exit)
  try {
    return await work()
  } finally {
    held.release()
  }
}

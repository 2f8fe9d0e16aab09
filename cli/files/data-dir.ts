// Finds the data directory that a command works on.
import { resolve } from 'node:path'
import { variable } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'

/** Absolute: `--data-dir`, else GSLB_DATA_DIR, else ./data. */
export function dataDirOf(
  values: { readonly 'data-dir'?: string | undefined },
  { env }: Pick<Io, 'env'>,
): string {
  return resolve(values['data-dir'] ?? variable(env, 'GSLB_DATA_DIR') ?? './data')
}

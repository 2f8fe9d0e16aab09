// Writes the two files of a key pair that a command has made.
import { existsSync, writeFileSync } from 'node:fs'
import { CommandFault, Exit } from '#system/process/command.ts'

/**
 * Writes `path` and `path.pub`, and never over another file.
 *
 * @throws CommandFault
 */
export function writeKeyPair(path: string, privateKey: string, publicLine: string): void {
  const publicPath = `${path}.pub`
  const taken = [path, publicPath].find((file) => existsSync(file))
  if (taken !== undefined) {
    const why = `${taken} exists and is not overwritten; choose another name with -o`
    throw new CommandFault(Exit.ErrorsFound, why)
  }
  try {
    // `wx`: two runs at once cannot both believe that the file was free.
    writeFileSync(path, privateKey, { flag: 'wx', mode: 0o600 })
    writeFileSync(publicPath, `${publicLine}\n`, { flag: 'wx', mode: 0o644 })
  } catch (error) {
    const why = `the key cannot be written: ${(error as Error).message}`
    throw new CommandFault(Exit.ErrorsFound, why)
  }
}

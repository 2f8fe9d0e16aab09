// Makes the output folder of a command, with the folders above it.
import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes one folder after the other: Node's recursive `mkdirSync` never returns where nothing can be
 * made, as in `/proc`.
 *
 * @returns why it cannot be made, in a sentence; undefined: it exists
 */
export function makeOutputFolder(path: string): string | undefined {
  const missing: string[] = []
  let at = resolve(path)
  try {
    for (; statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at)) missing.push(at)
    if (!statSync(at).isDirectory()) return `${at} is a file, not a folder`
    while (missing.length > 0) {
      at = missing.pop()!
      mkdirSync(at)
    }
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isFile = code === 'ENOTDIR' || code === 'EEXIST'
    if (isFile) return `${dirname(at)} is a file, not a folder`
    return `the folder ${at} cannot be made: ${message}`
  }
}

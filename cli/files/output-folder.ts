// Makes the folder that a command writes to, with those above it.
import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Folder by folder: where nothing can be made, such as in `/proc`, node's own recursive `mkdirSync`
 * goes on for ever.
 *
 * @returns a sentence that says why it cannot be; undefined: it is there.
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

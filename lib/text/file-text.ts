// Reads a text file that may be missing or unreadable.
import { readFileSync } from 'node:fs'

/** @returns undefined: the file does not exist, or cannot be read */
export function fileText(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | undefined {
  try {
    return readFileSync(path, encoding)
  } catch {
    return undefined
  }
}

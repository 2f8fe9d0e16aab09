// Puts the files of a release in their place, and makes the tag between copy and rename.
import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'

const all = { recursive: true, force: true } as const

/** Path to which the files are copied before they appear in `output`. */
export const partOf = (output: string): string => `${output}.part`

/**
 * Copies the files, makes the tag and renames. A full disk leaves no tag behind, and a refused tag
 * leaves `output` unchanged.
 * @param tag called when the files are complete, on the disk of `output`
 */
export async function putInPlace(
  files: string,
  output: string,
  tag: () => Promise<void>,
): Promise<void> {
  const part = partOf(output)
  rmSync(part, all)
  mkdirSync(dirname(output), { recursive: true })
  try {
    cpSync(files, part, { recursive: true })
    await tag()
  } catch (error) {
    rmSync(part, all)
    throw error
  }
  rmSync(output, all)
  renameSync(part, output)
}

// Puts the files of a release in their place, and has the tag made between copy and rename.
import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'

const all = { recursive: true, force: true } as const

/** Where the files are copied to before they appear in `output`. */
export const partOf = (output: string): string => `${output}.part`

/**
 * A disk that is full leaves no tag behind, and a tag that is refused leaves `output` as it was.
 *
 * @param tag is called when the files are whole, on the disk of `output`
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

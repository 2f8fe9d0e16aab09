// The compiler's input: the files of one tree, as Git lists them.
import { isRead } from './layout.ts'

export interface SourceFile {
  /** From the root of the tree, with `/` between the parts. */
  readonly path: string
  /** Git's id of the content, hex. The same id means the same bytes. */
  readonly blobId: string
  readonly kind: 'file' | 'symlink' | 'submodule'
  readonly sizeBytes: number
  /** May be null for a file that is not read, and when the compiler `has` the blob. */
  bytes: Uint8Array | null
}

/** Far above any sensible object; keeps the cost of a mistaken commit small. */
export const fileBytesMax = 1_048_576

/** Files that are refused by what they have together: nobody needs what was read of them. */
export const unread = (files: readonly SourceFile[]): readonly SourceFile[] =>
  files.map(({ path, kind, sizeBytes }) => ({ path, blobId: '', kind, sizeBytes, bytes: null }))

/** Octets of all that is read, and where most of it is. */
export interface Weight {
  readonly bytes: number
  /** A folder. */
  readonly heaviest: string
  readonly heaviestBytes: number
}

/** What one file has too much is told of that file. @returns undefined: not above `bytesMax` */
export function overweight(files: readonly SourceFile[], bytesMax: number): Weight | undefined {
  // The sizes alone say it of almost any tree.
  if (files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) <= bytesMax) return undefined
  const folders = new Map<string, number>()
  let bytes = 0
  for (const { path, sizeBytes } of files) {
    if (sizeBytes > fileBytesMax || !isRead(path)) continue
    const folder = path.replace(/\/[^/]*$/, '')
    folders.set(folder, (folders.get(folder) ?? 0) + sizeBytes)
    bytes += sizeBytes
  }
  if (bytes <= bytesMax) return undefined
  const [[heaviest, heaviestBytes]] = [...folders].toSorted(([, a], [, b]) => b - a) as [Folder]
  return { bytes, heaviest, heaviestBytes }
}

type Folder = [path: string, bytes: number]

// The compiler's input: the files of one tree, as Git lists them.
import { isRead } from './layout.ts'

export interface SourceFile {
  /** Path from the root of the tree, with `/` as separator. */
  readonly path: string
  /** Git's id of the content, hex. Equal ids mean equal bytes. */
  readonly blobId: string
  readonly kind: 'file' | 'symlink' | 'submodule'
  readonly sizeBytes: number
  /** May be null for a file that is not read, and when the compiler `has` the blob. */
  bytes: Uint8Array | null
}

/** Far above any sensible object; bounds the cost of a mistaken commit. */
export const fileBytesMax = 1_048_576

/** Files without content, for a tree that is refused for its total size. */
export const unread = (files: readonly SourceFile[]): readonly SourceFile[] =>
  files.map(({ path, kind, sizeBytes }) => ({ path, blobId: '', kind, sizeBytes, bytes: null }))

/** Octets of all files read, and the heaviest folder. */
interface Weight {
  readonly bytes: number
  /** Path of a folder. */
  readonly heaviest: string
  readonly heaviestBytes: number
}

/**
 * Sums up the sizes; a file over its own limit is reported by itself.
 *
 * @returns undefined: at most `bytesMax`
 */
export function overweight(files: readonly SourceFile[], bytesMax: number): Weight | undefined {
  // The declared sizes settle almost any tree.
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

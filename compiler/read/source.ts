// The compiler's input: the files of one tree, as Git lists them.

export interface SourceFile {
  /** From the root of the tree, with `/` between the parts. */
  readonly path: string
  /** Git's id of the content, hex. The same id means the same bytes. */
  readonly blobId: string
  readonly kind: 'file' | 'symlink' | 'submodule'
  readonly sizeBytes: number
  /** May be null for a file that is not read, and when the compiler `has` the blob. */
  readonly bytes: Uint8Array | null
}

/** Far above any sensible object; keeps the cost of a mistaken commit small. */
export const fileBytesMax = 1_048_576

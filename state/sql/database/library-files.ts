// Serves the support files of the embedded database (time zones, collations, scripts) from disk on
// demand: they have 6 MiB, most of which only the first start needs.
import { existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The fields used of a node in Emscripten's memory file system. */
interface FileNode {
  /** For a directory, its nodes by name; for a file, its octets; links and devices have none. */
  contents?: Readonly<Record<string, FileNode>> | Uint8Array | null
  stream_ops: { readonly write?: (...args: readonly unknown[]) => number }
}

/** The functions used of Emscripten's file system. */
export interface LibraryFileSystem {
  readonly lookupPath: (path: string) => { readonly node: FileNode }
}

/** Kept open for the life of the process: an upgrade may replace the file. */
let file: number | undefined

/** The files of one database while it opens. */
export class LibraryFiles {
  readonly #octets: ArrayBuffer

  /** @throws the error of the file system */
  constructor() {
    file ??= openSync(pgliteFile('pglite.data'), 'r')
    this.#octets = read(file, 0, fstatSync(file).size).buffer
  }

  /** A substitute for the Blob that PGlite expects. */
  get blob(): Blob {
    return { arrayBuffer: () => Promise.resolve(this.#octets) } as Blob
  }

  /** Octets in memory. */
  get heldBytes(): number {
    return this.#octets.byteLength
  }

  /** Frees the memory; later reads go to the disk. */
  letGo(files: LibraryFileSystem): void {
    this.#readFromDisk(files.lookupPath('/').node, 0)
    this.#octets.transfer(0)
  }

  /** @param depth no link leads to a directory above, but the recursion is bounded all the same */
  #readFromDisk(node: FileNode, depth: number): void {
    const { contents } = node
    if (contents === null || contents === undefined || depth > 32) return
    if (!(contents instanceof Uint8Array)) {
      for (const below of Object.values(contents)) this.#readFromDisk(below, depth + 1)
      return
    }
    if (contents.buffer !== this.#octets) return
    const { byteOffset, byteLength } = contents
    const hold = (value: unknown): void => {
      Object.defineProperty(node, 'contents', { value, writable: true, configurable: true })
    }
    const get = (): Uint8Array => read(file!, byteOffset, byteLength)
    Object.defineProperty(node, 'contents', { configurable: true, get, set: hold })
    // A file that is written goes back to memory, since its octets may be changed in place.
    const { stream_ops: usual } = node
    node.stream_ops = {
      ...usual,
      write: (...args) => {
        hold(node.contents)
        return usual.write!(...args)
      },
    }
  }
}

/** Path beside the built program, or where `npm ci` installs it. */
export function pgliteFile(name: string): string {
  const built = join(import.meta.dirname, '../../../program', name)
  if (existsSync(built)) return built
  return join(dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite')), name)
}

function read(from: number, offset: number, length: number): Uint8Array<ArrayBuffer> {
  const octets = new Uint8Array(new ArrayBuffer(length))
  for (let at = 0; at < length;) {
    const count = readSync(from, octets, at, length - at, offset + at)
    if (count === 0) throw new Error('the files of the embedded database are cut off')
    at += count
  }
  return octets
}

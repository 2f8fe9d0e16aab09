// The files that come with the embedded database (time zones, collations, scripts): 6 MiB, most of
// them for the first start alone. They are read from the disk when the database asks for one.
import { existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The parts of a node of Emscripten's memory file system that are used here. */
interface FileNode {
  /** A directory: its nodes by name. A file: its octets. A link or a device has none. */
  contents?: Readonly<Record<string, FileNode>> | Uint8Array | null
  stream_ops: { readonly write?: (...args: readonly unknown[]) => number }
}

/** The parts of Emscripten's file system that are used here. */
export interface LibraryFileSystem {
  readonly lookupPath: (path: string) => { readonly node: FileNode }
}

/** Open for as long as the process lives: an upgrade may put another file in its place. */
let file: number | undefined

/** The files of one database while it opens. */
export class LibraryFiles {
  readonly #octets: ArrayBuffer

  /** @throws the error of the file system */
  constructor() {
    file ??= openSync(pgliteFile('pglite.data'), 'r')
    this.#octets = read(file, 0, fstatSync(file).size).buffer
  }

  /** What PGlite takes for the blob of these files. */
  get blob(): Blob {
    return { arrayBuffer: () => Promise.resolve(this.#octets) } as Blob
  }

  /** How many octets are in memory. */
  get heldBytes(): number {
    return this.#octets.byteLength
  }

  /** From now on a read of a file is one of the disk; the memory is free. */
  letGo(files: LibraryFileSystem): void {
    this.#readFromDisk(files.lookupPath('/').node, 0)
    this.#octets.transfer(0)
  }

  /** @param depth of links to a directory above there are none; a limit holds all the same */
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
    // A file that is written is one in memory again: its octets may be changed in place.
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

/** Beside the built program, or where `npm ci` has put it. */
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

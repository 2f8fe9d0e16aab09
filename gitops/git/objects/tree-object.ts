// Parses and writes raw tree objects, strictly and in Git's order.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface TreeEntry {
  /** As stored: `40000`, `100644`, `100755`, `120000`, `160000`. */
  readonly mode: string
  readonly name: string
  readonly oid: string
}

const modes = new Set(['40000', '100644', '100755', '100664', '120000', '160000'])
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const isFolder = (entry: TreeEntry): boolean => entry.mode === '40000'

/** Errors: a clause that continues "a folder of the commit …". */
export function parseTree(raw: Uint8Array): Result<TreeEntry[], string> {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const entries: TreeEntry[] = []
  const names = new Set<string>()
  let offset = 0
  while (offset < bytes.length) {
    const space = bytes.indexOf(0x20, offset)
    const end = space === -1 ? -1 : bytes.indexOf(0, space)
    if (end === -1 || end + 21 > bytes.length) return err('ends inside an entry')
    const mode = bytes.toString('latin1', offset, space)
    if (!modes.has(mode)) return err(`has an entry of unknown mode "${mode.slice(0, 8)}"`)
    const name = nameOf(bytes.subarray(space + 1, end))
    if (name === undefined)
      return err(
        'has a file name that is not usable: not UTF-8, or longer than 255, "..", ".git", ' +
          'or with control characters',
      )
    if (names.has(name)) return err(`names "${name}" twice`)
    names.add(name)
    offset = end + 21
    entries.push({ mode, name, oid: bytes.toString('hex', end + 1, offset) })
  }
  return ok(entries)
}

/** @returns the ids of the folders in it, without a look at the names; undefined: it ends early */
export function folderIdsIn(raw: Uint8Array): string[] | undefined {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const ids: string[] = []
  for (let offset = 0; offset < bytes.length;) {
    const end = bytes.indexOf(0, offset)
    const next = end + 21
    if (end === -1 || next > bytes.length) return undefined
    // Only the mode of a folder begins with this octet.
    if (bytes[offset] === folderMark) ids.push(bytes.toString('hex', end + 1, next))
    offset = next
  }
  return ids
}

const folderMark = 0x34

function nameOf(bytes: Uint8Array): string | undefined {
  let name
  try {
    name = utf8.decode(bytes)
  } catch {
    return undefined
  }
  const isReserved =
    name === '' ||
    name.length > 255 ||
    name === '.' ||
    name === '..' ||
    name.toLowerCase() === '.git'
  // A line feed in a name would forge a line of the digest.
  return isReserved || /[\x00-\x1f\x7f/]/.test(name) ? undefined : name
}

export function formatTree(entries: Iterable<TreeEntry>): Buffer {
  // Git sorts a folder as if its name ended in a slash, by bytes.
  const keyed = Array.from(entries, (entry) => ({
    entry,
    key: Buffer.from(isFolder(entry) ? `${entry.name}/` : entry.name),
  }))
  keyed.sort((a, b) => Buffer.compare(a.key, b.key))
  return Buffer.concat(
    keyed.flatMap(({ entry }) => [
      Buffer.from(`${entry.mode} ${entry.name}\0`),
      Buffer.from(entry.oid, 'hex'),
    ]),
  )
}

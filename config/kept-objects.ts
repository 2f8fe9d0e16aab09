// Encodes the objects of one commit as octets, for another thread or a later process, which decodes
// a kind when it is first asked for.
import { kindNames } from '#schemas/kinds.ts'
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import { shareStrings } from '#lib/memory/string-memory.ts'
import { configEntry } from './entry.ts'
import type { ConfigEntry } from './entry.ts'
import { byName, ConfigIndex } from './object-index.ts'
import type { ConfigSnapshot } from './object-index.ts'

/** A file with one object, as the validator has left it. */
export interface KeptObject {
  readonly path: string
  readonly blobId: string
  readonly kind: Kind
  readonly object: ObjectOf[Kind]
}

/** What a list of one kind is in JSON. */
type Row = readonly [path: string, blobId: string, object: ObjectOf[Kind]]

const sizeBytes = 4
const headBytes = kindNames.length * sizeBytes

/**
 * In shared memory. For each kind its octets in JSON, behind a table of their lengths.
 *
 * @returns undefined: they are more than `bytesMax`
 */
export function encodeObjects(
  files: Iterable<KeptObject>,
  bytesMax: number,
): Uint8Array | undefined {
  const rows = new Map<Kind, Row[]>()
  for (const { path, blobId, kind, object } of files) {
    const list = rows.get(kind) ?? []
    rows.set(kind, list)
    list.push([path, blobId, object])
  }
  let total = headBytes
  const lists: Buffer[] = []
  for (const kind of kindNames) {
    const list = encodeList(rows.get(kind) ?? [], bytesMax - total)
    if (list === undefined) return undefined
    lists.push(list)
    total += list.length
  }
  const bytes = new Uint8Array(new SharedArrayBuffer(total))
  const head = new DataView(bytes.buffer)
  let at = headBytes
  for (const [index, list] of lists.entries()) {
    head.setUint32(index * sizeBytes, list.length, true)
    bytes.set(list, at)
    at += list.length
  }
  return bytes
}

/** A piece for each of many small values would take more than they do. */
const pieceChars = 65_536

/**
 * In JSON. Made piece by piece: all of them may exceed the longest string that V8 has.
 *
 * @returns undefined: they are more than `bytesMax`; without octets for no values
 */
export function encodeList(values: readonly unknown[], bytesMax: number): Buffer | undefined {
  const pieces: Buffer[] = []
  let total = 0
  let text = ''
  for (const [index, value] of values.entries()) {
    const isLast = index === values.length - 1
    text += `${index === 0 ? '[' : ','}${JSON.stringify(value)}${isLast ? ']' : ''}`
    if (text.length < pieceChars && !isLast) continue
    const piece = Buffer.from(text)
    text = ''
    total += piece.length
    if (total > bytesMax) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces, total)
}

/** Files of one kind. @param bytes as `encodeObjects` gives them */
export function decodeObjects(bytes: Uint8Array, kind: Kind): KeptObject[] {
  const head = new DataView(bytes.buffer, bytes.byteOffset, headBytes)
  let at = headBytes
  for (const [index, name] of kindNames.entries()) {
    const length = head.getUint32(index * sizeBytes, true)
    if (name === kind) return rowsOf(bytes.subarray(at, at + length)).map(objectOf(kind))
    at += length
  }
  return []
}

const objectOf =
  (kind: Kind) =>
  ([path, blobId, object]: Row): KeptObject => ({ path, blobId, kind, object })

function rowsOf({ buffer, byteOffset, length }: Uint8Array): Row[] {
  if (length === 0) return []
  return JSON.parse(Buffer.from(buffer, byteOffset, length).toString()) as Row[]
}

function entriesIn<K extends Kind>(bytes: Uint8Array, kind: K): ConfigEntry<K>[] {
  const objects = decodeObjects(bytes, kind)
  return objects.map((one) => configEntry(one.path, one.blobId, kind, one.object) as ConfigEntry<K>)
}

/** A snapshot of objects that nobody has read yet: what is asked for decides what is read. */
export class KeptSnapshot implements ConfigSnapshot {
  readonly revision: string
  /** Gone once there is an index. */
  #bytes: Uint8Array | undefined
  readonly #lists = new Map<Kind, readonly ConfigEntry[]>()
  #index: ConfigIndex | undefined

  /** @param bytes as `encodeObjects` gives them */
  constructor(revision: string, bytes: Uint8Array) {
    this.revision = revision
    this.#bytes = bytes
  }

  /** All of it: takes a tenth of a second for ten thousand objects. */
  index(): ConfigIndex {
    if (this.#index !== undefined) return this.#index
    const changed = kindNames.flatMap((kind): readonly ConfigEntry[] => this.list(kind))
    this.#index = ConfigIndex.empty.with({ revision: this.revision, changed, removed: [] })
    this.#bytes = undefined
    return this.#index
  }

  list: ConfigSnapshot['list'] = <K extends Kind>(kind: K) => {
    let list = this.#lists.get(kind)
    if (list === undefined) {
      const entries: ConfigEntry[] = entriesIn(this.#bytes!, kind)
      shareStrings(entries)
      list = entries.sort(byName)
      this.#lists.set(kind, list)
    }
    return list as readonly ConfigEntry<K>[]
  }

  get: ConfigSnapshot['get'] = (kind, uid) => this.index().get(kind, uid)
  find: ConfigSnapshot['find'] = (kind, tenant, name) => this.index().find(kind, tenant, name)
  holderOf: ConfigSnapshot['holderOf'] = (...of) => this.index().holderOf(...of)
  part: ConfigSnapshot['part'] = (kind, uid) => this.index().part(kind, uid)
  servicesOf: ConfigSnapshot['servicesOf'] = (pool) => this.index().servicesOf(pool)
  names: ConfigSnapshot['names'] = () => this.index().names()
  with: ConfigSnapshot['with'] = (delta) => this.index().with(delta)
}

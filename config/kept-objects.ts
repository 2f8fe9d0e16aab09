// Encodes the objects of one commit for another thread or a later process, which decodes a kind
// when it is first read.
import { kindNames } from '#schemas/kinds.ts'
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import { shareStrings } from '#lib/memory/string-memory.ts'
import { configEntry } from './entry.ts'
import type { ConfigEntry } from './entry.ts'
import { byName } from '#lib/sequence/order.ts'
import { ConfigIndex } from './object-index.ts'
import type { ConfigSnapshot } from './object-index.ts'

/** A file with one object, as the validator returned it. */
export interface KeptObject {
  readonly path: string
  readonly blobId: string
  readonly kind: Kind
  readonly object: ObjectOf[Kind]
}

/** JSON form of an object in the list of its kind. */
type Row = readonly [path: string, blobId: string, object: ObjectOf[Kind]]

const sizeBytes = 4
const headBytes = kindNames.length * sizeBytes

/**
 * Encodes objects into shared memory: a table of lengths, then the JSON of each kind.
 * @returns undefined: more than `bytesMax`
 */
export function encodeObjects(
  files: Iterable<KeptObject>,
  bytesMax: number,
): Uint8Array | undefined {
  const byKind = Map.groupBy(files, ({ kind }) => kind)
  let total = headBytes
  const lists: Buffer[] = []
  for (const kind of kindNames) {
    const rows = (byKind.get(kind) ?? []).map((one): Row => [one.path, one.blobId, one.object])
    const list = encodeList(rows, bytesMax - total)
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

/**
 * Characters of JSON that are encoded together, since a buffer for each small value would take more
 * memory than the value.
 */
const pieceChars = 65_536

/**
 * Encodes values as a JSON array. The text is made piece by piece, since all of it may exceed V8's
 * longest string.
 * @returns undefined: more than `bytesMax`; an empty buffer for no values
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

/** Decodes the files of one kind. @param bytes result of `encodeObjects` */
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

/** A snapshot that decodes the objects of a kind when they are first asked for. */
export class KeptSnapshot implements ConfigSnapshot {
  readonly revision: string
  /** Encoded objects; undefined once there is an index. */
  #bytes: Uint8Array | undefined
  readonly #lists = new Map<Kind, readonly ConfigEntry[]>()
  #index: ConfigIndex | undefined

  /** @param bytes result of `encodeObjects` */
  constructor(revision: string, bytes: Uint8Array) {
    this.revision = revision
    this.#bytes = bytes
  }

  /** Decodes all objects and returns their index; a tenth of a second for ten thousand objects. */
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

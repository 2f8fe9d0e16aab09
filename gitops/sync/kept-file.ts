// Encodes and decodes `gitops/kept`: the files of the accepted commit as the compiler has read
// them, signed by this node. If anything is wrong with the file, the commit is read from Git.
import { createHash, sign, verify } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import type { SigningKey } from '#bundle/signature/channel.ts'
import { readingOf } from '#compiler/read/read-file.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'
import { decodeObjects, encodeList, encodeObjects } from '#config/kept-objects.ts'
import type { KeptObject } from '#config/kept-objects.ts'
import type { CommitObjects } from '#gitops/git/objects/presence.ts'
import { gitLimits } from '#gitops/limits.ts'
import type { HeadDiagnostic } from '#gitops/status/status.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { kindNames } from '#schemas/kinds.ts'
import type { ReadAt } from './compile-port.ts'

/** Which commit was read, by which program, and which bundle came of it. */
export interface KeptHead {
  /**
   * Identifies the program and its options: others may report other findings for the same files.
   */
  readonly stamp: string
  readonly commit: string
  readonly tree: string
  /** SHA-256 of the bundle in hex. */
  readonly digest: string
  readonly diagnostics: readonly HeadDiagnostic[]
  readonly total: number
}

export interface Kept {
  readonly head: KeptHead
  /** Ids of the blobs, 20 octets each. */
  readonly ids: Uint8Array
  /** The objects, as encoded by `encodeObjects`. */
  readonly objects: Uint8Array
  /** Texts of the files in JSON, in the order of `objects`. */
  readonly texts: Uint8Array
}

/** Text of a file, with its findings if it has any. */
type Text = string | readonly [string, ReadFile['findings'], ReadFile['findingsLeftOut']]

const magic = Buffer.from('gslbd kept 1\n')
const signatureBytes = 64
const bodyAt = magic.length + signatureBytes
const idBytes = 20

/**
 * @param encoded the objects of these files, if `encodeObjects` has encoded them already
 *
 * @returns the file in pieces; undefined: it is too large, or lacks an object
 */
export function encodeKept(
  head: KeptHead,
  read: readonly ReadAt[],
  key: SigningKey,
  encoded?: Uint8Array,
): readonly Uint8Array[] | undefined {
  const { keptBytesMax } = gitLimits
  const chars = read.reduce((sum, { file }) => sum + file.text.length, 0)
  if (chars > keptBytesMax) return undefined
  if (read.some(({ path, file }) => keptObject(path, file) === undefined)) return undefined
  const sorted = kindNames.flatMap((kind) => read.filter(({ file }) => file.kind === kind))
  const ids = blobIds(sorted.map(({ file }) => file.blobId))
  const objects = encoded ?? encodeObjects(keptObjects(sorted), keptBytesMax - chars)
  const texts = encodeList(
    sorted.map(({ file }) => textOf(file)),
    keptBytesMax,
  )
  if (objects === undefined || texts === undefined) return undefined
  const lengths = { ids: ids.length, objects: objects.length }
  const line = Buffer.from(`${JSON.stringify({ ...head, lengths })}\n`)
  const body = [line, ids, objects, texts]
  const bodyBytes = body.reduce((sum, { length }) => sum + length, 0)
  if (bodyAt + bodyBytes > keptBytesMax) return undefined
  return [magic, sign(null, signed(body), key.privateKey), ...body]
}

/** @returns undefined: the file has no object that can be used */
function keptObject(path: string, { blobId, kind, object }: ReadFile): KeptObject | undefined {
  return kind === undefined || object === undefined ? undefined : { path, blobId, kind, object }
}

export function keptObjects(read: readonly ReadAt[]): KeptObject[] {
  return read.flatMap(({ path, file }) => keptObject(path, file) ?? [])
}

function textOf({ text, findings, findingsLeftOut }: ReadFile): Text {
  return findings.length === 0 ? text : [text, findings, findingsLeftOut]
}

function signed(body: readonly Uint8Array[]): Buffer {
  const digest = createHash('sha256')
  for (const piece of body) digest.update(piece)
  return Buffer.from(`gslb/kept/v1\0${digest.digest('hex')}`)
}

/** Reads the file. null: it does not exist. Errors: a clause about the file. */
export function readKept(path: string, key: SigningKey): Result<Kept | null, string> {
  let bytes
  try {
    bytes = readWhole(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? ok(null) : err(`cannot be read: ${message}`)
  }
  return bytes === undefined ? err('is too large') : decodeKept(bytes, key)
}

function readWhole(path: string): Buffer | undefined {
  const fd = openSync(path, 'r')
  try {
    return fstatSync(fd).size > gitLimits.keptBytesMax ? undefined : readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Decodes the file. Errors: a clause about the file. */
export function decodeKept(bytes: Buffer, key: SigningKey): Result<Kept, string> {
  const body = bytes.subarray(bodyAt)
  if (!bytes.subarray(0, magic.length).equals(magic)) return err('is of another form')
  const signature = bytes.subarray(magic.length, bodyAt)
  if (!verify(null, signed([body]), key.publicKey, signature)) {
    return err('does not have the signature of this node: it is damaged, or from elsewhere')
  }
  // The signature is valid, so this node wrote what follows.
  const end = body.indexOf('\n')
  const { lengths, ...head } = JSON.parse(body.toString('utf8', 0, end)) as KeptHead & {
    readonly lengths: { readonly ids: number; readonly objects: number }
  }
  const objectsAt = end + 1 + lengths.ids
  const textsAt = objectsAt + lengths.objects
  const ids = body.subarray(end + 1, objectsAt)
  const objects = body.subarray(objectsAt, textsAt)
  return ok({ head, ids, objects, texts: body.subarray(textsAt) })
}

/** The files as the compiler would read them. */
export function readingsIn({ objects, texts }: Pick<Kept, 'objects' | 'texts'>): ReadFile[] {
  const all = texts.length === 0 ? [] : (JSON.parse(Buffer.from(texts).toString()) as Text[])
  const kept = kindNames.flatMap((kind) => decodeObjects(objects, kind))
  return kept.map((one, index) => {
    const text = all[index]!
    const [own, findings, findingsLeftOut] = typeof text === 'string' ? [text, [], noneLeft] : text
    return readingOf({ ...one, text: own, findings, findingsLeftOut })
  })
}

const noneLeft = Object.freeze({ error: 0, warning: 0, note: 0 })

/** The objects that the commit needs. */
export function objectsOf({
  head: { commit, tree },
  ids,
}: {
  readonly head: Pick<KeptHead, 'commit' | 'tree'>
  readonly ids: Uint8Array
}): CommitObjects {
  const own = Uint8Array.from(ids)
  return { commit, tree, findBlob: (test) => blobsIn(own).find(test) }
}

export function blobIds(blobs: readonly string[]): Uint8Array {
  return Buffer.from(blobs.join(''), 'hex')
}

export function* blobsIn(ids: Uint8Array): Generator<string> {
  const hex = Buffer.from(ids).toString('hex')
  for (let at = 0; at < hex.length; at += 2 * idBytes) yield hex.slice(at, at + 2 * idBytes)
}

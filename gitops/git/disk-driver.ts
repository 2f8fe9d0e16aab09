// Implements the Git port on a bare repository on disk; needs no index, work tree or git program.
import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { writeDurably } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { GitDriver, ObjectError, StagedObject } from '#gitops/git/objects/driver.ts'
import { deflateAhead, isThere, writeLooseObjects } from './objects/loose-objects.ts'
import { gitLimits } from '#gitops/limits.ts'
import { loosePath, ObjectStore } from './objects/object-store.ts'
import { parseTree } from './objects/tree-object.ts'
import { Oversized } from './objects/oversized.ts'
import { Presence } from './objects/presence.ts'
import { listRefs, moveRef, readRef } from './refs.ts'
import { writeChangedTree } from './trees/tree-writer.ts'
import { TreeWalker } from './trees/tree-walker.ts'

export type ObjectType = 'blob' | 'tree' | 'commit'

/** @param incoming folder of objects that a push brings, and that are not in the repository yet */
export function createDiskDriver(gitdir: string, incoming: string | null = null): GitDriver {
  const store = new ObjectStore(gitdir)
  // Objects of the push come first: most questions are about them.
  const stores = [...(incoming === null ? [] : [new ObjectStore(gitdir, incoming)]), store]
  const read = async (
    oid: string,
    type: ObjectType,
    bytesMax: number = gitLimits.objectBytesMax,
  ): Promise<Result<Buffer, ObjectError>> => readObject({ gitdir, stores, oid, type, bytesMax })
  /** Folders of the last two plans: the next plan usually starts from one of them. */
  let planned: [ReadonlyMap<string, Uint8Array>, ReadonlyMap<string, Uint8Array>] = [
    new Map(),
    new Map(),
  ]
  const walker = new TreeWalker((oid) => read(oid, 'tree'))
  const known = (oid: string): Uint8Array | undefined =>
    planned[0].get(oid) ?? planned[1].get(oid) ?? walker.rawOf(oid)
  const presence = new Presence(gitdir, store, known)
  return {
    gitdir,
    readRef: (ref) => readRef(gitdir, ref),
    listRefs: (prefix) => listRefs(gitdir, prefix),
    readCommit: (oid) => read(oid, 'commit'),
    readBlob: (oid, bytesMax) => read(oid, 'blob', bytesMax),
    readTree: (oid) => walker.walk(oid),
    readFolder: async (oid) => {
      const raw = await read(oid, 'tree')
      if (!raw.ok) return raw
      const entries = parseTree(raw.value)
      if (entries.ok) return entries
      return err({ kind: 'damaged', reason: `The folder ${oid} ${entries.error}.` })
    },
    stillHas: (objects) => {
      try {
        const gone = presence.firstMissing(objects)
        return gone === undefined ? ok(undefined) : err(missing(gitdir, gone))
      } catch (error) {
        const { message } = error as Error
        return err({ kind: 'damaged', reason: `${gitdir} cannot be read: ${message}.` })
      }
    },
    writeObject: (type, content) => writeObject(gitdir, type, content),
    writeObjects: (objects) => writeLooseObjects(gitdir, objects),
    planFiles: async (base, changes) => {
      const objects = new Map<string, StagedObject>()
      const folders = new Map<string, Uint8Array>()
      const tree = await writeChangedTree(base, changes, {
        readTree: async (oid) => {
          const raw = known(oid)
          return raw === undefined ? read(oid, 'tree') : ok(raw)
        },
        write: (type, content) => {
          const oid = objectIdOf(type, content)
          objects.set(oid, { type, content, deflated: deflateAhead(type, content) })
          if (type === 'tree') folders.set(oid, content)
          return oid
        },
      })
      planned = [folders, planned[0]]
      return tree.ok ? ok({ tree: tree.value, objects }) : tree
    },
    writeFiles: (base, changes) =>
      writeChangedTree(base, changes, {
        readTree: (oid) => read(oid, 'tree'),
        write: (type, content) => writeObject(gitdir, type, content),
      }),
    moveRef: (ref, expected, next) => moveRef(gitdir, ref, expected, next),
  }
}

function missing(gitdir: string, oid: string): ObjectError {
  return { kind: 'missing', reason: `Object ${oid} is missing in ${gitdir}.` }
}

interface Wanted {
  readonly gitdir: string
  readonly stores: readonly ObjectStore[]
  readonly oid: string
  readonly type: ObjectType
  readonly bytesMax: number
}

function readObject({ gitdir, stores, oid, type, bytesMax }: Wanted): Result<Buffer, ObjectError> {
  let found
  try {
    for (const store of stores) found ??= store.read(oid, bytesMax)
  } catch (error) {
    if (error instanceof Oversized) {
      const { sizeBytes } = error
      const reason = `Object ${oid} has ${sizeBytes} octets; at most ${bytesMax} are read.`
      return err({ kind: 'oversized', sizeBytes, reason })
    }
    const { message } = error as Error
    return err({ kind: 'damaged', reason: `Object ${oid} in ${gitdir} cannot be read: ${message}` })
  }
  if (found === undefined) return err(missing(gitdir, oid))
  if (found.type !== type || objectIdOf(type, found.content) !== oid) {
    return err({
      kind: 'damaged',
      reason: `Object ${oid} in ${gitdir} is not the ${type} it should be.`,
    })
  }
  return ok(found.content)
}

export function objectIdOf(type: ObjectType, content: Uint8Array): string {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')
}

/** Writes the object whole or not at all: a crash must not leave half of it. */
function writeObject(gitdir: string, type: ObjectType, content: Uint8Array): string {
  const oid = objectIdOf(type, content)
  const path = loosePath(gitdir, oid)
  if (!isThere(path)) {
    const wrapped = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
    try {
      writeDurably(path, deflateSync(wrapped), 0o444)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      // A git that packs has removed the empty folder meanwhile: the second try makes it again.
      writeDurably(path, deflateSync(wrapped), 0o444)
    }
  }
  return oid
}

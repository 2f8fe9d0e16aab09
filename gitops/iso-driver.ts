// The Git port over isomorphic-git and a bare repository on disk; no index, no work tree, no git
// program.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import git from 'isomorphic-git'
import { writeDurably } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { GitDriver, ObjectError, StagedObject, TreeFile } from './driver.ts'
import { deflateAhead, writeLooseObjects } from './loose-objects.ts'
import { listRefs, moveRef, readRef } from './refs.ts'
import { writeChangedTree } from './tree-writer.ts'
import { TreeWalker } from './tree-walker.ts'

export type ObjectType = 'blob' | 'tree' | 'commit'

export interface IsoDriver extends GitDriver {
  /** isomorphic-git's cache of pack files; pass it to every call on the same repository. */
  readonly cache: object
}

export function createIsoDriver(gitdir: string): IsoDriver {
  let cache = {}
  let packs = packNames(gitdir)
  const read = (oid: string, type: ObjectType): Promise<Result<Buffer, ObjectError>> =>
    readObject(gitdir, cache, oid, type)
  /** Folders of the last two plans: what was planned is usually what the next plan starts from. */
  let planned: [ReadonlyMap<string, Uint8Array>, ReadonlyMap<string, Uint8Array>] = [
    new Map(),
    new Map(),
  ]
  const walker = new TreeWalker((oid) => read(oid, 'tree'))
  return {
    gitdir,
    get cache() {
      return cache
    },
    readRef: (ref) => readRef(gitdir, ref),
    listRefs: (prefix) => listRefs(gitdir, prefix),
    readCommit: (oid) => read(oid, 'commit'),
    readBlob: (oid) => read(oid, 'blob'),
    readTree: (oid): Promise<Result<readonly TreeFile[], ObjectError>> => {
      const now = packNames(gitdir)
      // `git gc` replaced packs: isomorphic-git would keep the old ones in memory for ever.
      if (packs.some((name) => !now.includes(name))) cache = {}
      packs = now
      return walker.walk(oid)
    },
    writeObject: (type, content) => writeObject(gitdir, type, content),
    writeObjects: (objects) => writeLooseObjects(gitdir, objects),
    planFiles: async (base, changes) => {
      const objects = new Map<string, StagedObject>()
      const folders = new Map<string, Uint8Array>()
      const tree = await writeChangedTree(base, changes, {
        readTree: async (oid) => {
          const known = planned[0].get(oid) ?? planned[1].get(oid) ?? walker.rawOf(oid)
          return known === undefined ? read(oid, 'tree') : ok(known)
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

async function readObject(
  gitdir: string,
  cache: object,
  oid: string,
  type: ObjectType,
): Promise<Result<Buffer, ObjectError>> {
  let found
  try {
    found = await git.readObject({ fs, gitdir, cache, oid, format: 'content' })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === 'NotFoundError') {
      return err({ kind: 'missing', reason: `Object ${oid} is missing in ${gitdir}.` })
    }
    return err({ kind: 'damaged', reason: `Object ${oid} in ${gitdir} cannot be read: ${message}` })
  }
  const content = found.object as Uint8Array
  // isomorphic-git checks the id of loose objects only; objects in packs are believed.
  if (found.type !== type || objectIdOf(type, content) !== oid) {
    return err({
      kind: 'damaged',
      reason: `Object ${oid} in ${gitdir} is not the ${type} it should be.`,
    })
  }
  return ok(Buffer.from(content.buffer, content.byteOffset, content.byteLength))
}

export function objectIdOf(type: ObjectType, content: Uint8Array): string {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')
}

/**
 * Whole or not at all: isomorphic-git would write in place, and a crash would leave half an
 * object.
 */
function writeObject(gitdir: string, type: ObjectType, content: Uint8Array): string {
  const oid = objectIdOf(type, content)
  const path = join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2))
  if (!fs.existsSync(path)) {
    const wrapped = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
    writeDurably(path, deflateSync(wrapped), 0o444)
  }
  return oid
}

/** Packs in the repository; isomorphic-git holds each one that it read in memory. */
export const packCount = (gitdir: string): number => packNames(gitdir).length

function packNames(gitdir: string): string[] {
  try {
    return fs.readdirSync(join(gitdir, 'objects', 'pack')).filter((name) => name.endsWith('.pack'))
  } catch {
    return []
  }
}

// Objects of a commit that are looked for before each write: cheap, and no loss is overlooked.
import { readdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { loosePath, ObjectStore } from '#gitops/git/objects/object-store.ts'
import { Presence } from '#gitops/git/objects/presence.ts'
import { ensureOrigin } from '#gitops/source/origin.ts'
import { assert } from '#lib/assert.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'

class CountingStore extends ObjectStore {
  asked = 0

  override has(oid: string): boolean {
    this.asked++
    return super.has(oid)
  }
}

/** A commit of 600 files, all loose; its folders have not changed for a day. */
async function repository() {
  const gitdir = gitSandbox().at('repo.git')
  assert(ensureOrigin(gitdir, 'main').ok, 'there is a repository')
  const driver = createDiskDriver(gitdir)
  const files = Array.from({ length: 600 }, (_, i) => [`d/f${i}`, Buffer.from(`${i}`)] as const)
  const planned = await driver.planFiles(null, new Map(files))
  assert(planned.ok, 'its files are planned')
  const { tree, objects } = planned.value
  await driver.writeObjects(objects)
  const blobs = [...objects].filter(([, { type }]) => type === 'blob').map(([oid]) => oid)
  const commit = driver.writeObject('commit', Buffer.from(`tree ${tree}\n\nx\n`))
  for (const folder of readdirSync(join(gitdir, 'objects'))) {
    utimesSync(join(gitdir, 'objects', folder), 1_700_000_000, 1_700_000_000)
  }
  const store = new CountingStore(gitdir)
  const presence = new Presence(gitdir, store, () => undefined)
  const missing = () =>
    presence.firstMissing({ commit, tree, findBlob: (test) => blobs.find(test) })
  return { gitdir, driver, store, missing, blobs, tree }
}

test('after a write no object is asked for one by one', async () => {
  const { driver, store, missing, blobs } = await repository()
  expect(missing()).toBeUndefined()
  expect(store.asked).toBeGreaterThan(blobs.length)
  store.asked = 0
  for (let i = 0; i < 40; i++) driver.writeObject('blob', Buffer.from(`other ${i}`))
  expect(missing()).toBeUndefined()
  expect(store.asked).toBe(0)
})

test.each(['blob', 'tree'])('a %s that goes later is missed', async (kind) => {
  const { gitdir, missing, blobs, tree } = await repository()
  expect(missing()).toBeUndefined()
  const lost = kind === 'blob' ? blobs[300]! : tree
  rmSync(loosePath(gitdir, lost))
  expect(missing()).toBe(lost)
  // All is looked for until all is there.
  expect(missing()).toBe(lost)
})

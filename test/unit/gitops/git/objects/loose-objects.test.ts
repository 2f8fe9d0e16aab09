// Objects on the disk as git reads them, small ones and those that are packed ahead.
import { expect, test } from 'vitest'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { gitSandbox } from '../../../../support/git-sandbox.ts'
import { laneCount } from '../../../../support/lane.ts'

// More than are written one by one.
test.each([3, laneCount(3_000, 300)])('a folder of %i files is what git finds', async (count) => {
  const box = gitSandbox()
  const gitdir = box.at('repository.git')
  box.git(box.at('.'), 'init', '--quiet', '--bare', gitdir)
  const driver = createDiskDriver(gitdir)
  const names = Array.from({ length: count }, (_, i) => `file-${i}`)
  const planned = await driver.planFiles(
    null,
    new Map(names.map((name) => [`folder/${name}`, Buffer.from(name)])),
  )
  if (!planned.ok) throw new Error(planned.error.reason)
  const { tree, objects } = planned.value
  await driver.writeObjects(objects)
  const listed = box.git(gitdir, 'ls-tree', '-r', '--name-only', tree)
  expect(listed.trim().split('\n').sort()).toEqual(names.map((name) => `folder/${name}`).sort())
  box.git(gitdir, 'fsck', '--strict')
})

// What root would write into the data directory of a node that is another user's.
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkOwner } from '#cli/files/data-dir.ts'
import { Exit } from '#system/process/command.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const nobody = 65_534
const isRoot = process.getuid?.() === 0
/** Whose the files of this test are: root gives them away, and others have their own. */
const owner = isRoot ? nobody : process.getuid!()

function dataDir(): string {
  const path = tempDir('owner')
  mkdirSync(join(path, 'keys'))
  const key = join(path, 'keys', 'node.pem')
  writeFileSync(key, '')
  if (isRoot) chownSync(key, nobody, nobody)
  return path
}

test('root is told to be the user of the node, since the node could not read its files', () => {
  const words = `sudo -u '#${owner}' gslbd`
  expect(() => checkOwner(dataDir(), Exit.Trust, 0)).toThrow(words)
})

test.each<readonly [string, () => string, number]>([
  ['the user of the node', dataDir, owner],
  ['root, where no node has run', () => tempDir('owner'), 0],
])('%s may write', (_, make, id) => {
  const path = make()
  expect(() => checkOwner(path, Exit.Trust, id)).not.toThrow()
})

// A write that the disk refuses: what is said of it, and until when.
import assert from 'node:assert/strict'
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { onTestFinished, test } from 'vitest'
import type { Operation } from '#config/operation.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { newPem, seedOrigin, settingsYaml, startWriteScene } from '#test/support/write-scene.ts'

const createPool = (name: string): Operation => ({
  verb: 'create',
  kind: 'Pool',
  tenant: 'default',
  name,
  spec: { members: [{ ipAddress: '192.0.2.99', port: 80 }] },
})

async function scene() {
  const box = gitSandbox()
  const options = { dataDir: box.at('data'), pem: newPem() }
  await seedOrigin(options, { 'gslb.yaml': settingsYaml })
  const at = await startWriteScene(options)
  onTestFinished(() => at.stop())
  const refHead = box.at('data/config.git/refs/heads/main')
  return { ...at, box, head: () => readFileSync(refHead, 'utf8') }
}

const refusals = [
  {
    what: 'objects',
    break: (gitdir: string) => {
      renameSync(`${gitdir}/objects`, `${gitdir}/aside`)
      // Not a folder: refused to everybody, as a full disk is.
      symlinkSync('/dev/full', `${gitdir}/objects`)
    },
    mend: (gitdir: string) => {
      rmSync(`${gitdir}/objects`)
      renameSync(`${gitdir}/aside`, `${gitdir}/objects`)
    },
  },
  {
    what: 'the ref',
    break: (gitdir: string) => {
      // A link to itself, in the place of the folder in which the lock is made.
      renameSync(`${gitdir}/refs/heads`, `${gitdir}/refs/aside`)
      symlinkSync('heads', `${gitdir}/refs/heads`)
    },
    mend: (gitdir: string) => {
      rmSync(`${gitdir}/refs/heads`)
      renameSync(`${gitdir}/refs/aside`, `${gitdir}/refs/heads`)
    },
  },
]

test.each(refusals)('a disk that refuses $what is in the status until it does not', async (row) => {
  const { box, head, write, status, poke, changes } = await scene()
  const before = head()
  const gitdir = box.at('data/config.git')
  row.break(gitdir)
  const refused = await write(createPool('a'))
  assert(!refused.ok)
  assert.equal(refused.error.code, 'unreachable')
  assert.match(
    refused.error.message,
    /(?:data directory|cannot be read:) .*The change is not in Git\.$/,
  )
  assert.deepEqual([status().sync, status().code], ['unreachable', 'Unreadable'])
  // A look at a branch that has not moved does not make it better.
  const { checkedAtMs } = status()
  poke()
  await waitUntil('another look', () => status().checkedAtMs > checkedAtMs)
  assert.equal(status().sync, 'unreachable')
  assert.equal(changes.filter((line) => line.startsWith('unreachable')).length, 1)
  row.mend(gitdir)
  // By itself: nobody writes, and nobody pokes.
  await waitUntil('the node to notice', () => status().sync === 'synced')
  assert.match(changes.at(-1) ?? '', /^the repository can be used again; commit [0-9a-f]+ is/)
  assert.equal(head(), before)
  assert.equal((await write(createPool('a'))).ok, true)
})

test('a commit that is in Git when the disk refuses the rest is said to be there', async () => {
  const { box, head, write, status } = await scene()
  const before = head()
  const state = box.at('data/gitops/state.json')
  renameSync(box.at('data/gitops'), box.at('data/aside'))
  writeFileSync(box.at('data/gitops'), '')
  const refused = await write(createPool('a'))
  assert(!refused.ok)
  assert.equal(refused.error.code, 'uncertain')
  assert.match(refused.error.message, /The change is in Git; it goes live as soon as/)
  assert.notEqual(head(), before)
  assert.equal(status().sync, 'unreachable')
  rmSync(box.at('data/gitops'))
  renameSync(box.at('data/aside'), box.at('data/gitops'))
  await waitUntil('the commit to go live', () => status().sync === 'synced')
  assert.match(readFileSync(state, 'utf8'), new RegExp(head().trim()))
})

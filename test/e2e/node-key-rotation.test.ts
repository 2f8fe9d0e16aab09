// The key of a node is rotated as docs/operations/trust.md says, and nothing is lost by it.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { runCli } from '#test/support/run-cli.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()

async function createPool({ apiPort }: DaemonProcess, name: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${apiPort}/api/v1/pools`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  })
  return answer.status
}

const fingerprints = async (dataDir: string): Promise<string[]> => {
  const { out } = await runCli('trust', 'list', '--data-dir', dataDir)
  return out.match(/SHA256:\S+/g) ?? []
}

test('a node with a new key answers and takes writes; the old key is not believed', async () => {
  const site = await Site.make('rotation')
  onTestFinished(() => site.remove())
  site.trustNode()
  await site.push()
  const { dataDir } = site
  const args = ['serve', '--settings', site.settingsFile]
  let daemon = await start(...args)
  await waitUntil('a write', async () => (await createPool(daemon, 'before')) === 201)
  const refused = await runCli('trust', 'rotate', '--data-dir', dataDir)
  expect([refused.exit, refused.err]).toEqual([4, expect.stringContaining(dataDir)])
  await daemon.stop()

  const pem = join(dataDir, 'keys/node.pem')
  const [oldPem, [operator = '', oldKey = '']] = [
    readFileSync(pem, 'utf8'),
    await fingerprints(dataDir),
  ]
  const rotated = await runCli('trust', 'rotate', '--data-dir', dataDir)
  expect([rotated.exit, rotated.err]).toEqual([0, ''])
  expect(readFileSync(pem, 'utf8')).not.toBe(oldPem)
  expect(statSync(pem).mode & 0o777).toBe(0o600)
  const [line = ''] = rotated.out.match(/^ {2}ssh-ed25519 .*$/m) ?? []
  const told = rotated.out.slice(0, rotated.out.indexOf(line))
  expect(told, 'nodes that pull need the key, too').toMatch(/bundle\.keys have this line/)
  const [kept, newKey, ...more] = await fingerprints(dataDir)
  expect([kept, more]).toEqual([operator, []])
  expect([oldKey, operator]).not.toContain(newKey)

  daemon = await start(...args)
  await waitUntil('an answer', async () => (await daemon.answers('www.example.com. A')).length > 0)
  await waitUntil('a write', async () => (await createPool(daemon, 'after')) === 201)
  expect(await createPool(daemon, 'before')).toBe(409)
  expect(await daemon.health()).toBe('ok')
  await daemon.stop()

  // With the old key in its place nothing that it signs is believed.
  writeFileSync(pem, oldPem)
  daemon = await start(...args)
  await waitUntil('a refused write', async () => (await createPool(daemon, 'old')) === 409)
  await daemon.stop()
})

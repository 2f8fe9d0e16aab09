// The serial of SOA records, as secondaries and people see it: of the commit, on whatever node.
import { rmSync } from 'node:fs'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { contestedNode } from '#test/support/contested-node.ts'
import { contestedRemote } from '#test/support/contested-remote.ts'
import type { ContestedRemote } from '#test/support/contested-remote.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { ask } from '#test/support/dns/client.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start, killAll } = useDaemons()
afterEach(killAll)

async function startNode(remote: ContestedRemote, name: 'one' | 'two'): Promise<DaemonProcess> {
  return start('serve', '--settings', contestedNode(remote, name))
}

async function serialAt(daemon: DaemonProcess, commit: string): Promise<number> {
  const isActive = async (): Promise<boolean> => (await daemon.gitops()).active === commit
  await waitUntil(`${commit} to be active`, isActive, { timeoutMs: 60_000 })
  const asked = await ask({ host: '127.0.0.1', port: daemon.dnsPort }, 'example.com. SOA')
  const serial = Number(asked.answer[0]?.rdataText.split(' ')[2])
  expect((await daemon.gitops()).node.serial).toBe(serial)
  return serial
}

test('a node that joins late, or lost its data, has the serial of the others', async () => {
  const remote = await contestedRemote()
  const { box, gitdir } = remote
  const head = (): string => box.git(gitdir, 'rev-parse', 'main')
  onTestFinished(() => remote.server.close())
  const one = await startNode(remote, 'one')
  expect(await serialAt(one, head())).toBe(1)
  // The API can write a moment later than the node answers.
  await waitUntil('the view', async () => (await callApi(one, 'GET', '/pools')).status === 200)
  for (const name of ['a', 'b', 'c']) {
    const made = await callApi(one, 'POST', '/pools', { body: { name } })
    expect(made.status).toBe(201)
  }
  expect(await serialAt(one, head())).toBe(4)
  const two = await startNode(remote, 'two')
  expect(await serialAt(two, head())).toBe(4)
  // A person takes everything back: the files are those of the first commit.
  box.git(box.path, 'clone', '-q', gitdir, 'checkout')
  const person = box.at('checkout')
  box.git(person, 'checkout', '-q', 'HEAD~3', '--', '.')
  box.git(person, 'rm', '-q', '-r', 'tenants')
  box.git(person, ...box.signWith(remote.bob), 'commit', '-q', '-S', '-m', 'back')
  box.git(person, 'push', '-q', 'origin', 'HEAD:main')
  expect([await serialAt(one, head()), await serialAt(two, head())]).toEqual([5, 5])
  await two.stop()
  for (const folder of ['node', 'gitops']) rmSync(box.at('two', folder), { recursive: true })
  expect(await serialAt(await startNode(remote, 'two'), head())).toBe(5)
})

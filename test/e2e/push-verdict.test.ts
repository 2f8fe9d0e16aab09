// A push to the node's own repository that the node would hold is refused, with the reason on the
// terminal of who pushes; real git pushes.
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { runCli } from '#test/support/run-cli.ts'
import { poolPath, poolYaml, servicePath, serviceYaml, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
let site: Site
let daemon: DaemonProcess
/** What the branch of the node is at. */
let good = ''

const settings = (checkPushes: boolean) => ({ gitops: { checkPushes } })

beforeAll(async () => {
  site = await Site.make('push-verdict', settings(true))
  site.write('tenants/default/services/shop.yaml', serviceYaml('shop.example.com.', 'shop'))
  site.write('tests/www.yaml', policyTest)
  await site.commit('a second name, and a test')
  // A key of somebody who may commit, and may not override.
  await site.run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'bob', '-f', bob())
  const line = await site.run('cat', `${bob()}.pub`)
  appendFileSync(
    join(site.dataDir, 'allowed_signers'),
    `bob@example.com namespaces="git" ${line}\n`,
  )
  daemon = await start('serve', '--settings', site.settingsFile)
})
afterAll(() => site.remove())
beforeEach(async () => {
  if (good === '') return
  await site.git('reset', '-q', '--hard', good)
  await site.git('clean', '-q', '-ffdx')
})

const bob = (): string => join(site.path, 'bob')
const policyTest = `apiVersion: gslb/v1
kind: Test
metadata: { name: www }
spec:
  cases:
    - { name: www is there, given: { name: www.example.com }, expect: { members: [192.0.2.1] } }
`

/** @returns '' and what git printed when it is taken, else the exit code */
async function push(...refs: string[]): Promise<readonly [refused: boolean, said: string]> {
  const words = refs.length === 0 ? ['main'] : refs
  try {
    const script = `git -C '${site.checkout}' push origin ${words.join(' ')} 2>&1`
    return [false, await site.run('sh', '-c', script)]
  } catch (error) {
    return [true, (error as { stdout: string }).stdout]
  }
}

const headOf = (branch = 'main'): Promise<string> =>
  site.run('git', '-C', join(site.dataDir, 'config.git'), 'rev-parse', branch)

/** The push is taken, and the node takes the commit. */
async function taken(...refs: string[]): Promise<string> {
  const [refused, said] = await push(...refs)
  expect([refused, said]).toEqual([false, expect.stringContaining('will be accepted')])
  good = await site.git('rev-parse', 'HEAD')
  await waitUntil('the commit', async () => (await daemon.gitops()).active === good)
  return said
}

async function refused(...parts: readonly string[]): Promise<void> {
  const [isRefused, said] = await push()
  expect(isRefused).toBe(true)
  for (const part of parts) expect(said).toContain(part)
  expect(await headOf()).toBe(good)
}

test('a good first commit is taken, and the push says so', async () => {
  const said = await taken()
  expect(said).toContain(`remote: gslbd: commit ${good.slice(0, 10)} will be accepted`)
})

test('a commit without a signature is refused, and one of a key that is not listed', async () => {
  site.write(poolPath, poolYaml('192.0.2.1', '', 'web').replace('port: 80', 'port: 81'))
  await site.commit('unsigned', 'unsigned')
  await refused('remote: gslbd: refused, Unsigned: Commit', 'gslbd attest', 'Nothing was pushed')
})

test('errors are shown with their places, and a policy test that fails', async () => {
  site.write(servicePath, serviceYaml('www.example.com.', 'www', 'wbe'))
  await site.commit('a mistake')
  await refused(`remote: ${servicePath}:4:49: error`, 'wbe', 'refused, CompileFailed')

  await site.git('reset', '-q', '--hard', good)
  site.write(poolPath, poolYaml('192.0.2.9'))
  await site.commit('another address')
  await refused('tests/www.yaml', '192.0.2.9', 'refused, CompileFailed')
})

test('a push beyond a guardrail is refused, until a signed commit intends it', async () => {
  await site.git('rm', '-q', '-r', 'tenants', 'tests')
  const removal = await site.commit('remove all')
  await refused('refused, NamesRemoved', 'removes 2 of 2 names', 'Gslb-Override')

  const override = ['commit', '--allow-empty', '-q', '-m', 'Meant as it is', '--trailer']
  const asBob = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${bob()}`]
  await site.git(...asBob, ...override, 'Gslb-Override: closing', '-S')
  await refused('refused, NamesRemoved', 'its signer may not')

  await site.git('reset', '-q', '--hard', removal)
  await site.git(...override, 'Gslb-Override: closing')
  await refused('refused, Unsigned')

  await site.git('reset', '-q', '--hard', removal)
  const asAlice = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${site.keyPath}`]
  await site.git(...asAlice, ...override, 'Gslb-Override: closing', '-S')
  await taken()

  // The way back is open, by a push that git sends as a pack.
  const repository = join(site.dataDir, 'config.git')
  await site.run('git', '-C', repository, 'config', 'receive.unpackLimit', '1')
  await site.git('checkout', '-q', `${removal}~1`, '--', '.')
  await site.commit('back again')
  await taken()
})

test('an attestation in the same push vouches for an unsigned commit', async () => {
  site.write('tenants/default/services/c.yaml', serviceYaml('c.example.com.', 'c'))
  const commit = await site.commit('merged by a button', 'unsigned')
  const made = await runCli('attest', commit, '--repo', site.checkout, '--key', site.keyPath)
  expect(made.exit).toBe(0)
  await refused('refused, Unsigned')
  await taken('main', `refs/gslb/attest/${commit}`)
})

test('a branch that does not answer is not judged; the one that does is not deleted', async () => {
  site.write('README.md', 'unsigned\n')
  const commit = await site.commit('unsigned', 'unsigned')
  expect(await push('HEAD:refs/heads/feature')).toEqual([false, expect.any(String)])
  expect(await headOf('feature')).toBe(commit)
  const [isRefused, said] = await push('--delete main')
  expect([isRefused, said]).toEqual([true, expect.stringContaining('answers from the branch')])
})

test('a history that was rewritten is refused', async () => {
  const repository = join(site.dataDir, 'config.git')
  await site.run('git', '-C', repository, 'config', 'receive.denyNonFastForwards', 'false')
  await site.git('reset', '-q', '--hard', 'HEAD~1')
  site.write('README.md', 'another way\n')
  await site.commit('another way')
  const [isRefused, said] = await push('--force main')
  expect([isRefused, said]).toEqual([true, expect.stringContaining('HistoryRewritten')])
})

test('a node that does not answer is not waited for: the hook judges by itself', async () => {
  rmSync(join(site.dataDir, 'push.sock'))
  site.write('README.md', 'unsigned\n')
  await site.commit('unsigned', 'unsigned')
  await refused('refused, Unsigned')
})

// The node that runs would know what its damaged file says: its socket is gone.
test('a push that cannot be judged passes, and the node judges it', async () => {
  const statePath = join(site.dataDir, 'gitops', 'state.json')
  const state = await site.run('cat', statePath)
  writeFileSync(statePath, 'damaged')
  site.write('README.md', 'signed\n')
  const commit = await site.commit('signed')
  const [isRefused, said] = await push()
  writeFileSync(statePath, state)
  expect([isRefused, said]).toEqual([false, expect.stringContaining('is not judged before')])
  await waitUntil('the commit', async () => (await daemon.gitops()).active === commit)
  good = commit
})

test('with checkPushes: false the hook goes, and the node holds what is pushed', async () => {
  site.writeSettings(settings(false))
  daemon.signal('SIGHUP')
  const hook = join(site.dataDir, 'config.git', 'hooks', 'pre-receive')
  await waitUntil('the hook to go', () => !existsSync(hook))
  await waitUntil('the reload', () => daemon.logged('settings reloaded'))
  site.write('README.md', 'unsigned\n')
  await site.commit('unsigned', 'unsigned')
  expect((await push())[0]).toBe(false)
  await waitUntil('the verdict', async () => (await daemon.gitops()).reason?.code === 'Unsigned')
})

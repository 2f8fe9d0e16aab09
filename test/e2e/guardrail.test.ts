// A push that removes everything: the node holds it, says what to do, and that is what releases it.
import { expect, test, onTestFinished } from 'vitest'
import type { GitopsStatus } from '#api/ports/operator-view.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start, spawn } = useDaemons()
const www = 'www.example.com. A'
const oldAnswer = ['www.example.com. 5 IN A 192.0.2.1']

test('a push that removes all names is held, until a signed commit after it says why', async () => {
  const site = await Site.make('guardrail')
  onTestFinished(() => site.remove())
  site.trustNode()
  await site.push()
  const good = await site.git('rev-parse', 'HEAD')
  const daemon = await start('serve', '--settings', site.settingsFile)
  const statusWhere = (is: (status: GitopsStatus) => boolean): Promise<GitopsStatus> =>
    waitUntil('the status', async () => {
      const status = await daemon.gitops()
      return is(status) && status
    })
  await statusWhere(({ active }) => active === good)
  const check = async (): Promise<[number | null, string]> => {
    const checked = spawn('check', site.checkout, '--base', 'origin/main')
    const { code } = await checked.ended
    return [code, checked.output]
  }
  expect(await check()).toEqual([0, expect.stringContaining('ok: 1 service')])

  await site.git('rm', '-q', '-r', 'tenants')
  const whatGoes = 'removes 1 of 1 name (www.example.com.)'
  expect(await check()).toEqual([3, expect.stringContaining(whatGoes)])
  const removal = await site.commit('remove all')
  await site.push()
  const held = await statusWhere(({ head, sync }) => head === removal && sync === 'held')
  expect(held).toMatchObject({ accepted: good, active: good, reason: { code: 'NamesRemoved' } })
  expect(held.reason?.message).toContain(whatGoes)
  await waitUntil('health', async () => (await daemon.health()) === 'degraded')
  await waitUntil('the log', () => daemon.logged(whatGoes))
  expect(await daemon.answers(www)).toEqual(oldAnswer)
  const write = await callApi(daemon, 'POST', '/pools', { body: { name: 'one' } })
  expect(write.status).toBe(409)

  const command = /git commit .* --trailer "[^"]*"/.exec(held.reason?.message ?? '')?.[0] ?? ''
  // Anybody can write the words: without a signature they are none.
  await site.run('sh', '-ec', `cd '${site.checkout}' && ${command.replace(' -S ', ' ')}`)
  await site.push()
  const unsigned = await site.git('rev-parse', 'HEAD')
  const refused = await statusWhere(({ head, sync }) => head === unsigned && sync === 'held')
  expect(refused).toMatchObject({ active: good, reason: { code: 'Unsigned' } })
  expect(await daemon.answers(www)).toEqual(oldAnswer)

  await site.backTo(removal)
  await site.git('config', 'gpg.format', 'ssh')
  await site.git('config', 'user.signingkey', site.keyPath)
  await site.run('sh', '-ec', `cd '${site.checkout}' && ${command}`)
  await site.push()
  const released = await site.git('rev-parse', 'HEAD')
  await statusWhere(({ active, sync }) => active === released && sync === 'synced')
  await waitUntil('the names to go', async () => (await daemon.answers(www))[0] === 'NXDOMAIN')
  await waitUntil('health', async () => (await daemon.health()) === 'ok')
})

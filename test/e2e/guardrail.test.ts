// A push, or a row of requests, that removes too much: the node refuses it, says what to do, and
// that is what releases it.
import { expect, test, onTestFinished } from 'vitest'
import type { GitopsStatus } from '#ports/operator-view.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { Site, poolPath, poolYaml, serviceYaml } from '#test/support/site.ts'
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

/** Answers come from the bundle; the API has the objects a moment later. */
const isRead = (daemon: DaemonProcess): Promise<unknown> =>
  waitUntil('the objects', async () => (await callApi(daemon, 'GET', '/pools')).status === 200)

test('requests may not remove together what one push may not, until one says why', async () => {
  const site = await Site.make('guardrail-api')
  onTestFinished(() => site.remove())
  site.trustNode()
  const names = ['www', 'a', 'b', 'c', 'd']
  for (const name of names.slice(1)) {
    const pool = name === 'a' || name === 'b' ? 'shop' : 'web'
    const path = `tenants/default/services/${name}.yaml`
    site.write(path, serviceYaml(`${name}.example.com.`, name, pool))
  }
  site.write(poolPath.replace('web', 'shop'), poolYaml('192.0.2.1', '', 'shop'))
  await site.commit('five names')
  await site.push()
  const daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first bundle', async () => (await daemon.answers(www))[0] === oldAnswer[0])
  await isRead(daemon)
  type Listed = readonly { readonly id: string; readonly name: string }[]
  const idOf = async (kind: string, name: string): Promise<string> => {
    const { body } = await callApi<Listed>(daemon, 'GET', `/${kind}`)
    return `/${kind}/${body.find((one) => one.name === name)?.id}`
  }
  const all = await Promise.all(names.map((name) => idOf('services', name)))
  const shop = await idOf('pools', 'shop')

  // Two of five at once, by way of their pool.
  const byPool = await callApi(daemon, 'DELETE', shop)
  expect([byPool.status, byPool.body.error]).toEqual([
    409,
    'This would remove 2 of 5 names (a.example.com. left without a pool, b.example.com. left ' +
      'without a pool), more than guardrails.removedNames permits. If that is meant, send it ' +
      'again with the header X-Gslb-Override: REASON; the reason is kept in the commit. What ' +
      'it would take with it: service "a" is left without a pool, service "b" is left without ' +
      'a pool, 1 member goes.',
  ])
  // All at once, each by itself: they may share a commit.
  const done = await Promise.all(all.map((path) => callApi(daemon, 'DELETE', path)))
  expect(done.map(({ status }) => status).toSorted()).toEqual([204, 409, 409, 409, 409])
  const left = done.findIndex(({ status }) => status === 409)
  const asked = `${names[left]}.example.com. A`
  const refusals = [
    await callApi(daemon, 'DELETE', all[left]!),
    await callApi(daemon, 'DELETE', `${all[left]}?dryRun=true`),
    await callApi(daemon, 'PATCH', all[left]!, { body: { poolId: null } }),
  ]
  for (const { status, body } of refusals) {
    expect([status, body.error]).toEqual([
      409,
      expect.stringMatching(
        /would remove 2 of 5 names .* within 10 minutes, together with earlier/,
      ),
    ])
  }
  expect((await daemon.answers(asked))[0]).toContain('192.0.2.1')

  const headers = { 'x-gslb-override': 'the shop closes' }
  expect((await callApi(daemon, 'DELETE', all[left]!, { headers })).status).toBe(204)
  expect(await daemon.answers(asked)).toEqual(['NXDOMAIN'])
  const trailer = '--format=%(trailers:key=Gslb-Override,valueonly)'
  await site.git('fetch', '-q')
  expect(await site.git('log', '-1', trailer, 'origin/main')).toBe('the shop closes')
})

test('a request that moves too many clients is refused, until one says why', async () => {
  const site = await Site.make('guardrail-moved')
  onTestFinished(() => site.remove())
  site.trustNode()
  await site.push()
  const daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first bundle', async () => (await daemon.answers(www))[0] === oldAnswer[0])
  await isRead(daemon)
  const limit = { guardrails: { movedClients: 50 } }
  expect((await callApi(daemon, 'PUT', '/settings', { body: limit })).status).toBe(200)
  type Members = readonly { readonly id: string }[]
  const pools = await callApi<Members>(daemon, 'GET', '/pools')
  const members = await callApi<Members>(daemon, 'GET', `/pools/${pools.body[0]?.id}/members`)
  const member = `/members/${members.body[0]?.id}`
  const body = { ipAddress: '192.0.2.7', port: 80 }
  for (const path of [member, `${member}?dryRun=true`]) {
    const refused = await callApi(daemon, 'PATCH', path, { body })
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringContaining(
        'send 100 % of the clients of www.example.com. elsewhere, more than 50 %',
      ),
    ])
  }
  expect(await daemon.answers(www)).toEqual(oldAnswer)
  // The change passes with an override. Taking it back needs none; making it again does.
  const meant = { 'x-gslb-override': 'a new site' }
  const plan = { requests: [{ method: 'PATCH', path: `/api/v1${member}`, body }] }
  const planned = () =>
    callApi<{ guardrail: string | null }>(daemon, 'POST', '/plan', { body: plan })
  expect((await planned()).body.guardrail).toContain('send 100 % of the clients')
  expect((await callApi(daemon, 'PATCH', member, { body, headers: meant })).status).toBe(200)
  const old = { ipAddress: '192.0.2.1', port: 80 }
  Object.assign(plan.requests[0]!, { body: old })
  expect((await planned()).body.guardrail).toBe(null)
  const wanted = { 'x-gslb-effect': 'wanted' }
  const repair = await callApi(daemon, 'PATCH', member, { body: old, headers: wanted })
  expect([repair.status, repair.headers['x-gslb-effect']]).toEqual([
    200,
    expect.stringMatching(/^moved=100%; names=1; .*back=[0-9a-f]{10}$/),
  ])
  expect(await daemon.answers(www)).toEqual(oldAnswer)
  expect((await callApi(daemon, 'PATCH', member, { body })).status).toBe(409)
  // And a commit, judged in the thread of Git.
  await site.git('pull', '-q', '--rebase', 'origin', 'main')
  await site.publish('192.0.2.8')
  await waitUntil('the verdict', async () => {
    const { reason } = await daemon.gitops()
    return reason?.message.includes('sends 100 % of the clients of www.example.com. elsewhere')
  })
  await site.git('revert', '--no-edit', 'HEAD')
  await site.git('reset', '-q', '--soft', 'HEAD~1')
  const back = await site.commit('back')
  await site.push()
  await waitUntil('the way back', async () => (await daemon.gitops()).accepted === back)

  const headers = { 'x-gslb-override': 'another site' }
  expect((await callApi(daemon, 'PATCH', member, { body, headers })).status).toBe(200)
  expect(await daemon.answers(www)).toEqual(['www.example.com. 5 IN A 192.0.2.7'])
})

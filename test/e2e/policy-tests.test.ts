// A commit or a write that fails a policy test changes nothing, and says which expectation failed.
import { expect, onTestFinished, test } from 'vitest'
import type { GitopsStatus } from '#ports/operator-view.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { Site, poolPath, poolYaml } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()

const testYaml = (address: string): string =>
  'apiVersion: gslb/v1\nkind: Test\nmetadata: { name: www }\nspec:\n' +
  '  given: { name: www.example.com }\n  cases:\n' +
  `    - { name: everybody gets it, expect: { members: [${address}] } }\n`

test('a change that fails a policy test is refused by Git and the API', async () => {
  const site = await Site.make('policy-tests')
  onTestFinished(() => site.remove())
  site.trustNode()
  site.write('tests/www.yaml', testYaml('192.0.2.1'))
  const good = await site.commit('with a test')
  await site.push()
  const daemon = await start('serve', '--settings', site.settingsFile)
  const statusWhere = (is: (status: GitopsStatus) => boolean): Promise<GitopsStatus> =>
    waitUntil('the status', async () => {
      const status = await daemon.gitops()
      return is(status) && status
    })
  await statusWhere(({ active }) => active === good)

  type Listed = readonly { readonly id: string }[]
  const { body: pools } = await waitUntil('the configuration', async () => {
    const listed = await callApi<Listed>(daemon, 'GET', '/pools')
    return listed.status === 200 && listed
  })
  const path = `/pools/${pools[0]?.id}/members`
  const write = await callApi(daemon, 'POST', path, { body: { ipAddress: '192.0.2.7', port: 80 } })
  expect([write.status, JSON.stringify(write.body)]).toEqual([
    400,
    expect.stringContaining('expected 192.0.2.1, got 192.0.2.1, 192.0.2.7'),
  ])

  site.write(poolPath, poolYaml('192.0.2.2'))
  const bad = await site.commit('another address')
  await site.push()
  const held = await statusWhere(({ head, sync }) => head === bad && sync === 'held')
  expect(held).toMatchObject({ active: good, reason: { code: 'CompileFailed' } })
  expect(JSON.stringify(held)).toContain('"code":"test-failed"')
  expect(JSON.stringify(held)).toContain('"file":"tests/www.yaml","line":7')
  expect(await daemon.answers('www.example.com. A')).toEqual(['www.example.com. 5 IN A 192.0.2.1'])

  site.write('tests/www.yaml', testYaml('192.0.2.2'))
  const mended = await site.commit('as it is meant')
  await site.push()
  await statusWhere(({ active, sync }) => active === mended && sync === 'synced')
})

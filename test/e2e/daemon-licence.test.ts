// A vendor of one's own and a running node: what its licences permit, and DNS that never waits for
// them.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { QueryLoad } from '#test/support/query-load.ts'
import { runCli } from '#test/support/run-cli.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const systemKey = 'ab'.repeat(32)
const env: Record<string, string> = { GSLB_API_KEY: systemKey }
const { start } = useDaemons(env)
let site: Site
let daemon: DaemonProcess
let vendor: { readonly path: string; readonly publicKey: string }

beforeAll(async () => {
  site = await Site.make('licence')
  const path = join(site.path, 'vendor')
  vendor = { path, publicKey: (await runCli('license', 'keygen', '-o', path)).out.trim() }
  license(await issue('free'))
  site.trustNode()
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first commit', async () => (await answer()) === '192.0.2.1')
})
afterAll(() => site.remove())

/** More queries a second than the load makes. */
async function issue(tier: string): Promise<string> {
  const more = ['--tier', tier, '--max-rps', '1000000']
  const { out, err } = await runCli('license', 'issue', '--key', vendor.path, ...more)
  expect(err).toBe('')
  return out.trim()
}

function license(key: string): void {
  site.writeSettings({ license: { publicKey: vendor.publicKey, key } })
}

async function answer(): Promise<string> {
  const [line = ''] = await daemon.answers('www.example.com. A')
  return line.split(' ').at(-1) ?? ''
}

interface Body {
  readonly id: string
  readonly error: string
  readonly tier: string
  readonly source: string
  readonly diagnostics: readonly { readonly code: string; readonly file: string }[]
}
const call = async (method: string, path: string, body?: object) =>
  callApi<Body>(daemon, method, path, { bearer: systemKey, ...(body && { body }) })

test('limits say what to do, a better token counts at once, and DNS goes on', async () => {
  const queries = new QueryLoad(daemon.dnsPort, 'www.example.com. A')
  queries.start()
  await waitUntil('the licence', async () => (await call('GET', '/license')).body.tier === 'free')
  const pool = await call('POST', '/pools', { name: 'api' })
  const add = (n: number) =>
    call('POST', `/pools/${pool.body.id}/members`, { ipAddress: `192.0.2.${n}`, port: 80 })
  for (const n of [11, 12, 13]) expect((await add(n)).status).toBe(201)
  expect(await add(14)).toMatchObject({
    status: 403,
    body: {
      error:
        'a pool may have 3 members under the licence tier free; apply a licence of a higher tier',
    },
  })

  license(await issue('pro'))
  daemon.signal('SIGHUP')
  await waitUntil('pro', async () => (await call('GET', '/license')).body.tier === 'pro')
  expect((await add(14)).status).toBe(201)
  const tenant = { name: 'acme' }
  expect(await call('POST', '/tenants', tenant)).toMatchObject({
    status: 403,
    body: { error: expect.stringMatching(/enterprise licence tier.*; apply a licence/) as string },
  })

  const stranger = await call('POST', '/license', { token: `${await issue('custom')}x` })
  expect(stranger).toMatchObject({ status: 400 })
  expect(stranger.body.error).toMatch(/^token: /)
  const applied = await call('POST', '/license', { token: await issue('enterprise') })
  expect(applied).toMatchObject({ status: 200, body: { tier: 'enterprise', source: 'api' } })
  expect((await call('POST', '/tenants', tenant)).status).toBe(201)

  const { lost, answers } = await queries.stop()
  expect({ lost, answers }).toEqual({ lost: 0, answers: ['192.0.2.1'] })
})

test('objects beyond a smaller licence are served, and shown in the status', async () => {
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
  // The one that was applied over the API would go before one of the file.
  env['GSLB_LICENSE_KEY'] = await issue('free')
  daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the licence', async () => (await call('GET', '/license')).body.tier === 'free')
  expect(await answer()).toBe('192.0.2.1')
  // Told when the commit was read, a moment after its bundle was taken from the disk.
  const beyond = async (): Promise<readonly string[]> => {
    const { body } = await call('GET', '/gitops/status')
    return body.diagnostics.flatMap(({ code, file }) => (code === 'licence-exceeded' ? file : []))
  }
  await expect.poll(beyond).toEqual(['tenants/acme/tenant.yaml', 'tenants/default/pools/api.yaml'])
})

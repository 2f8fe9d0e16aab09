// Two tenants on a whole daemon: what one has is out of reach of the other, over the API, by DNS
// UPDATE and by a push.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { exchangeUdp } from '#test/support/dns/client.ts'
import { decodeMessage } from '#test/support/dns/message.ts'
import { signedWith, testKey, updateMessage } from '#test/support/dns/signed.ts'
import { Site, serviceYaml } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const root = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: root, GSLB_SECRET_KEY: 'cd'.repeat(32) })

let site: Site
let daemon: DaemonProcess
/** API keys of the tenants. */
const keys = { acme: '', zenith: '' }

beforeAll(async () => {
  site = await Site.make('name-holders', { dns: { domain: 'example.com' } })
  site.trustNode()
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil(
    'the commit',
    async () => (await daemon.answers('www.example.com. A')).length > 0,
    {
      timeoutMs: 60_000,
    },
  )
  for (const name of ['acme', 'zenith'] as const) {
    const made = await waitUntil('a tenant', async () => {
      const answer = await callApi<{ apiKey: string }>(daemon, 'POST', '/tenants', {
        ...{ bearer: root, body: { name } },
      })
      return answer.status === 201 ? answer.body : undefined
    })
    keys[name] = made.apiKey
  }
})
afterAll(() => site?.remove())

const post = async (bearer: string, path: string, body: object): Promise<number> =>
  (await callApi(daemon, 'POST', path, { bearer, body })).status

async function update(key: TsigKey, line: string): Promise<number> {
  const message = signedWith(key, updateMessage({ zone: 'example.com.', updates: [line] }))
  const answer = await exchangeUdp({ host: '127.0.0.1', port: daemon.dnsPort }, message)
  return decodeMessage(answer).rcode
}

async function keyOf(bearer: string, name: string): Promise<TsigKey> {
  const made = await callApi<{ name: string; secret: string }>(daemon, 'POST', '/dns/tsig-keys', {
    ...{ bearer, body: { name } },
  })
  expect(made.status).toBe(201)
  return testKey(made.body.name, Buffer.from(made.body.secret, 'base64'))
}

test('names are held over the API and by DNS UPDATE', async () => {
  const victim = 'victim.example.com.'
  expect(await post(keys.acme, '/services', { name: 'v', domain: victim })).toBe(201)
  const challenge = `_acme-challenge.${victim}`
  for (const domain of [challenge, `a.${victim}`, 'com.', '*.example.com.']) {
    expect([domain, await post(keys.zenith, '/services', { name: domain, domain })]).toEqual([
      domain,
      409,
    ])
    expect(await post(keys.zenith, '/dns/txt-records', { name: domain, value: 'x' })).toBe(409)
  }
  const redirect = { sourceFqdn: 'victim.example.com', targetUrl: 'https://zenith.example/' }
  expect(await post(keys.zenith, '/redirects', redirect)).toBe(409)

  const [own, other] = [
    await keyOf(keys.acme, 'a.example.'),
    await keyOf(keys.zenith, 'z.example.'),
  ]
  expect(await update(own, `${challenge} 60 IN TXT own`)).toBe(0)
  const answered = [`${challenge} 60 IN TXT "own"`]
  expect(await daemon.answers(`${challenge} TXT`)).toEqual(answered)
  for (const line of [`${challenge} 0 ANY ANY`, `${challenge} 60 IN TXT other`]) {
    expect(await update(other, line)).toBe(5)
  }
  // The operator’s key deletes what is the operator’s.
  const operators = await keyOf(root, 'operator.example.')
  expect(await update(operators, `${challenge} 60 IN TXT operator`)).toBe(0)
  expect(await update(operators, `${challenge} 0 ANY ANY`)).toBe(0)
  expect(await daemon.answers(`${challenge} TXT`)).toEqual(answered)
  expect(await post(root, '/services', { name: 'root', domain: `a.${victim}` })).toBe(201)
})

test('by a push, which is held', async () => {
  await site.git('pull', '-q', '--rebase', 'origin', 'main')
  site.write(
    'tenants/zenith/services/taken.yaml',
    serviceYaml('b.victim.example.com.', 'taken', 'null'),
  )
  const commit = await site.commit('a name of another tenant')
  await site.push()
  interface Status {
    readonly head: string | null
    readonly accepted: string | null
    readonly sync: string
    readonly diagnostics: readonly { readonly code: string; readonly file: string }[]
  }
  const held = await waitUntil('the look', async () => {
    const { body } = await callApi<Status>(daemon, 'GET', '/gitops/status', { bearer: root })
    return body.head === commit && body.sync !== 'pending' ? body : undefined
  })
  expect([held.sync, held.accepted === commit]).toEqual(['held', false])
  expect(held.diagnostics).toMatchObject([
    { code: 'name-of-other', file: 'tenants/zenith/services/taken.yaml' },
  ])
})

// certbot with a hook that asks our endpoint as plug-ins for acme-dns do: it gets a certificate of
// a name and its wildcard from Pebble, which follows a CNAME of Git. Debian builds lego without its
// plug-in for acme-dns.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAcmeServer } from '#test/support/acme-server.ts'
import type { AcmeServer } from '#test/support/acme-server.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { saidBy } from '#test/support/said-by.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

interface Account {
  readonly username: string
  readonly password: string
  readonly subdomain: string
  readonly fulldomain: string
}

const { start } = useDaemons({ GSLB_API_KEY: 'ab'.repeat(32) })
let site: Site
let daemon: DaemonProcess
let ca: AcmeServer
let base: string
let account: Account

beforeAll(async () => {
  site = await Site.make('acme-dns', {
    acmeDns: { domain: 'acme.example.com', registerFrom: ['127.0.0.0/8'] },
  })
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
  await daemon.hasDatabase()
  base = `http://127.0.0.1:${daemon.apiPort}/acme-dns`
  ca = await startAcmeServer(daemon.dnsPort)
}, 300_000)
afterAll(async () => {
  await ca.stop()
  site.remove()
})

test.each([
  ['acme.sh', ['-X', 'POST', '-d', '']],
  ['the hook of certbot', ['-H', 'Content-Type: application/json', '-d', '{"allowfrom": []}']],
])('%s registers', async (_who, shape) => {
  const { text } = await saidBy('curl', ['-sS', ...shape, `${base}/register`])
  account = JSON.parse(text) as Account
  expect(account.fulldomain).toBe(`${account.subdomain}.acme.example.com`)
})

test('certbot gets a certificate by a CNAME and the key of its name', async () => {
  site.write(
    'tenants/default/records/challenges.yaml',
    `apiVersion: gslb/v1
kind: Records
metadata: { name: challenges }
spec:
  zone: example.com.
  records:
    - { name: _acme-challenge.www, type: CNAME, ttl: 5, values: ["${account.fulldomain}."] }
`,
  )
  await site.commit('a CNAME for the challenges')
  await site.push()
  const led = async () => (await daemon.answers('_acme-challenge.www.example.com. TXT')).join()
  await waitUntil('the CNAME', async () => (await led()).includes(account.fulldomain))
  const hook = join(site.path, 'hook.sh')
  writeFileSync(
    hook,
    `#!/bin/sh
exec curl -sSf -H 'Content-Type: application/json' \\
  -H 'X-Api-User: ${account.username}' -H 'X-Api-Key: ${account.password}' \\
  -d "{\\"subdomain\\": \\"${account.subdomain}\\", \\"txt\\": \\"$CERTBOT_VALIDATION\\"}" \\
  ${base}/update
`,
  )
  chmodSync(hook, 0o755)
  const folders = ['config', 'work', 'logs'].flatMap((name) => [
    ...[`--${name}-dir`, join(site.path, 'certbot', name)],
  ])
  const { text } = await saidBy(
    'certbot',
    [
      ...['certonly', '-n', '--agree-tos', '-m', 'ann@example.com', '--no-eff-email', ...folders],
      ...['--server', ca.directoryUrl, '--manual', '--preferred-challenges', 'dns'],
      ...['--manual-auth-hook', hook, '-d', 'www.example.com', '-d', '*.www.example.com'],
    ],
    { env: { REQUESTS_CA_BUNDLE: ca.certificate } },
  )
  const certificate = join(site.path, 'certbot/config/live/www.example.com/cert.pem')
  expect(existsSync(certificate), `${text}\n${ca.output()}`).toBe(true)
  expect(readFileSync(certificate, 'utf8')).toContain('BEGIN CERTIFICATE')
  // One of the name, and one of its wildcard.
  expect((await led()).match(/IN TXT/g)?.length).toBe(2)
}, 120_000)

test('its key sets nothing elsewhere', async () => {
  const { text } = await saidBy('curl', [
    ...['-sS', '-H', `X-Api-User: ${account.username}`, '-H', `X-Api-Key: ${account.password}`],
    ...['-d', JSON.stringify({ subdomain: 'other', txt: 'a'.repeat(43) }), `${base}/update`],
  ])
  expect(JSON.parse(text)).toEqual({ error: 'forbidden' })
})

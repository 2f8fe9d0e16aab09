// Redirects in a real Caddy and a real nginx: kept as they should be, and nothing else touched.
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createCaddy } from '#integrations/redirects/caddy.ts'
import { createNginx } from '#integrations/redirects/nginx.ts'
import { Reconciler } from '#integrations/redirects/reconciler.ts'
import { pushedOf } from '#integrations/redirects/rule.ts'
import type { PushedRedirect } from '#integrations/redirects/rule.ts'
import type { RedirectTarget } from '#integrations/redirects/target.ts'
import { systemClock } from '#lib/clock.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { makeCaddy, makeNginx } from '#test/support/proxies.ts'
import type { Proxy } from '#test/support/proxies.ts'
import { rawHttp } from '#test/support/raw-http.ts'
import { redirect } from '#test/support/redirects.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const patience = 120_000
const many = (count: number, to: string): readonly PushedRedirect[] =>
  pushedOf([
    ...Array.from({ length: count }, (_, i) =>
      redirect(i, `h${i}.old.example`, `https://${to}${i}.example/`),
    ),
    redirect(count, '*.old.example', 'https://wild.example/x', { code: 308, preservePath: false }),
    redirect(count + 1, '*.deep.old.example', 'https://deep.example/$host', { code: 302 }),
  ])

async function locationOf({ port }: Proxy, host: string): Promise<string> {
  const request = `GET /a?b HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  const { text, statuses } = await rawHttp(port, [request])
  return `${statuses[0]} ${/^Location: (.*)\r$/im.exec(text)?.[1] ?? ''}`.trimEnd()
}

/** Its rounds come as soon as they may. */
function reconcile(target: RedirectTarget, first: readonly PushedRedirect[]) {
  let wanted = first
  const parts = { target, wanted: () => wanted, intervalMs: 20, clock: systemClock, log: silentLog }
  const reconciler = new Reconciler(parts)
  const timer = setInterval(() => reconciler.tick(), 10)
  onTestFinished(async () => {
    clearInterval(timer)
    await reconciler.stop()
  })
  return {
    reconciler,
    change: (next: readonly PushedRedirect[]) => {
      wanted = next
      reconciler.changed()
    },
  }
}

async function follow(proxy: Proxy, target: RedirectTarget, breakIt: () => Promise<void>) {
  const { reconciler, change } = reconcile(target, many(1_000, 'a'))
  const isUp = () => reconciler.status().isUp
  const leads = (host: string, to: string) =>
    waitUntil(`${host} to lead to ${to}`, async () => (await locationOf(proxy, host)) === to)
  await waitUntil('its failure', () => isUp() === false)
  await proxy.start()
  await leads('h999.old.example', '301 https://a999.example/a?b')
  expect(await locationOf(proxy, 'x.y.old.example')).toBe('308 https://wild.example/x')
  expect(await locationOf(proxy, 'x.deep.old.example')).toMatch(
    /^302 https:\/\/deep\.example\/(\$|%24)host\/a\?b$/,
  )
  expect(await locationOf(proxy, 'old.example')).toMatch(/^(404|200)/)

  await proxy.stop()
  change(many(1_001, 'b').slice(1))
  await waitUntil('its failure', () => isUp() === false)
  await proxy.start()
  await leads('h1000.old.example', '301 https://b1000.example/a?b')
  await leads('h500.old.example', '301 https://b500.example/a?b')

  await waitUntil('a good round', () => isUp() === true)
  expect(reconciler.status().drift).toBe(0)
  await breakIt()
  await waitUntil('the drift to be mended', () => reconciler.status().drift > 0)
  await leads('h500.old.example', '301 https://b500.example/a?b')
  change([])
  await waitUntil(
    'none',
    async () => !(await locationOf(proxy, 'h5.old.example')).startsWith('301'),
  )
}

test(
  'a Caddy that was away has them all, and routes of others stay',
  async () => {
    const foreign = [
      {
        '@id': 'theirs',
        match: [{ host: ['theirs.example'] }],
        handle: [teapot()],
        terminal: true,
      },
      { match: [{ path: ['/svc-redirect-1'] }], handle: [teapot()] },
    ]
    const caddy = await makeCaddy(tempDir('caddy'), foreign)
    const { adminUrl } = caddy
    const routes = `${adminUrl}/config/apps/http/servers/edge/routes`
    const target = createCaddy({ adminUrl, serverName: 'edge' })
    await follow(caddy, target, async () => {
      const answer = await fetch(`${adminUrl}/id/${many(1_001, 'b')[501]!.mark}`, {
        method: 'DELETE',
      })
      expect(answer.status).toBe(200)
    })
    expect(await locationOf(caddy, 'theirs.example')).toBe('418')
    expect(await (await fetch(routes)).json()).toEqual(foreign)
  },
  patience,
)

const teapot = (): object => ({ handler: 'static_response', status_code: 418 })

test(
  'an nginx that was away has them all, and a file that was changed is mended',
  async () => {
    const directory = tempDir('nginx')
    const nginx = await makeNginx(directory)
    const configDir = join(directory, 'conf.d')
    const file = join(configDir, 'svc-redirects.conf')
    const theirs = join(configDir, 'theirs.conf')
    const listen = `127.0.0.1:${nginx.port}`
    const block = `server { listen ${listen}; server_name theirs.example; return 418; }\n`
    writeFileSync(theirs, block)
    const target = createNginx({
      ...{ configDir, configFile: 'svc-redirects.conf', reloadCommand: nginx.reload },
      listen: [listen],
    })
    await follow(nginx, target, async () => writeFileSync(file, '# nothing\n'))
    expect(await locationOf(nginx, 'theirs.example')).toBe('418')
    expect(await readFile(file, 'utf8')).toMatch(/^# Written by gslbd.*\n$/)
    expect(await readFile(theirs, 'utf8')).toBe(block)
  },
  patience,
)

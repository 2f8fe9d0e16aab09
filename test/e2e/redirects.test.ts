// Redirects of a whole daemon: answered when the request that makes them returns, kept over a stop.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { placeDatabase } from '#test/support/database-template.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import { rawHttp } from '#test/support/raw-http.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const apiKey = 'ab'.repeat(32)
const { start, spawn } = useDaemons({ GSLB_API_KEY: apiKey })

interface Rule {
  readonly id: string
  readonly hitCount: number
}

function settingsIn(home: string, redirect: object): string {
  const settings = join(home, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  writeFileSync(
    settings,
    JSON.stringify({ dataDir: './data', dns, api: { enabled: true, port: 0 }, redirect }),
  )
  return settings
}

const portOf = (daemon: DaemonProcess): number =>
  Number(daemon.logged('redirects are answered')?.['port'])
const call = <Body>(daemon: DaemonProcess, method: string, path: string, body?: object) =>
  callApi<Body>(daemon, method, path, { bearer: apiKey, ...(body === undefined ? {} : { body }) })
const ask = async (daemon: DaemonProcess, host: string): Promise<string> => {
  const request = `GET /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  const { text, statuses } = await rawHttp(portOf(daemon), [request])
  return `${statuses[0]} ${/^Location: (.*)\r$/m.exec(text)?.[1] ?? ''}`
}

/** Until then writes are told to come again: 503 with Retry-After. */
const isRead = (daemon: DaemonProcess) =>
  waitUntil('the configuration to be read', async () => {
    return (await call(daemon, 'GET', '/redirects')).status === 200
  })

test('a redirect is answered when its 201 returns, and gone when its 204 does', async () => {
  const home = tempDir('redirects')
  mkdirSync(join(home, 'data'))
  await placeDatabase(join(home, 'data'))
  // Neither those who write nor those who ask notice a server of others that never answers.
  const hanging = await startStandIn(() => 'hang')
  const settings = settingsIn(home, {
    ...{ enabled: true, listenAddr: '127.0.0.1', port: 0 },
    caddy: { enabled: true, adminUrl: hanging.url },
  })
  const daemon = await start('serve', '--settings', settings)
  // Nothing was ever accepted here.
  expect(await ask(daemon, 'old.example')).toBe('503 ')
  await isRead(daemon)
  for (let round = 1; round < 6; round++) {
    const made = await call<Rule>(daemon, 'POST', '/redirects', {
      ...{ sourceFqdn: 'old.example', targetUrl: `https://n${round}.example`, code: 308 },
    })
    expect(made.status).toBe(201)
    expect(await ask(daemon, 'old.example')).toBe(`308 https://n${round}.example/x`)
    const gone = await call(daemon, 'DELETE', `/redirects/${made.body.id}`)
    expect([gone.status, await ask(daemon, 'old.example')]).toEqual([204, '404 '])
  }
  await waitUntil('the server to be asked', () => hanging.asked.length > 0)
  expect(await daemon.answers('old.example. A')).toEqual(['REFUSED'])

  const { body: kept } = await call<Rule>(daemon, 'POST', '/redirects', {
    ...{ sourceFqdn: 'deep.old.example', targetUrl: 'https://new.example', preservePath: false },
  })
  for (let i = 0; i < 3; i++) {
    expect(await ask(daemon, 'deep.old.example')).toBe('301 https://new.example')
  }
  const { body: list } = await call<readonly Rule[]>(daemon, 'GET', '/redirects')
  expect(list).toMatchObject([{ id: kept.id, hitCount: 3 }])
  const metrics = await fetch(`http://127.0.0.1:${daemon.apiPort}/metrics`, {
    headers: { authorization: `Bearer ${apiKey}` },
  })
  expect(await metrics.text()).toMatch(/^gslbd_redirect_requests_total\{status="301"\} 3$/m)

  await daemon.stop()
  const again = await start('serve', '--settings', settings)
  expect(await ask(again, 'deep.old.example')).toBe('301 https://new.example')
  await again.stop()
})

test('a server of others has them as well, and a dry run says that nothing differs', async () => {
  const home = tempDir('redirects')
  const configDir = join(home, 'conf.d')
  mkdirSync(configDir)
  const nginx = { enabled: true, configDir, reloadCommand: 'true' }
  const settings = settingsIn(home, { nginx })
  const daemon = await start('serve', '--settings', settings)
  await isRead(daemon)
  const made = await call<Rule>(daemon, 'POST', '/redirects', {
    ...{ sourceFqdn: 'old.example', targetUrl: 'https://new.example' },
  })
  const file = join(configDir, 'svc-redirects.conf')
  await waitUntil('the file', () =>
    existsSync(file) ? readFileSync(file, 'utf8').includes(`svc-redirect-${made.body.id}`) : false,
  )
  const diff = () => runCli('redirects', 'diff', '--settings', settings)
  expect(await diff()).toMatchObject({ exit: 0, out: 'nginx: 1 redirects, nothing to change\n' })
  await daemon.stop()
  writeFileSync(file, '')
  expect(await diff()).toMatchObject({ exit: 1 })
})

test('without a port it does not start, and says so', async () => {
  const daemon = spawn('serve', '--settings', settingsIn(tempDir('redirects'), { enabled: true }))
  expect((await daemon.ended).code).not.toBe(0)
  expect(daemon.output).toContain('redirect.port is missing')
})

// The redirect listener on real sockets: headers, limits, slow clients, https, its log.
import { once } from 'node:events'
import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectSecure } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RedirectModel } from '#bundle/redirects/redirect-table.ts'
import { systemClock } from '#lib/clock.ts'
import { RedirectCounters } from '#server/redirect/counters.ts'
import { RedirectListener } from '#server/redirect/listener.ts'
import type { RedirectListenerSettings } from '#server/redirect/messages.ts'
import { bundleOf, smallModel } from '#test/support/bundle-models.ts'
import { openSocket, rawHttp } from '#test/support/raw-http.ts'
import { redirect } from '#test/support/redirects.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const rules = [
  redirect(1, 'old.example', 'https://new.example'),
  redirect(2, '*.old.example', 'https://wild.example/x', { code: 308, preservePath: false }),
  redirect(3, 'safe.example', 'https://new.example', { hstsSeconds: 60 }),
]
const plain: RedirectListenerSettings = {
  listenAddr: '127.0.0.1',
  port: 0,
  idleTimeoutMs: 10_000,
  requestTimeoutMs: 10_000,
  maxConnections: 100,
  maxPerClient: 100,
  accessLog: undefined,
  https: { port: undefined, certificates: {} },
}

function table(redirects: readonly RedirectModel[], number = 1) {
  const columns = bundleOf({ ...smallModel, redirects })
  return { number, columns, hits: new SharedArrayBuffer(redirects.length * 8) }
}

async function listening(settings: Partial<RedirectListenerSettings> = {}, adopts = true) {
  const counters = new RedirectCounters(new SharedArrayBuffer(RedirectCounters.bytes))
  const listener = new RedirectListener({
    settings: { ...plain, ...settings },
    counters,
    clock: systemClock,
    log,
    certificatesEveryMs: 20,
  })
  const given = table(rules)
  if (adopts) listener.adopt(given)
  const started = await listener.start()
  if (!started.ok) throw new Error(started.error)
  onTestFinished(() => listener.stop())
  return { listener, counters, hits: new Float64Array(given.hits), ...started.value }
}

const get = (host: string, path = '/', more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`
const close = 'Connection: close\r\n'

describe('a request', () => {
  test('is sent elsewhere; those of one connection are answered one after the other', async () => {
    const { port, hits, counters } = await listening()
    const { text, statuses } = await rawHttp(port, [
      get('old.example', '/a?b') + `HEAD /c HTTP/1.1\r\nHost: OLD.example.:80\r\n\r\n`,
      get('x.old.example', '/d') + get('none.example') + get('old.example', '/e', close),
    ])
    expect(statuses).toEqual([301, 301, 308, 404, 301])
    expect(text.match(/^Location: .*$/gm)).toEqual(
      ['new.example/a?b', 'new.example/c', 'wild.example/x', 'new.example/e'].map(
        (rest) => `Location: https://${rest}`,
      ),
    )
    expect([...hits]).toEqual([3, 1, 0])
    expect(counters.read().byStatus).toMatchObject({ '301': 3, '308': 1, '404': 1, '400': 0 })
  })

  test('is answered over IPv6 as over IPv4', async () => {
    const { port } = await listening({ listenAddr: '::1' })
    expect((await rawHttp(port, [get('old.example', '/', close)], '::1')).statuses).toEqual([301])
  })

  test.each([
    ['without a Host header', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['of HTTP/1.0 without one', 'GET / HTTP/1.0\r\n\r\n', 404],
    ['of HTTP/1.0 with one', 'GET / HTTP/1.0\r\nHost: old.example\r\n\r\n', 301],
    ['with two', `GET / HTTP/1.1\r\nHost: old.example\r\nHost: old.example\r\n${close}\r\n`, 400],
    ['with one of 10 kB', get(`${'x.'.repeat(5_000)}example`, '/', close), 400],
    ['with an address', get('[::1]:80', '/', close), 404],
    ['with 20 kB of headers', get('old.example', '/', `X: ${'x'.repeat(20_000)}\r\n`), 431],
    ['with a long path', get('old.example', `/${'x'.repeat(20_000)}`), 431],
    ['with a path that is none', 'GET x HTTP/1.1\r\nHost: old.example\r\n\r\n', 400],
    ['that is no HTTP', '\u0016\u0003\u0001\r\n\r\n', 400],
    ['with a whole address', get('none.example', 'http://old.example/', close), 301],
    ['of a method of its own', `BREW / HTTP/1.1\r\nHost: old.example\r\n\r\n`, 400],
    ['CONNECT', 'CONNECT old.example:443 HTTP/1.1\r\nHost: old.example\r\n\r\n', 400],
    ['PURGE', `PURGE / HTTP/1.1\r\nHost: old.example\r\n${close}\r\n`, 301],
    ['to upgrade', get('old.example', '/', `${close}Upgrade: websocket\r\n`), 301],
  ])('%s', async (_what, octets, status) => {
    const { port } = await listening()
    expect((await rawHttp(port, [octets])).statuses).toEqual([status])
  })

  test('with raw octets in its path is sent to the encoded path', async () => {
    const { port, hits, counters } = await listening()
    const raw = (text: string): string => Buffer.from(text).toString('latin1')
    const { text, statuses } = await rawHttp(port, [
      get('old.example', '/first') + raw(get('old.example', '/caf\u00e9/\u65e5?q=\u00fc#\u00e9')),
    ])
    expect(statuses).toEqual([301, 301])
    expect(text).toContain('Location: https://new.example/caf%C3%A9/%E6%97%A5?q=%C3%BC')
    expect(text).toContain('Connection: close')
    expect(counters.read().byStatus).toMatchObject({ '301': 2, '400': 0 })
    expect(hits[0]).toBe(2)
  })

  test.each([
    ['in the method', 'G\u00c9T / HTTP/1.1\r\nHost: old.example\r\n\r\n', [400]],
    ['in a path with a control', get('old.example', '/\u00e9\u0001'), [400]],
    ['without a host', 'GET /\u00e9 HTTP/1.1\r\n\r\n', [400]],
    ['with two hosts', `GET /\u00e9 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`, [400]],
    [
      'and a body',
      `POST /\u00e9 HTTP/1.0\r\nHost: old.example\r\nContent-Length: 9\r\n\r\nx`,
      [301],
    ],
    ['of a host that is none', get('none.example', '/\u00ff'), [404]],
  ])('with raw octets %s', async (_what, octets, expected) => {
    const { port, counters } = await listening()
    expect((await rawHttp(port, [octets])).statuses).toEqual(expected)
    await waitUntil('it to be closed', () => counters.read().open === 0)
  })

  test('with a body is answered without reading it, and the connection ends', async () => {
    const { port } = await listening()
    const head = 'POST / HTTP/1.1\r\nHost: old.example\r\nContent-Length: 1000000\r\n\r\n'
    const { statuses } = await rawHttp(port, [`${head}only this`])
    expect(statuses).toEqual([301])
  })

  test('before the first table is answered 503', async () => {
    const { port } = await listening({}, false)
    const { text } = await rawHttp(port, [get('old.example', '/', close)])
    expect(text).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 1/)
  })
})

describe('limits', () => {
  test('a client that is slow with its headers gets 408', async () => {
    const { port, counters } = await listening({ requestTimeoutMs: 100 })
    expect((await rawHttp(port, ['GET / HTTP/1.1\r\nHost: old'])).statuses).toEqual([408])
    expect(counters.read().byStatus['408']).toBe(1)
  })

  test('a connection without a request is closed', async () => {
    const { port } = await listening({ requestTimeoutMs: 100, idleTimeoutMs: 100 })
    const silent = await openSocket(port)
    silent.resume()
    await once(silent, 'close')
  })

  test.each([
    ['of one client', { maxPerClient: 2 }],
    ['of all', { maxConnections: 2 }],
  ])('connections %s', async (_whose, settings) => {
    const { port, counters } = await listening(settings)
    const kept = [await openSocket(port), await openSocket(port)]
    await waitUntil('two connections', () => counters.read().open === 2)
    expect((await rawHttp(port, [get('old.example')])).statuses).toEqual([])
    expect(counters.read()).toMatchObject({ open: 2, accepted: 2, refused: 1 })
    for (const socket of kept) socket.destroy()
    await waitUntil('room', () => counters.read().open === 0)
    expect((await rawHttp(port, [get('old.example', '/', close)])).statuses).toEqual([301])
  })
})

test('other tables lose no request of connections that stay open', async () => {
  const { port, listener } = await listening()
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  onTestFinished(() => agent.destroy())
  const ask = async (): Promise<string> => {
    const sent = httpRequest({ port, agent, headers: { host: 'old.example' } }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    await once(answer, 'end')
    return `${answer.statusCode} ${answer.headers.location}`
  }
  const seen = new Set<string>()
  for (let number = 2; number < 40; number++) {
    const asked = Array.from({ length: 8 }, ask)
    listener.adopt(table([redirect(1, 'old.example', `https://n${number % 2}.example`)], number))
    for (const answer of await Promise.all(asked)) seen.add(answer)
  }
  expect([...seen].toSorted()).toEqual(['301 https://n0.example', '301 https://n1.example'])
})

describe('https', () => {
  const fixture = (name: string): string => join(import.meta.dirname, '../../../fixtures/tls', name)
  const pair = (name: string) => ({
    cert: fixture(`${name}.cert.pem`),
    key: fixture(`${name}.key.pem`),
  })
  const ask = async (port: number, servername: string, host: string) => {
    const options = { port, servername, headers: { host }, rejectUnauthorized: false, agent: false }
    const [answer] = (await once(httpsGet(options), 'response')) as [IncomingMessage]
    const { fingerprint256 } = (answer.socket as TLSSocket).getPeerCertificate()
    answer.resume()
    return { status: answer.statusCode, headers: answer.headers, fingerprint256 }
  }

  test('tells of HSTS where the redirect says so; plain HTTP never does', async () => {
    const { port, httpsPort } = await listening({
      https: { port: 0, certificates: { one: pair('named') } },
    })
    const secure = await ask(httpsPort!, 'safe.example', 'safe.example')
    expect(secure.headers['strict-transport-security']).toBe('max-age=60')
    const other = await ask(httpsPort!, 'old.example', 'old.example')
    expect(other.headers).not.toHaveProperty('strict-transport-security')
    const { text } = await rawHttp(port, [get('safe.example', '/', close)])
    expect(text).not.toMatch(/strict-transport/i)
  })

  test('shows a client the certificate of its name, else the first', async () => {
    const certificates = { a: pair('addressed'), b: pair('named') }
    const { httpsPort } = await listening({ https: { port: 0, certificates } })
    const shown = async (name: string) => (await ask(httpsPort!, name, name)).fingerprint256
    expect(await shown('www.example.com')).not.toBe(await shown('old.example'))
  })

  test('a session is resumed after files were looked at', async () => {
    const certificates = { a: pair('addressed'), b: pair('named') }
    const { httpsPort: port } = await listening({ https: { port: 0, certificates } })
    const place = { port: port!, servername: 'old.example', rejectUnauthorized: false }
    const first = connectSecure(place)
    const [session] = (await once(first, 'session')) as [Buffer]
    first.destroy()
    await delay(60)
    const again = connectSecure({ ...place, session })
    await once(again, 'secureConnect')
    expect(again.isSessionReused()).toBe(true)
    again.destroy()
  })

  test('files that change are taken over; one that is broken leaves what was', async () => {
    const directory = tempDir('certificates')
    const files = { cert: join(directory, 'cert'), key: join(directory, 'key') }
    const put = (name: string): void => {
      copyFileSync(pair(name).cert, files.cert)
      copyFileSync(pair(name).key, files.key)
    }
    put('named')
    const { httpsPort } = await listening({ https: { port: 0, certificates: { one: files } } })
    const shown = async () => (await ask(httpsPort!, 'old.example', 'old.example')).fingerprint256
    const before = await shown()
    copyFileSync(pair('unknown').cert, files.cert)
    expect(await shown()).toBe(before)
    put('unknown')
    await waitUntil('the other certificate', async () => (await shown()) !== before)
  })

  test('shows what an ACME server gave, in the place of nothing and behind files', async () => {
    const textsOf = ({ cert, key }: ReturnType<typeof pair>) => ({
      ...{ cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') },
    })
    const https = { port: 0, certificates: {}, acme: true }
    const { listener, httpsPort } = await listening({ https })
    const shown = async (name: string, port = httpsPort!) =>
      (await ask(port, name, name)).fingerprint256
    await expect(shown('old.example')).rejects.toThrow()
    listener.certify({ '': textsOf(pair('addressed')) })
    const first = await shown('old.example')
    listener.certify({ '': textsOf(pair('named')) })
    const second = await shown('old.example')
    expect(first).not.toBe(second)
    listener.certify({ '': { cert: 'none', key: 'none' } })
    expect(await shown('old.example')).toBe(second)
    const files = { ...https, certificates: { one: pair('addressed'), two: { acme: 'inner' } } }
    const both = await listening({ https: files })
    both.listener.certify({ '': textsOf(pair('named')) })
    const ofFile = await shown('none.example', both.httpsPort!)
    expect(ofFile).toBe(first)
    expect(await shown('www.example.com', both.httpsPort!)).toBe(second)
    both.listener.certify({ inner: textsOf(pair('named')) })
    expect(await shown('www.example.com', both.httpsPort!)).toBe(second)
  })

  test('without a certificate that can be used it does not start', async () => {
    const settings = {
      ...plain,
      https: { port: 0, certificates: { one: { cert: '/none.cert', key: '/none.key' } } },
    }
    const counters = new RedirectCounters(new SharedArrayBuffer(RedirectCounters.bytes))
    const listener = new RedirectListener({ settings, counters, clock: systemClock, log })
    const started = await listener.start()
    await listener.stop()
    expect(started).toEqual({
      ok: false,
      error: expect.stringMatching(/redirect\.https\.certificates\.one: .*ENOENT/) as string,
    })
  })
})

test('a port that is taken is told with the setting that names it', async () => {
  const { port } = await listening()
  await expect(listening({ port })).rejects.toThrow(/redirect\.port\): another program has it/)
})

test('the access log has a line for each request, and follows a rotation', async () => {
  const accessLog = join(tempDir('access'), 'access.log')
  const { port, listener } = await listening({ accessLog })
  const linesOf = (path: string) =>
    (existsSync(path) ? readFileSync(path, 'utf8') : '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as object)
  await rawHttp(port, [get('old.example', '/a?b', `${close}User-Agent: "x"\\y\r\n`)])
  await waitUntil('a line', () => linesOf(accessLog).length === 1)
  expect(linesOf(accessLog)).toEqual([
    {
      at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      client: '127.0.0.1',
      scheme: 'http',
      host: 'old.example',
      method: 'GET',
      path: '/a?b',
      status: 301,
      redirect: rules[0]!.uid,
      userAgent: '"x"\\y',
    },
  ])
  renameSync(accessLog, `${accessLog}.1`)
  listener.reopenLog()
  await rawHttp(port, [get('none.example', '/', close)])
  await waitUntil('a line in the new file', () => linesOf(accessLog).length === 1)
  expect(linesOf(accessLog)).toMatchObject([{ status: 404, redirect: '' }])
  expect(linesOf(`${accessLog}.1`)).toHaveLength(1)
})

test('an access log that cannot be written costs lines, and no answer', async () => {
  const { port, counters } = await listening({ accessLog: join(tempDir('access'), 'none/x.log') })
  expect((await rawHttp(port, [get('old.example', '/', close)])).statuses).toEqual([301])
  await waitUntil('a lost line', () => counters.read().logDropped === 1)
})

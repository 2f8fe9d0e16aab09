// A web dashboard as browsers and less friendly clients meet it, over a real socket.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemKey } from '#access/auth/policy.ts'
import { createApiServer } from '#api/server/server.ts'
import type { HttpServer } from '#api/server/listening.ts'
import { dashboardFault } from '#api/server/web-dashboard.ts'
import { devMode, portsOf, silentLog } from '../../../support/api-ports.ts'
import { tempDir } from '../../../support/temp-dir.ts'

const page = '<!doctype html><title>Dashboard</title><script src="assets/app.js"></script>'

let place: string
let directory: string
let port: number
const running: HttpServer[] = []
beforeEach(async () => {
  place = tempDir('dashboard')
  directory = join(place, 'ui')
  fill(directory, 'one')
  writeFileSync(join(place, 'secret.txt'), 'hush')
  port = await start(directory)
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()))
})

function fill(target: string, script: string): void {
  for (const path of ['assets', 'empty', '.git', 'docs']) {
    mkdirSync(join(target, path), { recursive: true })
  }
  const files = {
    'index.html': page,
    'docs/index.html': '<!doctype html><title>Docs</title>',
    'assets/app.js': `export const name = '${script}'`,
    'assets/app.css': 'body { margin: 0 }',
    'assets/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'assets/font.woff2': 'font',
    'assets/a b.json': '{}',
    'assets/blob': 'blob',
    'assets/.map': 'hush',
    '.env': 'hush',
    '.git/config': 'hush',
  }
  for (const [path, content] of Object.entries(files)) writeFileSync(join(target, path), content)
}

async function start(dashboardDirectory?: string | null): Promise<number> {
  const server = createApiServer({
    // With a system key, so that what needs a credential would say so.
    ports: portsOf({ auth: { ...devMode, systemKey: systemKey('ab'.repeat(32)) } }),
    log: silentLog,
    listenAddr: '127.0.0.1',
    port: 0,
    trustedProxies: [],
    allowDevMode: false,
    dashboardDirectory,
  })
  running.push(server)
  const listening = await server.listen()
  if (!listening.ok) throw new Error(listening.error)
  return listening.value.port
}

const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init })

/** Path and headers as they are: fetch tidies up the one and adds to the others. */
async function getRaw(path: string, header = ''): Promise<{ status: number; text: string }> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${header}\r\n`)
  await once(socket, 'close')
  return { status: Number(text.split(' ')[1]), text }
}

describe('a file of the directory', () => {
  test('is served to everybody, checked each time and shown in no frame', async () => {
    const answer = await get('/ui/')
    expect([answer.status, await answer.text()]).toEqual([200, page])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^W\/"/) as string,
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'") as string,
    })
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'self'")
  })

  const types: readonly [string, string][] = [
    ['/ui/index.html', 'text/html; charset=utf-8'],
    ['/ui/docs/', 'text/html; charset=utf-8'],
    ['/ui/assets/app.js', 'application/javascript; charset=utf-8'],
    ['/ui/assets/app.js?v=3', 'application/javascript; charset=utf-8'],
    ['/ui/assets/app.css', 'text/css; charset=utf-8'],
    ['/ui/assets/logo.svg', 'image/svg+xml'],
    ['/ui/assets/font.woff2', 'font/woff2'],
    ['/ui/assets/a%20b.json', 'application/json; charset=utf-8'],
    ['/ui/assets/blob', 'application/octet-stream'],
  ]
  test.each(types)('%s is %s', async (path, type) => {
    const answer = await get(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    expect(answer.headers.get('content-security-policy')).toContain("object-src 'none'")
  })

  test('is sent again only when it is another', async () => {
    const etag = (await get('/ui/assets/app.js')).headers.get('etag') ?? ''
    const header = `If-None-Match: ${etag}\r\n`
    const same = await getRaw('/ui/assets/app.js', header)
    expect([same.status, same.text.split('\r\n\r\n')[1]]).toEqual([304, ''])
    writeFileSync(join(directory, 'assets/app.js'), 'export const name = "another"')
    const changed = await getRaw('/ui/assets/app.js', header)
    expect([changed.status, changed.text]).toEqual([200, expect.stringContaining('"another"')])
  })

  test('may be asked for by HEAD and in parts', async () => {
    const head = await get('/ui/assets/app.css', { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '18'])
    const part = await get('/ui/assets/app.css', { headers: { range: 'bytes=0-3' } })
    expect([part.status, await part.text()]).toEqual([206, 'body'])
    const beyond = await get('/ui/assets/app.css', { headers: { range: 'bytes=99-' } })
    expect([beyond.status, Object.keys((await beyond.json()) as object)]).toEqual([416, ['error']])
  })

  test('may be reached by a link that stays in the directory', async () => {
    symlinkSync('app.js', join(directory, 'assets/latest.js'))
    expect((await get('/ui/assets/latest.js')).status).toBe(200)
  })
})

const redirects: readonly [string, number, string][] = [
  ['/', 302, '/ui/'],
  ['/ui', 301, '/ui/'],
  ['/ui?tab=pools', 301, '/ui/?tab=pools'],
  ['/ui/docs', 301, '/ui/docs/'],
]
test.each(redirects)('%s leads on', async (path, status, location) => {
  const answer = await get(path)
  const { headers } = answer
  expect([answer.status, headers.get('location')]).toEqual([status, location])
  expect(headers.get('cache-control')).toBe('no-store')
})

test('where it is not built a page says what to run', async () => {
  port = await start(null)
  expect((await get('/')).headers.get('location')).toBe('/ui/')
  const answer = await get('/ui/')
  expect([answer.status, await answer.text()]).toEqual([
    200,
    expect.stringContaining('npm run build:dashboard'),
  ])
  expect(answer.headers.get('x-frame-options')).toBe('DENY')
})

test('the compressed file beside a file is sent in its place', async () => {
  writeFileSync(join(directory, 'assets/app.js.gz'), gzipSync('export const name = "small"'))
  const answer = await get('/ui/assets/app.js', { headers: { 'accept-encoding': 'gzip' } })
  expect(answer.headers.get('content-encoding')).toBe('gzip')
  expect(await answer.text()).toBe('export const name = "small"')
})

test('a directory that is a link to a release follows the link', async () => {
  fill(join(place, 'second'), 'two')
  symlinkSync('ui', join(place, 'current'))
  port = await start(join(place, 'current'))
  expect(await (await get('/ui/assets/app.js')).text()).toContain('one')
  symlinkSync('second', join(place, 'next'))
  renameSync(join(place, 'next'), join(place, 'current'))
  expect(await (await get('/ui/assets/app.js')).text()).toContain('two')
})

describe('404 is all that is said of', () => {
  const paths: readonly [string, string][] = [
    ['what is not there', '/ui/assets/none.js'],
    ['a directory without index.html', '/ui/empty/'],
    ['the list of a directory', '/ui/assets/'],
    ['a name that begins with a dot', '/ui/.env'],
    ['the same, encoded', '/ui/%2eenv'],
    ['the same, further down', '/ui/assets/.map'],
    ['a directory of such a name', '/ui/.git/config'],
    ['a way out', '/ui/../secret.txt'],
    ['a way out, encoded', '/ui/%2e%2e/secret.txt'],
    ['a way out, encoded with its slash', '/ui/..%2fsecret.txt'],
    ['a way out, encoded twice', '/ui/%252e%252e%252fsecret.txt'],
    ['a way out with backslashes', '/ui/..\\secret.txt'],
    ['a way out and in again', '/ui/assets/../../ui/index.html'],
    ['a path of the machine', '/ui//etc/passwd'],
    ['an octet 0', '/ui/index.html%00.js'],
    ['a link to a file outside', '/ui/assets/out.txt'],
    ['a link to a directory outside', '/ui/assets/outside/'],
    ['the same without its slash', '/ui/assets/outside'],
    ['a file behind such a link', '/ui/assets/outside/secret.txt'],
    ['an absent file behind such a link', '/ui/assets/outside/none.txt'],
    ['a link to a hidden file', '/ui/assets/env.txt'],
    ['a pipe', '/ui/assets/pipe'],
    ['a name that is too long', `/ui/${'x'.repeat(4_000)}`],
  ]
  test.each(paths)('%s', async (_title, path) => {
    symlinkSync('../../secret.txt', join(directory, 'assets/out.txt'))
    symlinkSync('../..', join(directory, 'assets/outside'))
    symlinkSync('../.env', join(directory, 'assets/env.txt'))
    execFileSync('mkfifo', [join(directory, 'assets/pipe')])
    const { status, text } = await getRaw(path)
    expect(status).toBe(404)
    expect(text).not.toContain('hush')
    expect(text).toMatch(/\r\n\r\n\{"error":"there is no GET /)
  })

  test('a method that changes something', async () => {
    const answer = await get('/ui/index.html', { method: 'POST' })
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: 'there is no POST /ui/index.html' },
    ])
  })

  test.each(['/ui', '/ui/', '/ui/index.html'])('%s without the setting', async (path) => {
    port = await start()
    expect((await get(path)).status).toBe(404)
  })
})

test('without the setting / leads to the reference', async () => {
  port = await start()
  const answer = await get('/')
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/api/v1/docs'])
  const page = await get('/api/v1/docs')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
})

describe('a directory is refused', () => {
  const remedy = 'name the directory that the build of the dashboard has written, or remove the key'
  const rows: readonly [string, () => string, string][] = [
    [
      'that is not there',
      () => join(place, 'none'),
      `there is no directory PLACE/none that can be read; ${remedy}`,
    ],
    [
      'that is a file',
      () => join(place, 'secret.txt'),
      `there is no directory PLACE/secret.txt that can be read; ${remedy}`,
    ],
    [
      'without index.html',
      () => join(directory, 'assets'),
      `PLACE/ui/assets has no index.html; ${remedy}`,
    ],
    [
      'whose index.html leads out',
      () => {
        mkdirSync(join(place, 'linked'))
        symlinkSync('../ui/index.html', join(place, 'linked/index.html'))
        return join(place, 'linked')
      },
      `PLACE/linked has no index.html; ${remedy}`,
    ],
    [
      'that holds the data directory',
      () => {
        writeFileSync(join(place, 'index.html'), page)
        return place
      },
      'PLACE holds PLACE/data, which everybody could then read; ' +
        'give the dashboard a directory of its own',
    ],
    [
      'that holds a file which is not there yet',
      () => {
        symlinkSync(directory, join(place, 'current'))
        renameSync(directory, join(place, 'release'))
        symlinkSync('release', directory)
        return join(place, 'release')
      },
      'PLACE/release holds PLACE/current/log/audit.json, which everybody could then read; ' +
        'give the dashboard a directory of its own',
    ],
    [
      'that is in the data directory',
      () => {
        fill(join(place, 'data/keys/ui'), 'one')
        symlinkSync('data/keys/ui', join(place, 'inside'))
        return join(place, 'inside')
      },
      'PLACE/inside is in the data directory PLACE/data, whose files everybody could then read; ' +
        'give the dashboard a directory outside',
    ],
  ]
  const paths = () => ({
    dataDir: join(place, 'data'),
    others: ['/var/lib/gslbd/backups', join(place, 'current/log/audit.json')],
  })
  test.each(rows)('%s', (_title, made, sentence) => {
    const fault = dashboardFault(made(), paths())
    expect(fault?.replaceAll(place, 'PLACE')).toBe(`api.webuiPath: ${sentence}`)
  })

  test('and none that is fit', () => {
    const others = [directory + '-data', join(place, 'gslbd.yaml')]
    expect(dashboardFault(directory, { dataDir: join(place, 'data'), others })).toBe(undefined)
  })
})

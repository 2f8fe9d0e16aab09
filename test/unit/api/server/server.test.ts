import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { apiLimits } from '#http/limits.ts'
import type { GitopsStatus, OperatorView } from '#ports/operator-view.ts'
import { routes } from '#api/routes.ts'
import { createApiServer } from '#api/server/server.ts'
import type { HttpServer } from '#api/server/listening.ts'
import type { Log } from '#lib/log.ts'
import { portsOf } from '../../../support/api-ports.ts'
import { startingStatus } from '../../../support/gitops-status.ts'
import { contentTypes } from '#metrics/text/form.ts'

const held: GitopsStatus = {
  branch: 'main',
  head: 'b'.repeat(40),
  accepted: 'a'.repeat(40),
  active: 'a'.repeat(40),
  sync: 'held',
  reason: { code: 'UnsignedCommit', message: 'commit bbbbbbb has no signature', sinceMs: 1_000 },
  note: null,
  diagnostics: [
    {
      severity: 'error',
      code: 'unknown-pool',
      message: 'there is no pool "wbe"',
      help: 'did you mean "web"?',
      file: 'tenants/acme/services/www.yaml',
      line: 4,
      column: 9,
    },
  ],
  lookedFromMs: 1_000,
  node: {
    channel: 'main',
    seq: 7,
    serial: 7,
    digest: 'c'.repeat(64),
    issuedAtMs: 1_000,
    ageSeconds: 12.5,
    expired: false,
    swapCount: 7,
    lastSwapMs: 0.4,
    refused: null,
  },
}
const plainView: OperatorView = {
  health: () => ({ status: 'ok', reasons: [] }),
  unready: () => [],
  gitops: () => held,
  metrics: async () => ({ type: contentTypes.prometheus, text: 'gslbd_up 1\n' }),
}

type Line = readonly [level: string, fields: object, message: string]
const running: HttpServer[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()))
})

function create(
  view: Partial<OperatorView>,
  listenAddr: string,
  port: number,
): [HttpServer, Line[]] {
  const lines: Line[] = []
  const log: Log = {
    info: (fields, message) => lines.push(['info', fields, message]),
    warn: (fields, message) => lines.push(['warn', fields, message]),
    error: (fields, message) => lines.push(['error', fields, message]),
  }
  const ports = portsOf({ view: { ...plainView, ...view }, log })
  const options = { trustedProxies: [], allowDevMode: true }
  const server = createApiServer({ ports, log, listenAddr, port, ...options })
  running.push(server)
  return [server, lines]
}

async function start(view: Partial<OperatorView> = {}): Promise<[origin: string, lines: Line[]]> {
  const [server, lines] = create(view, '127.0.0.1', 0)
  const listening = await server.listen()
  if (!listening.ok) throw new Error(listening.error)
  return [`http://127.0.0.1:${listening.value.port}`, lines]
}

/** Sends bytes as they are and reads until the server closes. */
async function sendRaw(origin: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  socket.write(bytes)
  await once(socket, 'close')
  return answer
}

const away = { code: 'database-away', message: 'The database was not reached yet.' }

describe('GET /api/v1/ready', () => {
  test('is 503 with its reasons until nothing is missing, and needs no credential', async () => {
    const missing = [away]
    const [origin] = await start({ unready: () => missing })
    const early = await fetch(`${origin}/api/v1/ready`)
    const error = `not ready: ${away.message}`
    expect([early.status, await early.json()]).toEqual([503, { error, reasons: [away] }])
    expect(early.headers.get('retry-after')).toBe('2')
    missing.pop()
    const ready = await fetch(`${origin}/api/v1/ready`)
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', reasons: [] }])
    expect(routes.find(({ path }) => path === '/api/v1/ready')?.needs).toBe('public')
  })
})

describe('GET /api/v1/health', () => {
  test.each(['ok', 'degraded', 'starting'] as const)('says %s with status 200', async (status) => {
    const reasons = status === 'ok' ? [] : [away]
    const [origin] = await start({ health: () => ({ status, reasons }) })
    const answer = await fetch(`${origin}/api/v1/health`)
    expect([answer.status, await answer.json()]).toEqual([200, { status, reasons }])
  })

  test('needs no credential', () => {
    expect(routes.find(({ path }) => path === '/api/v1/health')?.needs).toBe('public')
  })
})

describe('GET /api/v1/gitops/status', () => {
  test('shows a held head with its reason, its diagnostics and the node', async () => {
    const [origin] = await start()
    expect(await (await fetch(`${origin}/api/v1/gitops/status`)).json()).toEqual(held)
  })

  test('shows null for what is not there yet', async () => {
    const [origin] = await start({ gitops: () => startingStatus })
    expect(await (await fetch(`${origin}/api/v1/gitops/status`)).json()).toEqual(startingStatus)
  })

  test('sends no field that its schema does not name', async () => {
    const [origin] = await start({ gitops: () => ({ ...held, remotePassword: 'hunter2' }) })
    expect(await (await fetch(`${origin}/api/v1/gitops/status`)).text()).not.toContain('hunter2')
  })
})

test('GET /metrics is Prometheus text', async () => {
  const [origin] = await start()
  const answer = await fetch(`${origin}/metrics`)
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await answer.text()).toBe('gslbd_up 1\n')
})

test('no answer tells which software or version gives it', async () => {
  const [origin] = await start()
  for (const path of ['/api/v1/health', '/nothing', '/metrics']) {
    const { headers } = await fetch(origin + path)
    expect([headers.get('server'), headers.get('x-powered-by')]).toEqual([null, null])
    expect(headers.get('cache-control')).toBe('no-store')
  }
})

describe('a refusal is {"error": …}', () => {
  const rows: readonly [string, string, RequestInit, number, string][] = [
    ['an unknown path', '/api/v1/nothing', {}, 404, 'there is no GET /api/v1/nothing'],
    ['a path with a query', '/x?secret=1', {}, 404, 'there is no GET /x'],
    [
      'a known path, other method',
      '/metrics',
      { method: 'DELETE' },
      405,
      'DELETE is not possible here; allowed: GET, HEAD',
    ],
    [
      'a path with an id that is longer than any',
      `/api/v1/pools/${'x'.repeat(300)}?secret=1`,
      {},
      404,
      `there is no GET /api/v1/pools/${'x'.repeat(186)}…`,
    ],
    ['a URL that cannot be decoded', '/%zz', {}, 400, 'the URL is malformed'],
  ]
  test.each(rows)('for %s', async (_title, path, init, status, error) => {
    const [origin] = await start()
    const answer = await fetch(origin + path, init)
    expect([answer.status, await answer.json()]).toEqual([status, { error }])
  })

  test('for a body above the limit', async () => {
    const [origin] = await start()
    const body = JSON.stringify('x'.repeat(apiLimits.bodyBytesMax))
    const answer = await fetch(`${origin}/x`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const { bodyBytesMax } = apiLimits
    const error = `the body is larger than ${bodyBytesMax} octets, which is the limit here`
    expect([answer.status, await answer.json()]).toEqual([413, { error }])
  })

  const raw: readonly [string, string, string, string][] = [
    [
      'bytes that are not HTTP',
      '\u0016\u0003\u0001 hello\r\n\r\n',
      '400 Bad Request',
      'the request is not HTTP/1.1',
    ],
    [
      'headers above the limit',
      `GET /metrics HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(apiLimits.headerBytesMax)}\r\n\r\n`,
      '431 Request Header Fields Too Large',
      'the request headers are too large',
    ],
    [
      'two hosts',
      'GET /metrics HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n',
      '400 Bad Request',
      'the header Host is there more than once; give it once',
    ],
    [
      'two lengths of one body',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
      '400 Bad Request',
      'the request is not HTTP/1.1',
    ],
  ]
  test.each(raw)('for %s', async (_title, bytes, statusLine, error) => {
    const [origin] = await start()
    const answer = await sendRaw(origin, bytes)
    expect(answer.split('\r\n')[0]).toBe(`HTTP/1.1 ${statusLine}`)
    expect(answer.split('\r\n\r\n')[1]).toBe(JSON.stringify({ error }))
    expect((await fetch(`${origin}/api/v1/health`)).status).toBe(200)
  })

  test.each([
    ['/api/v1/nope#%zz', 404],
    ['/api/v1/nope#%', 404],
    ['/api/v1/health#%zz', 405],
    ['/api/v1/nope?x=%zz#%zz', 404],
  ])('for a PUT of %s, what is behind # is not read', async (target, status) => {
    const [origin, lines] = await start()
    const head = `PUT ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
    expect(await sendRaw(origin, head)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(lines.filter(([level]) => level === 'error')).toEqual([])
  })

  test('for a failure of ours, whose cause is in the log only', async () => {
    const broken = (): never => {
      throw new Error('the cause with its details')
    }
    const [origin, lines] = await start({ gitops: broken })
    const answer = await fetch(`${origin}/api/v1/gitops/status`)
    expect([answer.status, await answer.json()]).toEqual([
      500,
      { error: 'internal error; see the log' },
    ])
    expect(lines.find(([level]) => level === 'error')?.[1]).toMatchObject({
      err: { message: 'the cause with its details' },
      route: '/api/v1/gitops/status',
    })
  })
})

describe('listening', () => {
  test('names the setting when the port is taken', async () => {
    const [origin] = await start()
    const port = Number(new URL(origin).port)
    const [second] = create({}, '127.0.0.1', port)
    expect(await second.listen()).toEqual({
      ok: false,
      error:
        `the API cannot listen on 127.0.0.1:${port}: another program listens there; ` +
        'stop it, or set api.port to a free port',
    })
  })

  test('names the setting when the address is not of this machine', async () => {
    const [server] = create({}, '192.0.2.1', 0)
    expect(await server.listen()).toEqual({
      ok: false,
      error:
        'the API cannot listen on 192.0.2.1:0: this machine does not have that address; ' +
        'set api.listenAddr to one it has',
    })
  })

  test('without a system key warns of dev mode', async () => {
    const [, lines] = await start()
    expect(lines.filter(([level]) => level === 'warn').map((line) => line[2])).toEqual([
      expect.stringMatching(/^DEV MODE: GSLB_API_KEY is not set/),
    ])
  })
})

describe('closing', () => {
  test('lets a request in progress finish', async () => {
    let finish = (_text: string): void => undefined
    const asked = Promise.withResolvers<undefined>()
    const [server] = create(
      {
        metrics: () => {
          asked.resolve(undefined)
          return new Promise((resolve) => {
            finish = (text) => resolve({ type: 'text/plain', text })
          })
        },
      },
      '127.0.0.1',
      0,
    )
    const listening = await server.listen()
    if (!listening.ok) throw new Error(listening.error)
    const answer = fetch(`http://127.0.0.1:${listening.value.port}/metrics`)
    await asked.promise
    const closed = server.close()
    finish('late 1\n')
    expect(await (await answer).text()).toBe('late 1\n')
    await closed
  })

  test('cuts off a client that holds its connection', async () => {
    const [origin] = await start()
    const idle = sendRaw(origin, 'GET /metrics HTTP/1.1\r\nHost: x\r\n')
    await fetch(`${origin}/api/v1/health`)
    const [server] = running.splice(0)
    const before = performance.now()
    await server?.close()
    await idle
    expect(performance.now() - before).toBeLessThan(apiLimits.closeGraceMs + 20_000)
  })
})

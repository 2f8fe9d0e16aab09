// The kinds of discovery: the table, and the settings that say which there are.
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { discoveryKinds, kindNamed } from '#integrations/discovery/kinds.ts'
import { secretOf } from '#integrations/targets/credentials.ts'
import type { KindAnswer, KindParts, SourceSettings } from '#integrations/targets/kind.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { discoveryTypes, faultsOfDiscovery } from '#settings/sections/discovery.ts'
import { askOf, asked as askedFor, startApi } from '#test/support/discovery-kinds.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const settings: SourceSettings = {
  ...{ name: 'one', type: '', path: '', url: '', user: '', kubeconfig: '', service: '' },
  ...{ intervalMs: 30_000, timeoutMs: 1_000, weightLabel: 'weight' },
  ...{ maxRemoved: 0.5, removeAfterMs: 10_000, tenants: ['default'] },
}

const parts: KindParts = {
  ...{ env: {}, resolvers: [], nowMs: () => 0 },
  secret: () => ok(undefined),
  lookup: () => Promise.resolve({ ok: false, fault: 'other' }),
}

const asked = (cursor = '', service = '') => ({
  ...{ cursor, service, signal: new AbortController().signal },
})

const faultIn = (answer: Result<KindAnswer, string>): string => (answer.ok ? '' : answer.error)

test('the settings know the kinds of the table, and what each needs', () => {
  const known = Object.entries(discoveryTypes).map(([name, { needs }]) => [name, needs])
  expect(known).toEqual(discoveryKinds.map(({ name, needs }) => [name, needs]))
})

describe('a source that the settings have wrong', () => {
  type Written = Readonly<Record<string, string | string[]>>
  const rows: readonly (readonly [source: Written, fault: string])[] = [
    [
      {},
      'discovery.sources.one.type is missing; the types are file, http, dns, consul, kubernetes, fleet',
    ],
    [
      { type: 'zookeeper' },
      '"zookeeper", which is not known; the types are file, http, dns, consul, kubernetes, fleet',
    ],
    [{ type: 'file' }, 'one.path is missing; type file needs it'],
    [{ type: 'file', path: 'targets.json' }, 'one.path is "targets.json", write an absolute path'],
    [{ type: 'file', path: '/a', url: 'http://a' }, 'one.url is not known for type file'],
    [
      { type: 'http', url: 'ftp://a' },
      'one.url is no address that begins with http:// or https://',
    ],
    [{ type: 'http', url: 'http://me:secret@a' }, 'one.url has a name or password'],
    [
      { type: 'file', path: '/a', interval: '1ms' },
      'one.interval is "1ms", write a duration from 1s',
    ],
    [{ type: 'file', path: ['/a'] }, 'one.path is a list, write one text'],
    [{ type: 'file', path: '/a', tenants: 'acme' }, 'one.tenants is no list, write [ID, …] or'],
    [{ type: 'file', path: '/a', weightLabel: 'a b' }, 'one.weightLabel is no name of a label'],
  ]
  test.each(rows)('%j: %s', (source, fault) => {
    const faults = faultsOfDiscovery({
      discovery: { sources: { one: source }, share: false, maxRemoved: 50, removeAfterMs: 0 },
      ...{ redis: { url: '' }, roles: ['control'] },
    })
    expect(faults.join('\n')).toContain(fault)
    expect(faults.join('\n')).not.toContain('secret')
  })
})

describe('file', () => {
  const folder = makeTempDir('file-kind')
  afterAll(() => removeTempDir(folder))
  const path = join(folder, 'targets.json')
  const ask = kindNamed('file')!.create({ ...settings, path }, parts)

  test('a file is read when it is another one than before', async () => {
    writeFileSync(path, '[{"targets":["192.0.2.1:80"]}]')
    const first = await ask(asked())
    expect(first).toMatchObject({ ok: true, value: { targets: [{ address: '192.0.2.1' }] } })
    const cursor = first.ok ? first.value.cursor : ''
    expect(await ask(asked(cursor))).toEqual(ok({ targets: null, cursor }))
    writeFileSync(path, '[]')
    expect(await ask(asked(cursor))).toMatchObject({ ok: true, value: { targets: [] } })
  })

  const rows: readonly (readonly [what: string, content: string, fault: string])[] = [
    ['cut short', '[{"targets":', 'targets.json is no JSON'],
    ['of another form', '{}', 'targets.json: it is no list of target groups'],
    ['too large', ' '.repeat(discoveryLimits.bytesMax + 1), 'has more than 8388608 octets'],
  ]
  test.each(rows)('a file that is %s is refused', async (_, content, fault) => {
    writeFileSync(path, content)
    expect(faultIn(await ask(asked()))).toContain(fault)
  })

  test('a file that is wrong is not read again until it is another one', async () => {
    writeFileSync(path, '[{"targets":')
    expect(faultIn(await ask(asked()))).toContain('is no JSON')
    expect(faultIn(await ask(asked()))).toContain('is no JSON')
    writeFileSync(path, '[{"targets":["192.0.2.7:80"]}]')
    expect(await ask(asked())).toMatchObject({ value: { targets: [{ address: '192.0.2.7' }] } })
  })

  test('a folder, a pipe or a device in its place is told of, and waits for nobody', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const place of [folder, pipe, '/dev/zero']) {
      const one = kindNamed('file')!.create({ ...settings, path: place }, parts)
      expect(faultIn(await one(asked()))).toBe(`${place} is no file`)
    }
  })

  test('a file that is not there is told of', async () => {
    const none = kindNamed('file')!.create({ ...settings, path: join(folder, 'none') }, parts)
    expect(faultIn(await none(asked()))).toContain('cannot be read: ENOENT')
  })
})

interface Answer {
  readonly status: number
  readonly body: string | Buffer
  readonly etag: string
  readonly headers?: Readonly<Record<string, string>>
}

describe('http', () => {
  const requests: IncomingMessage[] = []
  let answer: Answer = { status: 200, body: '[]', etag: '' }
  const server = createServer((request, response) => {
    requests.push(request)
    const { status, etag, headers = {} } = answer
    response.writeHead(status, etag === '' ? headers : { ...headers, etag })
    response.end(answer.body)
  }).listen(0, '127.0.0.1')
  afterAll(() => server.close())
  const source = () => ({
    ...settings,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sd`,
  })

  test('a server that has an entity tag is asked for what is new', async () => {
    const ask = kindNamed('http')!.create(source(), parts)
    answer = { status: 200, body: '[{"targets":["192.0.2.1"]}]', etag: '"a"' }
    expect(await ask(asked())).toMatchObject({ ok: true, value: { cursor: '"a"' } })
    answer = { status: 304, body: '', etag: '"a"' }
    expect(await ask(asked('"a"'))).toEqual(ok({ targets: null, cursor: '"a"' }))
    const { headers } = requests.at(-1)!
    expect([headers['if-none-match'], headers['accept-encoding']]).toEqual(['"a"', 'identity'])
  })

  const gzip = { 'content-encoding': 'gzip' }
  const rows: readonly (readonly [answer: Answer, fault: string])[] = [
    [{ status: 200, body: gzipSync('[]'), etag: '', headers: gzip }, 'is compressed (gzip)'],
    [{ status: 503, body: 'closed', etag: '' }, 'answered 503 to GET /sd: closed'],
    [{ status: 401, body: '', etag: '' }, '(look at the credentials)'],
    [{ status: 302, body: '[]', etag: '' }, 'answered 302'],
    [{ status: 204, body: '', etag: '' }, 'answered 204'],
    [{ status: 200, body: '<html>', etag: '' }, 'something that is no JSON'],
    [{ status: 200, body: '{}', etag: '' }, 'it is no list of target groups'],
    [{ status: 200, body: ' '.repeat(9_000_000), etag: '' }, 'has more than 8388608 octets'],
  ]
  test.each(rows)('an answer %# that gives no targets is a fault', async (given, fault) => {
    answer = given
    const ask = kindNamed('http')!.create(source(), parts)
    expect(faultIn(await ask(asked()))).toContain(fault)
  })

  test.each(['cut', 'silence'] as const)('a body that ends in a %s is a fault', async (then) => {
    const api = await startApi(() => ({ text: '[{"targets":["192.0.2.1"]}]\n', then }))
    const said = faultIn(await askOf('http', { url: api.url, timeoutMs: 300 })(askedFor('')))
    expect(said).toMatch(then === 'cut' ? /cannot be asked: / : / did not answer within 0.3 s$/)
    api.stop()
  })

  test('a token of the environment is sent, or a name with its password', async () => {
    answer = { status: 200, body: '[]', etag: '' }
    const env = { GSLB_DISCOVERY_MY_ONE_TOKEN: 'tok', GSLB_DISCOVERY_OTHER_PASSWORD_FILE: '/pw' }
    const parted = (name: string) => ({
      ...parts,
      secret: (what: 'TOKEN' | 'PASSWORD') => secretOf(name, what, env, () => 'pass\n'),
    })
    await kindNamed('http')!.create(source(), parted('my-one'))(asked())
    expect(requests.at(-1)!.headers.authorization).toBe('Bearer tok')
    await kindNamed('http')!.create({ ...source(), user: 'me' }, parted('other'))(asked())
    const login = Buffer.from('me:pass').toString('base64')
    expect(requests.at(-1)!.headers.authorization).toBe(`Basic ${login}`)
  })
})

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest'
import type { ConfigSource } from '#gitops/source/config-source.ts'
import { gitLimits } from '#gitops/limits.ts'
import { createRemoteSource } from '#gitops/source/remote-source.ts'
import { parseRemoteUrl } from '#gitops/source/remote-url.ts'
import { gitHttpServer, httpAccess } from '../../../support/git-http-server.ts'
import type { GitHttpServer } from '../../../support/git-http-server.ts'
import { cpuMsOf } from '../../../support/cpu-time.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'
import { laneRows, onlyLong } from '../../../support/lane.ts'
import type { GitSandbox } from '../../../support/git-sandbox.ts'
import { quickCommits } from '../../../support/quick-commits.ts'
import { reconcileBench } from '../../../support/reconcile-bench.ts'
import type { Bench } from '../../../support/reconcile-bench.ts'

type End = () => void | Promise<void>

interface Scene {
  readonly box: GitSandbox
  readonly server: GitHttpServer
  readonly source: ConfigSource
  readonly bench: Bench
  /** Puts a signed commit on the server, with these files beside its own; returns the commit. */
  readonly push: (more?: Readonly<Record<string, string>>) => string
  /** Runs git where the server has the repository. */
  readonly served: (...args: string[]) => string
  /** A clone to work in; returns its path. */
  readonly clone: () => string
  readonly open: (url?: string, data?: string, searchPath?: string) => ConfigSource
  /** From now on a server that is silent for a moment is given up. */
  readonly hurry: () => void
  /** No longer. */
  readonly calm: () => void
}

const credentials = 'Basic cmVhZGVyOnMzY3JldA=='

/** @param atEnd registers what ends it; by default at the end of the test */
async function scene(atEnd: (end: End) => void = onTestFinished): Promise<Scene> {
  const box = gitSandbox(atEnd)
  const key = box.sshKey('alice')
  box.write('allowed_signers', `alice@example.com ${key.publicLine}\n`)
  const gitdir = box.at('root/config.git')
  box.git(box.path, 'init', '-q', '--bare', '-b', 'main', gitdir)
  const commit = quickCommits(gitdir, key.path)
  let count = 0
  const push: Scene['push'] = (more = {}) =>
    commit({ files: { 'a.yaml': `${count++}\n`, ...more }, message: `change ${count}` })
  const served: Scene['served'] = (...args) => box.git(gitdir, ...args)
  const clone = (): string => {
    box.git(box.path, 'clone', '-q', gitdir, 'repo')
    return box.at('repo')
  }
  const server = await gitHttpServer(box.at('root'), atEnd)
  const stop = new AbortController()
  const limits = { idleMs: 20_000, totalMs: 120_000, bytesMax: 1_000_000 }
  const open = (
    url = server.url('config.git'),
    data = 'data',
    searchPath: string = httpAccess.searchPath,
  ): ConfigSource => {
    const parsed = parseRemoteUrl(url, '')
    assert(parsed.ok && parsed.value.kind === 'http')
    return createRemoteSource({
      url: parsed.value.url,
      credentials: parsed.value.credentials,
      access: { ...httpAccess, searchPath },
      branch: 'main',
      gitdir: box.at(data, 'gitops/mirror.git'),
      limits,
      stop: stop.signal,
    })
  }
  const source = open()
  const bench = reconcileBench({
    gitdir: '',
    source,
    dataDir: box.at('data'),
    allowedSignersPath: box.at('allowed_signers'),
  })
  const { idleMs } = limits
  const hurry = (): void => void (limits.idleMs = 300)
  const calm = (): void => void (limits.idleMs = idleMs)
  return { box, server, source, bench, push, served, clone, open, hurry, calm }
}

test('follows a remote: clone, nothing new, one new commit', async () => {
  const { bench, push, server } = await scene()
  const first = push()
  assert.equal((await bench.check()).accepted?.commit, first)
  const asked = server.requests.length
  assert.equal((await bench.check()).sync, 'synced')
  assert.equal(server.requests.length - asked, 2, 'a look without news asks for the refs only')
  const second = push()
  const status = await bench.check()
  assert.equal(status.accepted?.commit, second, status.reason)
  assert.deepEqual(
    bench.published.map(({ commit }) => commit),
    [first, second],
  )
})

test('a rewritten remote is held until it contains the accepted commit again', async () => {
  const { bench, push, served } = await scene()
  push()
  const accepted = push()
  await bench.check()
  served('update-ref', 'refs/heads/main', 'main~1')
  push()
  assert.equal((await bench.check()).code, 'HistoryRewritten')
  served('update-ref', 'refs/heads/main', accepted)
  const next = push()
  const status = await bench.check()
  assert.equal(status.accepted?.commit, next, status.reason)
})

test('takes an attestation from the remote', async () => {
  const { bench, push, box, clone } = await scene()
  push()
  await bench.check()
  const repo = clone()
  box.git(repo, 'commit', '-q', '--allow-empty', '-m', 'squashed')
  box.git(repo, 'push', '-q', 'origin', 'main')
  assert.equal((await bench.check()).code, 'Unsigned')
  box.run(process.execPath, [
    fileURLToPath(import.meta.resolve('#cli/main.ts')),
    'attest',
    '--repo',
    repo,
    '--key',
    box.at('alice'),
  ])
  box.git(repo, 'push', '-q', 'origin', 'refs/gslb/attest/*:refs/gslb/attest/*')
  const status = await bench.check()
  assert.equal(status.accepted?.commit, box.git(repo, 'rev-parse', 'HEAD'), status.reason)
})

const failures: readonly [
  title: string,
  act: (server: GitHttpServer) => unknown,
  code: string,
  says: RegExp,
][] = [
  [
    'missing credentials',
    (s) => (s.authorization = credentials),
    'Unauthorized',
    /Username.*GSLB_GITOPS_URL/,
  ],
  ['a forbidden repository', (s) => (s.behave = { status: 403 }), 'Unauthorized', /403/],
  [
    'a repository that is not there',
    (s) => (s.behave = { status: 404 }),
    'NotFound',
    /not found.*gitops.url/,
  ],
  ['a server error', (s) => (s.behave = { status: 500 }), 'ServerError', /500/],
  ['a request limit', (s) => (s.behave = { status: 429 }), 'TooManyRequests', /429.*gitops.poll/],
  ['a server that never answers', (s) => (s.behave = 'hang'), 'Timeout', /did not answer in time/],
  [
    'a server that stops in the middle',
    (s) => (s.behave = 'hang-in-body'),
    'Timeout',
    /did not answer in time/,
  ],
  ['a connection that is cut', (s) => (s.behave = 'cut'), 'ConnectionFailed', /Empty reply/],
  ['a web page', (s) => (s.behave = 'web-page'), 'NotGit', /It does not answer as a Git server/],
  [
    'a port where nobody listens',
    (s) => s.close(),
    'ConnectionFailed',
    /connect.*Check that the Git server runs/,
  ],
]
// One of each code, and of what is an answer and what is none.
const shortFailures = new Set(failures.map(([, , code]) => failures.find((row) => row[2] === code)))

describe('a remote that fails', () => {
  const ends: End[] = []
  let at: Scene
  let accepted = ''
  beforeAll(async () => {
    at = await scene((end) => void ends.push(end))
    accepted = at.push()
    await at.bench.check()
  })
  afterAll(async () => {
    for (const end of ends.toReversed()) await end()
  })

  const rows = laneRows(failures, (row) => shortFailures.has(row))
  test.each(rows)('%s is told apart, and what was accepted stays', async (_, act, code, says) => {
    const { bench, server, hurry, calm } = at
    if (code === 'Timeout') hurry()
    await act(server)
    const status = await bench.check()
    assert.deepEqual([status.sync, status.code], ['unreachable', code], status.reason)
    assert.match(status.reason, says)
    assert.equal(status.accepted?.commit, accepted)
    const told = bench.changes.length
    await bench.check()
    assert.equal(bench.changes.length, told, 'the reason is told once')
    calm()
    Object.assign(server, { behave: 'serve', authorization: '' })
  })
})

onlyLong(() => {
  test('a server that hangs while the pack is sent is given up', async () => {
    const { bench, push, server, hurry, calm } = await scene()
    push()
    await bench.check()
    push()
    const serve = server.requests.length
    // The two requests for the refs are answered, the fetch is not.
    server.onRequest = () => {
      if (server.requests.length === serve + 2) hurry()
      if (server.requests.length > serve + 2) server.behave = 'hang'
    }
    const status = await bench.check()
    assert.equal(status.code, 'Timeout', status.reason)
    server.onRequest = () => undefined
    server.behave = 'serve'
    calm()
    assert.equal((await bench.check()).sync, 'synced')
  })
})

onlyLong(() => {
  test('an answer without end is cut off, and leaves nothing on the disk', async () => {
    const { box, push, server, open } = await scene()
    const big = (): string => randomBytes(350_000).toString('hex')
    push({ 'big0.yaml': big(), 'big1.yaml': big(), 'big2.yaml': big(), 'big3.yaml': big() })
    const bench = reconcileBench({
      gitdir: '',
      source: open(server.url('config.git'), 'other'),
      dataDir: box.at('other'),
      allowedSignersPath: box.at('allowed_signers'),
    })
    const status = await bench.check()
    assert.equal(status.code, 'TooLarge', status.reason)
    assert.match(status.reason, /larger than 1000000 bytes/)
    assert.deepEqual(readdirSync(box.at('other/gitops/mirror.git/objects/pack')), [])
  })
})

test('credentials of the URL are sent, and shown nowhere', async () => {
  const { box, push, server, open } = await scene()
  push()
  server.authorization = credentials
  const url = server.url('config.git').replace('//', '//reader:s3cret@')
  const bench = reconcileBench({
    gitdir: '',
    source: open(url, 'other'),
    dataDir: box.at('other'),
    allowedSignersPath: box.at('allowed_signers'),
  })
  assert.equal((await bench.check()).sync, 'synced')
  server.behave = { status: 500 }
  const status = await bench.check()
  assert.equal(status.sync, 'unreachable')
  const onDisk = box.run('sh', ['-c', `grep -rl s3cret ${box.at('other')} || true`])
  assert.equal(onDisk, '')
  assert(!JSON.stringify([status, bench.changes]).includes('s3cret'))
})

test('credentials do not follow to where the address leads', async () => {
  const { box, push, server, open } = await scene()
  push()
  const other = await gitHttpServer(box.at('root'))
  other.authorization = credentials
  server.behave = { status: 302, location: new URL(other.url('')).origin }
  const url = server.url('config.git').replace('//', '//reader:s3cret@')
  const head = await open(url, 'other').head()
  assert(!head.ok && head.error.code === 'Unauthorized')
  other.authorization = ''
  assert((await open(url, 'other').head()).ok)
})

test('credentials are not told to a helper of the repository that gslbd starts in', async () => {
  const { box, push, server, served, open } = await scene()
  push()
  server.authorization = 'Basic b3RoZXI='
  const repo = box.at('root/config.git')
  served('config', 'credential.helper', `!cat >>${box.at('told')}; :`)
  const program = box.run('sh', ['-c', 'command -v git'])
  box.write('bin/git', `#!/bin/sh\ncd ${repo} && exec ${program} "$@"\n`)
  chmodSync(box.at('bin/git'), 0o755)
  const url = server.url('config.git').replace('//', '//reader:s3cret@')
  const head = await open(url, 'other', `${box.at('bin')}:${httpAccess.searchPath}`).head()
  assert(!head.ok && head.error.code === 'Unauthorized')
  assert(!existsSync(box.at('told')))
})

test('a long line of a server takes time that grows with its length, and no faster', async () => {
  const { box, push, server, open } = await scene()
  const head = push()
  const said = `fatal: remote error: x${'\t'.repeat(60_000)}x`
  box.write('bin/git', `#!/bin/sh\nprintf '%s\\n' '${said}' >&2; exit 1\n`)
  chmodSync(box.at('bin/git'), 0o755)
  const searchPath = `${box.at('bin')}:${httpAccess.searchPath}`
  const source = open(server.url('config.git'), 'other', searchPath)
  // Some milliseconds; with the square of the length it was seconds.
  assert((await cpuMsOf(() => source.fetch(head))) < 1_000)
})

const broken: readonly [title: string, said: string, code: string, says: RegExp][] = [
  ['cut', 'fatal: early EOF', 'ConnectionFailed', /early EOF. Look at the Git server/],
  [
    'refused by the disk',
    'error: unable to create temporary file: Permission denied',
    'Unreadable',
    /unable to create.*Check the disk of the data directory/,
  ],
]
for (const [title, said, code, says] of broken) {
  test(`a fetch that is ${title} says so, and leaves alone what git packs meanwhile`, async () => {
    const { box, push, server, open } = await scene()
    const head = push()
    const packing = box.at('other/gitops/mirror.git/objects/pack/tmp_pack_1')
    box.write('bin/git', `#!/bin/sh\ntruncate -s 1000000 ${packing}; echo "${said}" >&2; exit 1\n`)
    chmodSync(box.at('bin/git'), 0o755)
    const searchPath = `${box.at('bin')}:${httpAccess.searchPath}`
    const fetched = await open(server.url('config.git'), 'other', searchPath).fetch(head)
    assert(!fetched.ok)
    assert.equal(fetched.error.code, code)
    assert.match(fetched.error.reason, says)
    // A mirror that cannot be used is fetched anew.
    assert.equal(existsSync(packing), code !== 'Unreadable')
  })
}

test('a token without a user gets one: git sends none without', () => {
  const parsed = parseRemoteUrl('https://:t0ken@git.example.com/config.git', '')
  assert(parsed.ok && parsed.value.kind === 'http')
  assert.equal(parsed.value.credentials, 'x-access-token:t0ken')
})

test('a server of the older protocol is followed, with commits and without', async () => {
  const { box, bench, push, server, open } = await scene()
  server.isModern = false
  box.git(box.path, 'init', '-q', '--bare', '-b', 'main', 'root/empty.git')
  assert.deepEqual(await open(server.url('empty.git'), 'other').head(), { ok: true, value: null })
  const first = push()
  const asked = server.requests.length
  assert.deepEqual(await open().head(), { ok: true, value: first })
  assert.equal(server.requests.length - asked, 1)
  assert.equal((await bench.check()).accepted?.commit, first)
})

test('without the program git a fetch says what to install', async () => {
  const { push, server, open } = await scene()
  const head = push()
  const fetched = await open(server.url('config.git'), 'other', '/nowhere').fetch(head)
  assert(!fetched.ok && fetched.error.code === 'ConnectionFailed')
  assert.match(
    fetched.error.reason,
    /git is not on the PATH of gslbd. Install it: apt-get install git/,
  )
})

test('the next start serves the accepted commit without the remote', async () => {
  const { box, bench, push, server, open } = await scene()
  const accepted = push()
  await bench.check()
  await server.close()
  const again = reconcileBench({
    gitdir: '',
    source: open(),
    dataDir: box.at('data'),
    allowedSignersPath: box.at('allowed_signers'),
  })
  const status = await again.check()
  assert.equal(status.sync, 'unreachable')
  assert.deepEqual(
    again.published.map(({ commit }) => commit),
    [accepted],
  )
  assert.equal(again.published[0]?.signedRecord.record.seq, 1)
})

test('a mirror with a damaged pack is fetched anew', async () => {
  const { box, bench, push, open } = await scene()
  push()
  await bench.check()
  const packs = box.at('data/gitops/mirror.git/objects/pack')
  box.run('sh', [
    '-c',
    `for f in ${packs}/*.pack; do chmod u+w $f; head -c 100 /dev/zero > $f; done`,
  ])
  const head = push()
  const again = reconcileBench({
    gitdir: '',
    source: open(),
    dataDir: box.at('data'),
    allowedSignersPath: box.at('allowed_signers'),
  })
  let status = await again.check()
  if (status.sync !== 'synced') status = await again.check()
  assert.equal(status.accepted?.commit, head, status.reason)
})

onlyLong(() => {
  test('a mirror of many packs is fetched anew in one', async () => {
    const { box, bench, push } = await scene()
    push()
    await bench.check()
    const packs = box.at('data/gitops/mirror.git/objects/pack')
    for (let i = 0; i < gitLimits.mirrorPacksMax; i++) {
      const hash = `${i}`.padStart(40, '0')
      box.write(`data/gitops/mirror.git/objects/pack/pack-${hash}.pack`, '')
    }
    const head = push()
    assert.equal((await bench.check()).accepted?.commit, head)
    assert.equal(box.run('sh', ['-c', `ls ${packs}/*.pack | wc -l`]), '1')
  })
})

const urls: readonly [url: string, isOk: boolean, shows: string][] = [
  ['https://git.example.com/config.git', true, 'https://git.example.com/config.git'],
  ['https://u:p@git.example.com/config.git/', true, 'https://git.example.com/config.git'],
  ['https://u:50%@git.example.com/config.git', true, 'https://git.example.com/config.git'],
  ['/srv/config.git', true, '/srv/config.git'],
  ['file:///srv/config.git', true, '/srv/config.git'],
  ['git@github.com:acme/config.git', true, 'git@github.com:acme/config.git'],
  ['ssh://git@github.com:2222/acme/config.git', true, 'ssh://git@github.com:2222/acme/config.git'],
  ['ssh://git:s3cret@github.com/acme/config.git', false, 'no password'],
  ['ssh://-oProxyCommand=touch/x', false, 'https://'],
  ['git@-oProxyCommand=x:config.git', false, 'https://'],
  ['git@github.com:--upload-pack=x', false, 'https://'],
  ['git://github.com/acme/config.git', false, 'https://'],
  ['config.git', false, 'https://'],
]
for (const [url, isOk, shows] of urls) {
  test(`${isOk ? 'takes' : 'refuses'} ${url}`, () => {
    const parsed = parseRemoteUrl(url, '')
    assert.equal(parsed.ok, isOk)
    if (!parsed.ok) assert.match(parsed.error, new RegExp(shows))
    else assert.equal(parsed.value.kind === 'path' ? parsed.value.path : parsed.value.url, shows)
  })
}

test('a remote that fails while an attestation is read keeps its mirror', async () => {
  const { bench, push, box, clone, server } = await scene()
  push()
  await bench.check()
  const repo = clone()
  box.git(repo, 'commit', '-q', '--allow-empty', '-m', 'squashed')
  const head = box.git(repo, 'rev-parse', 'HEAD')
  box.git(repo, 'push', '-q', 'origin', 'main', `main:refs/gslb/attest/${head}`)
  const asked = server.requests.length
  server.onRequest = () => {
    // Head, fetch and the list of attestations are answered: six requests.
    if (server.requests.length > asked + 6) server.behave = { status: 503 }
  }
  const status = await bench.check()
  assert.deepEqual([status.sync, status.code], ['unreachable', 'ServerError'], status.reason)
  assert.equal(box.git(box.at('data/gitops/mirror.git'), 'cat-file', '-t', head), 'commit')
})

test('a remote of SHA-256 is refused by name, with commits and without', async () => {
  const { box, open, server } = await scene()
  const make = (path: string): void => {
    box.git(box.path, 'init', '-q', '--bare', '-b', 'main', '--object-format=sha256', path)
    box.git(box.at(path), 'config', 'http.receivepack', 'true')
  }
  make('root/empty.git')
  make('root/other.git')
  box.git(box.path, 'init', '-q', '-b', 'main', '--object-format=sha256', 'other')
  box.git(box.at('other'), 'commit', '-q', '--allow-empty', '-m', 'first')
  box.git(box.at('other'), 'push', '-q', box.at('root/other.git'), 'main')
  const head = await open(server.url('other.git'), 'one').head()
  assert(!head.ok)
  assert.equal(head.error.code, 'ObjectFormat')
  assert.match(head.error.reason, /SHA-256.*git init --object-format=sha1/)
  const empty = await open(server.url('empty.git'), 'two').head()
  assert(!empty.ok && empty.error.code === 'ObjectFormat')
})

// The Git side as the node runs it: its worker, the real compiler, real git and real signatures.
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { onTestFinished, test, vi } from 'vitest'
import { trustedKeyFromPem, verifyChannelRecord } from '#bundle/signature/channel.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { GitopsControl } from '#gitops/thread/control.ts'
import type { GitopsOptions } from '#gitops/thread/options.ts'
import type { CommitPublication } from '#gitops/sync/publication.ts'
import { main } from '#cli/main.ts'
import { gitHttpServer, httpAccess } from '#test/support/git-http-server.ts'
import { gitEnvironment, gitSandbox } from '#test/support/git-sandbox.ts'
import type { GitSandbox } from '#test/support/git-sandbox.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { onlyLong } from '#test/support/lane.ts'

const key = newSigningKey()
const quickstart = new URL('../../examples/quickstart', import.meta.url).pathname

/** Runs `gslbd ARGS`. */
async function gslbd(box: GitSandbox, ...args: string[]) {
  const said = { out: '', err: '' }
  const exit = await main(args, {
    out: (text) => (said.out += text),
    err: (text) => (said.err += text),
    env: {
      PATH: process.env['PATH'],
      HOME: box.path,
      GSLB_DATA_DIR: box.at('data'),
      ...gitEnvironment,
    },
    isTerminal: false,
  })
  return { exit, ...said }
}

async function node(box: GitSandbox, more: Partial<GitopsOptions> = {}) {
  const published: CommitPublication[] = []
  const changes: string[] = []
  const rests: number[] = []
  const options = {
    dataDir: box.at('data'),
    url: '',
    access: httpAccess,
    branch: 'main',
    pollMs: 30_000,
    requireSignature: true,
    allowedSignersPath: box.at('data/allowed_signers'),
    channel: 'main',
    signingKeyPem: key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    recordTtlMs: 86_400_000,
    resume: null,
    ...more,
  }
  const control = new GitopsControl(options, {
    onPublish: (publication) => published.push(publication),
    onStatus: (_status, change) => {
      if (change !== '') changes.push(change)
    },
    onRest: () => rests.push(published.length),
  })
  onTestFinished(() => control.stop())
  await control.start()
  return { control, published, changes, rests }
}

async function until(what: string, condition: () => boolean, timeoutMs = 45_000): Promise<number> {
  const startedMs = performance.now()
  await vi
    .waitUntil(condition, { timeout: timeoutMs, interval: 2 })
    .catch(() => assert.fail(`not seen: ${what}`))
  return performance.now() - startedMs
}

/** A checkout of the local origin in which commits are signed with a key of `gslbd keygen`. */
async function checkout(box: GitSandbox, origin: string) {
  const made = await gslbd(box, 'keygen', '-o', box.at('key'), '--comment', 'alice')
  assert.equal(made.exit, 0, made.err)
  mkdirSync(box.at('data'), { recursive: true })
  const trusted = await gslbd(box, 'trust', 'add', 'alice@example.com', box.at('key.pub'))
  assert.equal(trusted.exit, 0, trusted.err)
  await until('the origin', () => existsSync(`${origin}/HEAD`))
  box.git(box.path, 'clone', '-q', origin, 'checkout')
  const repo = box.at('checkout')
  // The commands that keygen prints.
  for (const line of made.out.matchAll(/^ {2}git (config .*)$/gm))
    box.git(repo, ...line[1]!.split(' '))
  cpSync(quickstart, repo, { recursive: true })
  const commit = (message: string, ...args: string[]): string => {
    box.git(repo, 'add', '-A')
    box.git(repo, 'commit', '-q', '-m', message, ...args)
    return box.git(repo, 'rev-parse', 'HEAD')
  }
  const push = (): string => box.git(repo, 'push', '-q', 'origin', 'HEAD:main')
  const edit = (file: string, change: (text: string) => string): void => {
    const path = `${repo}/${file}`
    writeFileSync(path, change(readFileSync(path, 'utf8')))
  }
  return { repo, commit, push, edit }
}

/** Longer than any test waits: no change comes by polling. */
const slowPollMs = 120_000

test('a signed commit pushed to the local origin is published before the next poll', async () => {
  const box = gitSandbox()
  const { control, published, changes, rests } = await node(box, { pollMs: slowPollMs })
  await until('the empty origin', () => control.status().code === 'BranchMissing')
  const { commit, push, edit } = await checkout(box, box.at('data/config.git'))
  const first = commit('first')
  push()
  await until('the first bundle', () => published.length === 1)
  const service = 'tenants/default/services/www.yaml'

  edit(service, (text) => `${text}# a note\n`)
  const second = commit('note')
  push()
  const tookMs = await until('the second bundle', () => published.length === 2)
  assert(tookMs < slowPollMs / 4, `${tookMs} ms`)
  const { signedRecord, bundle } = published[1]!
  const pem = key.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const record = verifyChannelRecord(signedRecord, [trustedKeyFromPem(pem)])
  assert(record.ok && loadBundle(bundle).ok && bundle.buffer instanceof SharedArrayBuffer)
  assert.deepEqual([record.value.seq, record.value.commit], [2, second])
  assert.equal(record.value.previous, published[0]?.signedRecord.record.digest)
  assert.equal(published[0]?.commit, first)
  // Its memory for them is given back, and it goes on.
  await until('a rest after both', () => rests.includes(2))

  edit(service, (text) => text.replace(/pool: .*/, 'pool: nowhere'))
  commit('typo')
  push()
  await until('the hold', () => control.status().sync === 'held')
  const { code, diagnostics, accepted } = control.status()
  assert.deepEqual(
    [code, diagnostics[0]?.file, accepted?.commit],
    ['CompileFailed', service, second],
  )
  assert.match(changes.at(-1) ?? '', /services\/www.yaml:\d+:\d+: error .*\n[^]*\^/)

  box.git(box.at('checkout'), 'revert', '--no-edit', 'HEAD')
  push()
  await until('the revert', () => control.status().sync === 'synced')
  edit(service, (text) => `${text}# unsigned\n`)
  commit('unsigned', '--no-gpg-sign')
  push()
  await until('the unsigned commit', () => control.status().code === 'Unsigned')

  const attested = await gslbd(box, 'attest', '--repo', box.at('checkout'), '--key', box.at('key'))
  assert.equal(attested.exit, 0, attested.err)
  const command = /git (push origin .*)/.exec(attested.out)![1]!
  box.git(box.at('checkout'), ...command.split(' '))
  await until('the attestation', () => control.status().sync === 'synced')
})

onlyLong(() => {
  test('a node that starts again publishes nothing new, and goes on from there', async () => {
    const box = gitSandbox()
    const first = await node(box)
    const { commit, push, edit } = await checkout(box, box.at('data/config.git'))
    commit('first')
    push()
    await until('the first bundle', () => first.published.length === 1)
    await first.control.stop()
    const { seq, digest } = first.published[0]!.signedRecord.record
    const second = await node(box, { resume: { seq, digest } })
    await until('the renewal', () => second.published.length === 1)
    const renewed = second.published[0]!.signedRecord.record
    assert.deepEqual([renewed.seq, renewed.digest], [seq, digest])
    edit('tenants/default/services/www.yaml', (text) => `${text}# a note\n`)
    commit('note')
    push()
    await until('the next bundle', () => second.published.length === 2)
    assert.equal(second.published[1]?.signedRecord.record.seq, seq + 1)
  })
})

onlyLong(() => {
  test('follows a remote by polling, and picks up a reload', async () => {
    const box = gitSandbox()
    box.git(box.path, 'init', '-q', '--bare', '-b', 'main', 'root/config.git')
    const server = await gitHttpServer(box.at('root'))
    const { control, published } = await node(box, { url: server.url('config.git'), pollMs: 50 })
    const { commit, push, edit } = await checkout(box, box.at('root/config.git'))
    commit('first')
    push()
    await until('the first bundle', () => published.length === 1)
    server.behave = { status: 500 }
    await until('the failure', () => control.status().code === 'ServerError')
    server.behave = 'serve'
    edit('tenants/default/services/www.yaml', (text) => `${text}# a note\n`)
    const head = commit('note')
    push()
    await control.reload({ pollMs: 60_000 })
    await until('the second bundle', () => control.status().accepted?.commit === head)
    assert.deepEqual(published.at(-1)?.signedRecord.record.seq, 2)
    // The next check is planned once the round that accepted the head has ended.
    await until('the slower poll', () => control.status().nextCheckAtMs > Date.now() + 40_000)
  })
})

test('a remote that is neither HTTP nor SSH is refused with what to do instead', async () => {
  const box = gitSandbox()
  const { control, changes } = await node(box, { url: 'git://github.com/acme/config.git' })
  await until('the refusal', () => control.status().code === 'BadUrl')
  assert.match(control.status().reason, /https:\/\//)
  assert.equal(changes.length, 1)
})

test('a worker that dies is started again, and the status says so', async () => {
  const box = gitSandbox()
  const { control, changes } = await node(box, { signingKeyPem: 'no key at all' })
  await until('the failure', () => control.status().code === 'WorkerFailed')
  assert.match(control.status().reason, /worker stopped: .*started again in 1 s/)
  await until('a second start', () => changes.length >= 2)
  const pem = key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  await control.reload({ signingKeyPem: pem })
  await until('the recovery', () => control.status().code === 'BranchMissing')
})

test('keygen overwrites nothing, and keeps the private key private', async () => {
  const box = gitSandbox()
  assert.equal((await gslbd(box, 'keygen', '-o', box.at('k'))).exit, 0)
  assert.equal(statSync(box.at('k')).mode & 0o777, 0o600)
  const before = readFileSync(box.at('k'), 'utf8')
  const again = await gslbd(box, 'keygen', '-o', box.at('k'))
  assert.equal(again.exit, 1)
  assert.match(again.err, /exists and is not overwritten/)
  assert.equal(readFileSync(box.at('k'), 'utf8'), before)
})

test('trust adds, lists, and refuses what it cannot use', async () => {
  const box = gitSandbox()
  const alice = box.sshKey('alice')
  assert.equal((await gslbd(box, 'trust', 'list')).exit, 4)
  mkdirSync(box.at('data'))
  assert.equal((await gslbd(box, 'trust', 'add', 'alice@example.com', alice.publicLine)).exit, 0)
  const twice = await gslbd(box, 'trust', 'add', 'alice@example.com', box.at('alice'))
  assert.match(twice.out, /already/)
  const listed = await gslbd(box, 'trust', 'list')
  assert.match(listed.out, /^alice@example.com {2}SHA256:\S+ {2}for git,gslb-attest\n$/)
  const principals = box.run('ssh-keygen', [
    '-Y',
    'match-principals',
    '-I',
    'alice@example.com',
    '-f',
    box.at('data/allowed_signers'),
  ])
  assert.equal(principals, 'alice@example.com', 'OpenSSH reads the file, too')
  const refused: readonly (readonly [args: readonly string[], exit: number])[] = [
    [['add', 'bob', 'ssh-rsa AAAA'], 4],
    [['add', 'bob', '/nowhere/key.pub'], 4],
    [['add', 'b o b', alice.publicLine], 4],
    [['add', 'bob'], 2],
    [['remove', 'bob'], 4],
  ]
  for (const [args, exit] of refused)
    assert.equal((await gslbd(box, 'trust', ...args)).exit, exit, args.join(' '))
  writeFileSync(box.at('data/allowed_signers'), 'alice cert-authority\n')
  assert.equal((await gslbd(box, 'trust', 'add', 'bob', alice.publicLine)).exit, 4)
})

onlyLong(() => {
  test('after trust reset, a history that was rewritten on purpose is taken', async () => {
    const box = gitSandbox()
    const first = await node(box)
    const { repo, commit, push } = await checkout(box, box.at('data/config.git'))
    commit('first')
    push()
    await until('the first bundle', () => first.published.length === 1)
    const head = commit('rewritten', '--amend')
    box.git(box.at('data/config.git'), 'fetch', '-q', '-f', repo, '+HEAD:refs/heads/main')
    await until('the hold', () => first.control.status().code === 'HistoryRewritten')
    await first.control.stop()
    // A process that runs stands for a daemon: it would write its own state over the reset one.
    const { ppid } = process
    const startedAt = readFileSync(`/proc/${ppid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]!
    writeFileSync(box.at('data/lock'), `${ppid} ${startedAt}\n`)
    const tooEarly = await gslbd(box, 'trust', 'reset')
    assert.equal(tooEarly.exit, 4)
    assert.match(tooEarly.err, new RegExp(`in use by process ${ppid}; stop that one`))
    rmSync(box.at('data/lock'))
    assert.equal((await gslbd(box, 'trust', 'reset')).exit, 0)
    const { seq, digest } = first.published[0]!.signedRecord.record
    const second = await node(box, { resume: { seq, digest } })
    await until('the new head', () => second.control.status().accepted?.commit === head)
    assert.equal(second.published[0]?.signedRecord.record.seq, seq + 1)
  })
})

test('attest says what is wrong, and exits with 4', async () => {
  const box = gitSandbox()
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  const alice = box.sshKey('alice')
  box.run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-f', box.at('locked')])
  const cases: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [['--repo', box.at('nowhere'), '--key', alice.path], /not a Git repository/],
    [['--repo', box.at('repo'), '--key', box.at('nokey')], /cannot be read/],
    [['--repo', box.at('repo'), '--key', box.at('locked')], /encrypted/],
    [['--repo', box.at('repo'), '--key', alice.path], /"HEAD" is not a commit/],
  ]
  for (const [args, says] of cases) {
    const said = await gslbd(box, 'attest', ...args)
    assert.equal(said.exit, 4)
    assert.match(said.err, says)
  }
})

interface KeyChoice {
  readonly title: string
  readonly config?: Readonly<Record<string, string>>
  /** Arguments; `ours` and `usual` are keys that exist. */
  readonly args?: readonly string[]
  readonly says: RegExp
}

const ssh = { 'gpg.format': 'ssh' }
const choices: readonly KeyChoice[] = [
  {
    title: 'the key that git signs with, named by its public file',
    config: { ...ssh, 'user.signingkey': '~/ours.pub' },
    says: /^signed with \S+\/ours, SHA256:/,
  },
  {
    title: 'the key that git signs with, named by its private file',
    config: { ...ssh, 'user.signingkey': '~/ours' },
    says: /^signed with \S+\/ours, SHA256:/,
  },
  {
    title: 'the key of --key before it, by its public file',
    config: { ...ssh, 'user.signingkey': '~/.ssh/id_ed25519' },
    args: ['--key', 'ours.pub'],
    says: /^signed with \S+\/ours, SHA256:/,
  },
  {
    title: 'the key that git finds from the top of the checkout',
    config: { ...ssh, 'user.signingkey': '../ours' },
    says: /^signed with \S+\/ours, SHA256:/,
  },
]
for (const { title, config = {}, args = [], says } of choices) {
  test(`attest takes ${title}`, async () => {
    const box = gitSandbox()
    box.sshKey('ours')
    mkdirSync(box.at('.ssh'))
    box.sshKey('.ssh/id_ed25519')
    box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
    box.git(box.at('repo'), 'commit', '-q', '--allow-empty', '-m', 'first')
    for (const [key, value] of Object.entries(config)) box.git(box.at('repo'), 'config', key, value)
    const given = args.map((arg) => (arg.startsWith('--') ? arg : box.at(arg)))
    const said = await gslbd(box, 'attest', '--repo', box.at('repo'), ...given)
    assert.equal(said.exit, 0, said.err)
    assert.match(said.out, says)
  })
}

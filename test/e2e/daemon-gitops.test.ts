// Tests pushes to a running node: which are accepted, and which of their parts answer.
import { createHmac } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { GitopsStatus } from '#ports/operator-view.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { gitHttpServer } from '#test/support/git-http-server.ts'
import { onlyLong } from '#test/support/lane.ts'
import { runCliWith } from '#test/support/run-cli.ts'
import { servicePath, serviceYaml, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const webhookSecret = 'w'.repeat(32)
const { start } = useDaemons({ GSLB_WEBHOOK_SECRET: webhookSecret })
let site: Site
let daemon: DaemonProcess
let good: string

beforeAll(async () => {
  const queryLog = { file: './data/queries.dnstap', sampleEvery: 1 }
  site = await Site.make('gitops', { queryLog })
  await site.push()
  good = await site.git('rev-parse', 'HEAD')
  daemon = await start('serve', '--settings', site.settingsFile)
  await activeIs(good)
})
afterAll(() => site.remove())

/** @returns the status of the answer */
async function webhook(node: DaemonProcess, signature?: string): Promise<number> {
  const body = '{"ref":"refs/heads/main"}'
  const signed = signature ?? createHmac('sha256', webhookSecret).update(body).digest('hex')
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signed}` }
  const url = `http://127.0.0.1:${node.apiPort}/api/v1/sync`
  return (await fetch(url, { method: 'POST', headers, body })).status
}

async function activeIs(commit: string): Promise<void> {
  await waitUntil(`${commit} to be active`, async () => (await daemon.gitops()).active === commit)
}

/** Waits for the verdict over `commit`. */
async function verdictOver(commit: string): Promise<GitopsStatus> {
  return waitUntil('a verdict', async () => {
    const status = await daemon.gitops()
    const isOver = status.head === commit && (status.sync === 'held' || status.sync === 'synced')
    return isOver && status
  })
}

async function answer(name = 'www.example.com.'): Promise<string> {
  const [line = ''] = await daemon.answers(`${name} A`)
  return line.split(' ').at(-1) ?? ''
}

const secondService = 'tenants/default/services/second.yaml'
const label64 = 'a'.repeat(64)

interface BadTree {
  readonly title: string
  readonly make: (site: Site) => void | Promise<void>
  /** Codes of the errors, and the file that one of them is in. */
  readonly codes: readonly string[]
  readonly file: string
  readonly says: RegExp
}

const badTrees: readonly BadTree[] = [
  {
    title: 'a file of 2 MiB',
    make: (at) =>
      at.write(secondService, `${serviceYaml('b.example.com.', 'b')}#${'x'.repeat(2 << 20)}\n`),
    codes: ['file-too-large'],
    file: secondService,
    says: /1 MiB|1048576/,
  },
  {
    title: 'a symbolic link',
    make: (at) => symlinkSync('www.yaml', join(at.checkout, secondService)),
    codes: ['file-symlink'],
    file: secondService,
    says: /symbolic link|symlink/,
  },
  {
    title: 'a submodule',
    make: async (at) => {
      const entry = `160000,${good},tenants/default/services/sub.yaml`
      mkdirSync(join(at.checkout, 'tenants/default/services/sub.yaml'))
      await at.git('update-index', '--add', '--cacheinfo', entry)
    },
    codes: ['file-submodule'],
    file: 'tenants/default/services/sub.yaml',
    says: /submodule/,
  },
  {
    title: 'a domain that differs only in case and the final dot',
    make: (at) => at.write(secondService, serviceYaml('WWW.Example.COM', 'second')),
    codes: ['name-not-absolute', 'domain-duplicate'],
    file: secondService,
    says: /needs a dot at the end.*see also tenants\/default\/services\/second\.yaml:4:17/s,
  },
  {
    title: 'a label of 64 octets',
    make: (at) => at.write(secondService, serviceYaml(`${label64}.example.com.`, 'second')),
    codes: ['name-label-too-long'],
    file: secondService,
    says: /63/,
  },
  {
    title: 'a name of more than 255 octets',
    make: (at) => {
      const long = Array.from({ length: 5 }, () => 'b'.repeat(60)).join('.')
      at.write(secondService, serviceYaml(`${long}.example.com.`, 'second'))
    },
    codes: ['name-too-long'],
    file: secondService,
    says: /255|253/,
  },
  {
    title: 'a field that does not exist',
    make: (at) => at.write(servicePath, serviceYaml('www.example.com.').replace('pool:', 'poool:')),
    codes: ['field-unknown'],
    file: servicePath,
    says: /poool.*did you mean "?pool/s,
  },
  {
    title: 'a pool that does not exist',
    make: (at) => at.write(servicePath, serviceYaml('www.example.com.', 'www', 'wbe')),
    codes: ['pool-unknown'],
    file: servicePath,
    says: /wbe/,
  },
  {
    title: 'a YAML alias',
    make: (at) =>
      at.write(
        secondService,
        `${serviceYaml('b.example.com.', 'b')}# \n`.replace('ttl: 5', 'ttl: *five'),
      ),
    codes: ['yaml-anchor'],
    file: secondService,
    says: /alias|anchor/,
  },
  {
    title: 'octets that are not UTF-8',
    make: (at) => at.write(secondService, Buffer.from('kind: \xff\xfe\n', 'latin1')),
    codes: ['file-not-utf8'],
    file: secondService,
    says: /UTF-8/,
  },
]

describe('a signed commit with', () => {
  afterEach(async () => {
    await site.backTo(good)
    await waitUntil('sync', async () => (await daemon.gitops()).sync === 'synced')
  })

  for (const { title, make, codes, file, says } of badTrees) {
    test(`${title} is held with one clear message, and the old answers stay`, async () => {
      await make(site)
      const commit = await site.commit(title)
      await site.push()
      const { sync, reason, diagnostics, active } = await verdictOver(commit)
      expect({ sync, code: reason?.code, active }).toEqual({
        sync: 'held',
        code: 'CompileFailed',
        active: good,
      })
      const errors = diagnostics.filter(({ severity }) => severity === 'error')
      expect(errors.map((error) => error.code)).toEqual(codes)
      expect(errors.map(({ message, help }) => `${message} ${help}`).join('\n')).toMatch(says)
      expect(errors.filter(({ help }) => help === '')).toEqual([])
      const error = errors.find((each) => each.file === file)
      const place = `${file}:${error?.line}:${error?.column}: ${error?.message}`
      await waitUntil('the log', () => daemon.logged(place))
      expect(await answer()).toBe('192.0.2.1')
    })
  }
})

describe('trust', () => {
  test('a commit with a key that is not listed is held, until the key is listed', async () => {
    const stranger = join(site.path, 'stranger')
    await site.run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'bob', '-f', stranger)
    const { keyPath } = site
    Object.assign(site, { keyPath: stranger })
    const commit = await site.publish('192.0.2.5')
    Object.assign(site, { keyPath })
    const { reason } = await verdictOver(commit)
    expect(reason?.code).toBe('SignatureRefused')
    expect(await answer()).toBe('192.0.2.1')
    const key = await site.run('cat', `${stranger}.pub`)
    const old = await site.run('cat', join(site.dataDir, 'allowed_signers'))
    writeFileSync(join(site.dataDir, 'allowed_signers'), `${old}\nbob@example.com ${key}\n`)
    await activeIs(commit)
    expect(await answer()).toBe('192.0.2.5')
    good = commit
  })

  test('a damaged list of keys holds new commits only; mended, they are taken', async () => {
    const path = join(site.dataDir, 'allowed_signers')
    const old = await site.run('cat', path)
    writeFileSync(path, `${old}\nnonsense\n`)
    const commit = await site.publish('192.0.2.6')
    const { reason } = await verdictOver(commit)
    expect(reason?.code).toBe('SignersUnreadable')
    expect(await answer()).toBe('192.0.2.5')
    writeFileSync(path, `${old}\n`)
    await activeIs(commit)
    // The status follows the answers: what comes next must not take the old one for its own.
    await waitUntil('health', async () => (await daemon.health()) === 'ok')
    good = commit
  })

  test('a damaged list of keys is told before anybody pushes, and when it is mended', async () => {
    const path = join(site.dataDir, 'allowed_signers')
    const old = await site.run('cat', path)
    writeFileSync(path, `${old}\nnonsense\n`)
    await waitUntil('health', async () => (await daemon.health()) === 'degraded')
    const { sync, reason, active } = await daemon.gitops()
    const expected = { sync: 'held', code: 'SignersUnreadable', active: good }
    expect({ sync, code: reason?.code, active }).toEqual(expected)
    await waitUntil('the log', () =>
      daemon.log().some(({ level, msg }) => level === 'warn' && msg.endsWith(reason!.message)),
    )
    expect(await answer()).toBe('192.0.2.6')
    writeFileSync(path, `${old}\n`)
    await waitUntil('health', async () => (await daemon.health()) === 'ok')
    await waitUntil('the log', () => daemon.logged('allowed_signers can be read again'))
  })

  test('a rewritten branch is held, until it contains the accepted commit again', async () => {
    await site.git('reset', '-q', '--hard', 'HEAD~1')
    site.write(servicePath, serviceYaml('other.example.com.'))
    const rewritten = await site.commit('rewritten', 'signed')
    await site.push('--force')
    const { reason } = await verdictOver(rewritten)
    expect(reason?.code).toBe('HistoryRewritten')
    expect(await answer()).toBe('192.0.2.6')
    await site.backTo(good)
    await waitUntil('sync', async () => (await daemon.gitops()).sync === 'synced')
  })

  test('from commit to answer takes less than a second on a machine at rest', async () => {
    let fastestMs = Infinity
    // Until one did: what the node needs, not what the machine did meanwhile.
    for (let n = 10; n < 60 && fastestMs >= 1_000; n++) {
      await site.publish(`192.0.2.${n}`)
      const sinceMs = performance.now()
      await waitUntil('the answer', async () => (await answer()) === `192.0.2.${n}`)
      fastestMs = Math.min(fastestMs, performance.now() - sinceMs)
    }
    expect(fastestMs).toBeLessThan(1_000)
    // Counted when the last responder has it; the first answers from it before.
    const head = await site.git('rev-parse', 'HEAD')
    await waitUntil('the swap', () =>
      daemon.log().some(({ msg, commit }) => msg === 'bundle activated' && commit === head),
    )
    const { node } = await daemon.gitops()
    expect(node.refused).toBeNull()
    const metrics = await daemon.metrics()
    expect(metrics.get('gslbd_bundle_seq')).toBe(node.seq)
    expect(metrics.get('gslbd_bundle_swaps_total')).toBe(node.swapCount)
    expect(metrics.get('gslbd_gitops_commit_to_active_seconds')).toBeLessThan(20)
    expect(metrics.get('gslbd_journal_writing')).toBe(1)
  })

  onlyLong(() => {
    test('explains an answer from three commits ago, with its commit', async () => {
      const then = await site.publish('192.0.2.70')
      await activeIs(then)
      expect(await answer()).toBe('192.0.2.70')
      const at = new Date().toISOString()
      // A node keeps two bundles: that of then is compiled again.
      for (const n of [71, 72]) await activeIs(await site.publish(`192.0.2.${n}`))
      const question = { name: 'www.example.com.', at, client: '203.0.113.9' }
      const asked = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1/why`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
        body: JSON.stringify(question),
      })
      const told: unknown = await asked.json()
      expect(asked.status, JSON.stringify(told)).toBe(200)
      expect(told).toMatchObject({
        ...{ isCertain: true, bundleFrom: 'the commit, compiled again' },
        commit: { id: then },
        records: [expect.stringContaining('192.0.2.70') as string],
      })
      const more = ['--client', '203.0.113.9', '--settings', site.settingsFile]
      const said = await runCliWith({}, 'why', 'www.example.com.', '--at', at, ...more)
      expect(said.out).toContain(`commit    ${then}`)
      expect(said.out).toContain('answer    192.0.2.70')

      // Over its API the same, and what its query log has comes out again.
      const url = `http://127.0.0.1:${daemon.apiPort}`
      const there = await runCliWith({}, 'why', 'www.example.com.', '--at', at, '--url', url)
      expect(there.out).toContain('answer    192.0.2.70')
      const file = join(site.dataDir, 'queries.dnstap')
      await waitUntil('a replay', async () => {
        const of = ['--record', file, '--settings', site.settingsFile, '--json']
        const lines = (await runCliWith({}, 'why', ...of)).out.trimEnd().split('\n')
        const counts = JSON.parse(lines.at(-1)!) as { same: number; other: number }
        expect(counts.other, lines.join('\n')).toBe(0)
        return counts.same > 0
      })
    })
  })
})

onlyLong(() => {
  test('a node that follows an HTTP remote takes pushes, by poll, SIGHUP and webhook', async () => {
    const server = await gitHttpServer(site.dataDir)
    const follower = await Site.make('follower')
    const allowedSigners = join(site.dataDir, 'allowed_signers')
    const gitops = (poll: string) => ({
      gitops: { url: server.url('config.git'), allowedSigners, poll },
    })
    follower.writeSettings(gitops('1s'))
    const node = await start('serve', '--settings', follower.settingsFile)
    const addressIs = (address: string): Promise<unknown> =>
      waitUntil(address, async () =>
        (await node.answers('www.example.com. A'))[0]?.endsWith(address),
      )
    // Not what the test before left: a commit must change something.
    await site.publish('192.0.2.18')
    await addressIs('192.0.2.18')
    await site.publish('192.0.2.20')
    await addressIs('192.0.2.20')

    // A poll of a day: now only SIGHUP makes it look.
    follower.writeSettings(gitops('24h'))
    node.signal('SIGHUP')
    await waitUntil('the reload', () => node.logged('settings reloaded'))
    const asked = server.requests.length
    await site.publish('192.0.2.21')
    node.signal('SIGHUP')
    await addressIs('192.0.2.21')
    expect(server.requests.length).toBeGreaterThan(asked)

    // Or a webhook, or `gslbd sync`, which waits for the verdict.
    await site.publish('192.0.2.22')
    expect(await webhook(node, 'x'.repeat(64))).toBe(401)
    expect(await webhook(node)).toBe(202)
    await addressIs('192.0.2.22')
    const head = await site.publish('192.0.2.23')
    const sync = () => runCliWith({}, 'sync', '--url', `http://127.0.0.1:${node.apiPort}`)
    const taken = await sync()
    expect([taken.exit, taken.out]).toEqual([0, expect.stringContaining(head)])
    await addressIs('192.0.2.23')
    site.write(servicePath, serviceYaml('www.example.com.', 'www', 'wbe'))
    await site.commit('a mistake')
    await site.push()
    const refused = await sync()
    expect([refused.exit, refused.out]).toEqual([1, expect.stringContaining('pool-unknown')])
    await site.backTo(head)
    expect((await sync()).exit).toBe(0)

    server.behave = { status: 500 }
    node.signal('SIGHUP')
    await waitUntil('the fault', async () => (await node.gitops()).reason?.code === 'ServerError')
    expect(await node.health()).toBe('degraded')
    server.behave = 'serve'
    node.signal('SIGHUP')
    await waitUntil('health', async () => (await node.health()) === 'ok')
    expect(await node.stop()).toEqual({ code: 0, signal: null })
    follower.remove()
  })
})

// Reviews of changes: what the comment says of each, and how it is posted.
import { createHash } from 'node:crypto'
import { setGlobalProxyFromEnv } from 'node:http'
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { main } from '#cli/main.ts'
import { judgedWithout } from '#judge/effects/unplaced.ts'
import { verdictOf } from '#cli/review/comment-body.ts'
import { Exit } from '#system/process/command.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import type { AskedOf, Given } from '#test/support/http-stand-in.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { runCli, runCliWith } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const example = join(import.meta.dirname, '../../../examples/review')

/** A checkout of the example, with `main` signed. */
function checkout() {
  const box = gitSandbox()
  const alice = box.sshKey('alice')
  const signers = box.write('allowed_signers', `alice@example.com ${alice.publicLine}\n`)
  const repo = box.at('repo')
  cpSync(example, repo, { recursive: true })
  box.git(repo, 'init', '-q', '-b', 'main')
  const commit = (...more: string[]): void => {
    box.git(repo, 'add', '-A')
    box.git(repo, ...box.signWith(alice), 'commit', '-q', '-m', 'a change', ...more)
  }
  commit('-S')
  box.git(repo, 'checkout', '-q', '-b', 'change')
  const out = box.at('out')
  const review = (...more: string[]) =>
    runCli('review', repo, '--base', 'main', '--out', out, ...more)
  const file = (name: string): string => readFileSync(join(out, name), 'utf8')
  return { box, repo, signers, commit, review, out, file }
}

const withoutIds = (text: string): string => text.replaceAll(/\b[0-9a-f]{10}\b/g, 'COMMIT')

test('the verdict says when clients were compared without places, which a node may know', () => {
  const summary = `within the limits; ${judgedWithout}give --geoip`
  const steps = [{ name: 'Guardrails', state: 'passed', summary, details: '' } as const]
  const accepted = 'a node would accept this change'
  expect(verdictOf({ exit: Exit.Ok, steps: [] })).toBe(accepted)
  expect(verdictOf({ exit: Exit.Ok, steps })).toBe(
    `${accepted}, as far as can be told without places`,
  )
})

describe('the example, whose comments are kept beside its changes', () => {
  test.each([
    ['good', Exit.Ok, 'success'],
    ['risky', Exit.Guardrail, 'failure'],
    ['broken', Exit.ErrorsFound, 'failure'],
  ] as const)('%s', async (name, exit, state) => {
    const { box, repo, signers, commit, review, file } = checkout()
    box.git(repo, 'apply', join('changes', `${name}.patch`))
    commit('-S')
    const run = await review('--allowed-signers', signers)
    expect(run.exit).toBe(exit)
    const said = withoutIds(file('comment.md'))
    const path = join(example, 'changes', `${name}.md`)
    if (process.env['GSLBD_UPDATE'] === '1') writeFileSync(path, said)
    expect(said).toBe(readFileSync(path, 'utf8'))
    expect(JSON.parse(file('verdict.json'))).toMatchObject({ state, exit })
    expect(JSON.parse(file('gslbd.sarif'))).toMatchObject({ version: '2.1.0' })
    if (exit !== Exit.ErrorsFound) expect(file('plan.html')).toContain('<!doctype html>')
  })

  test('the picture in README.md shows the comment as it is', () => {
    const comment = readFileSync(join(example, 'changes', 'risky.md'))
    const digest = createHash('sha256').update(comment).digest('hex')
    const picture = readFileSync('docs/images/review-comment.png', 'latin1')
    // A text chunk of the PNG has the digest: the program that makes the picture puts it there.
    expect(picture).toContain(`examples/review/changes/risky.md ${digest}`)
  })

  test('a change that is not signed is exit code 4, whatever else it is', async () => {
    const { box, repo, signers, commit, review, file } = checkout()
    box.git(repo, 'apply', 'changes/good.patch')
    commit()
    const run = await review('--allowed-signers', signers)
    expect(run.exit).toBe(Exit.Trust)
    expect(file('comment.md')).toContain('not every commit is signed')
    expect((await review()).exit).toBe(Exit.Ok)
  })

  test('an intended change is not beyond a guardrail, and the comment says why', async () => {
    const { box, repo, commit, review, file } = checkout()
    box.git(repo, 'apply', 'changes/risky.patch')
    commit('-m', 'Gslb-Override: the lease in @Frankfurt <b>ends')
    expect((await review()).exit).toBe(Exit.Ok)
    expect(file('comment.md')).toContain('as meant: the lease in @\u200bFrankfurt \\<b\\>ends')
  })

  test.each([
    ['git', Exit.Guardrail, 'its signer may not'],
    ['git,gslb-override', Exit.Ok, 'as meant: the lease ends'],
  ])('a signer with the namespaces "%s" gives exit code %i', async (namespaces, exit, said) => {
    const { box, repo, signers, commit, review, file } = checkout()
    const key = readFileSync(signers, 'utf8').replace(' ', ` namespaces="${namespaces}" `)
    writeFileSync(signers, key)
    box.git(repo, 'apply', 'changes/risky.patch')
    commit('-S', '-m', 'Gslb-Override: the lease ends')
    expect((await review('--allowed-signers', signers)).exit).toBe(exit)
    expect(file('comment.md')).toContain(said)
  })

  test('on a terminal the plan is a line, and where the whole of it is', async () => {
    const { box, repo, commit, review, out } = checkout()
    box.git(repo, 'apply', 'changes/good.patch')
    commit()
    const line = (text: string): string | undefined => /^Plan: .*$/m.exec(text)?.[0]
    const said = 'Plan: passed: 1 of 3 names answers differently; up to 20 % '
    const inFiles = line((await review()).out)
    expect(inFiles?.startsWith(said)).toBe(true)
    expect(inFiles?.endsWith(`(in full: ${out}/plan.html)`)).toBe(true)
    const alone = await runCli('review', repo, '--base', 'main')
    expect(line(alone.out)?.endsWith(`(in full: gslbd plan ${repo} --base main)`)).toBe(true)
  })

  test('the command makes the same plan: of the same commit and databases', async () => {
    const { box, repo, commit } = checkout()
    const left = box.git(repo, 'rev-parse', 'main').trim()
    box.git(repo, 'apply', 'changes/good.patch')
    commit()
    box.git(repo, 'checkout', '-q', 'main')
    commit('--allow-empty')
    box.git(repo, 'checkout', '-q', 'change')
    const record = { autonomous_system_number: 64500 }
    const networks = [['192.0.2.0/24', record]] as const
    const asn = box.at('an asn.mmdb')
    writeFileSync(asn, writeMmdb({ type: 'ASN', networks }))
    const { out } = await runCli('review', repo, '--base', 'main', '--asn', asn)
    expect(out).toContain(`(in full: gslbd plan ${repo} --base ${left} --asn '${asn}')\n`)
  })

  test('says which step it is at', async () => {
    const { repo, signers } = checkout()
    const said: string[] = []
    const args = ['review', repo, '--base', 'main', '--allowed-signers', signers]
    const none = (): void => undefined
    const progress = (doing: string): void => void said.push(doing.replaceAll(repo, 'REPO'))
    expect(await main(args, { out: none, err: none, env: {}, isTerminal: false, progress })).toBe(0)
    const steps = said.map((doing) => doing.replace(/[0-9a-f]{40}|main|\d+/g, 'X'))
    expect(steps).toEqual(
      expect.arrayContaining([
        ...['looking for X', 'verify: checking signatures since X', 'check: compiling: file'],
        ...['check: comparing with X', 'plan: compiling: file', 'plan: comparing what clients get'],
      ]),
    )
  })

  test('annotations for the log of a forge', async () => {
    const { box, repo, commit, review } = checkout()
    box.git(repo, 'apply', 'changes/broken.patch')
    commit()
    const { out } = await review('--format', 'github')
    expect(out).toMatch(/^::error file=tenants\/default\/services\/shop\.yaml,line=5,/m)
  })

  test.each([
    [[]],
    [['--base', 'nowhere']],
    [['--base', 'main', '--format', 'x']],
    [['--base', 'main', '--allowed-signers', 'nowhere']],
  ])('%j is a wrong call', async (args) => {
    expect((await runCli('review', checkout().repo, ...args)).exit).toBe(Exit.Usage)
  })
})

describe('where the change is to go', () => {
  /** A change on a branch, and `main`, which has gone on since with a name more. */
  function behind() {
    const made = checkout()
    const { box, repo, commit } = made
    box.git(repo, 'apply', 'changes/good.patch')
    commit('-S')
    box.git(repo, 'checkout', '-q', 'main')
    for (const name of ['one', 'two', 'three']) {
      const text = readFileSync(join(repo, 'tenants/default/services/shop.yaml'), 'utf8')
      const path = join(repo, `tenants/default/services/${name}.yaml`)
      writeFileSync(
        path,
        text.replace('name: shop', `name: ${name}`).replace('shop.ex', `${name}.ex`),
      )
    }
    commit('-S')
    box.git(repo, 'checkout', '-q', 'change')
    return made
  }

  test('may have gone on since: a merge keeps both', async () => {
    const { repo, box, signers, review, file } = behind()
    const run = await review('--allowed-signers', signers)
    expect([run.exit, run.out]).toEqual([Exit.Ok, expect.stringContaining('would accept')])
    const began = box.git(repo, 'merge-base', 'main', 'HEAD').slice(0, 10)
    expect(file('comment.md')).toContain(`each commit between ${began} and`)
    expect(file('comment.md')).toContain('main has gone on since')
    expect(file('comment.md')).not.toContain('one.example.com')
  })

  test('may be merged into the change, and have gone on after that', async () => {
    const { box, repo, signers, review, commit, file } = behind()
    box.git(repo, 'merge', '-q', '--no-ff', '--no-commit', 'main')
    commit('-S')
    const merged = box.git(repo, 'rev-parse', 'main').slice(0, 10)
    box.git(repo, 'checkout', '-q', 'main')
    commit('-S', '--allow-empty')
    box.git(repo, 'checkout', '-q', 'change')
    expect((await review('--allowed-signers', signers)).exit).toBe(Exit.Ok)
    expect(file('comment.md')).toContain(`each commit between ${merged} and`)
  })

  test('has to have a commit in common with the change', async () => {
    const { box, repo, signers, review, commit } = checkout()
    box.git(repo, 'checkout', '-q', '--orphan', 'other')
    commit('-S', '-m', 'another beginning')
    for (const more of [['--allowed-signers', signers], []]) {
      const run = await review(...more)
      expect(run.exit).toBe(Exit.Usage)
      expect(run.out).toContain('Base: failed: main and HEAD have no commit in common')
      expect(run.out).toContain('\nCheck and policy tests: passed')
    }
  })

  test('has to be there, which is said once; the change is checked by itself', async () => {
    const { repo, out, file } = checkout()
    const run = await runCli('review', repo, '--base', 'nope', '--out', out)
    expect(run.exit).toBe(Exit.Usage)
    expect(run.out.match(/"nope" is not a commit/g)).toHaveLength(1)
    expect(run.out).toContain('\nCheck and policy tests: passed')
    expect(run.out.endsWith('\nthis change cannot be judged\n')).toBe(true)
    expect(file('comment.md').match(/"nope" is not a commit/g)).toHaveLength(1)
    expect(JSON.parse(file('gslbd.sarif'))).toMatchObject({ version: '2.1.0' })
  })

  test('is not in a shallow clone: that, and what brings it, is said once', async () => {
    const { box, repo, signers, commit } = checkout()
    commit('-S', '--allow-empty')
    commit('-S', '--allow-empty')
    const clone = box.at('shallow')
    box.git(box.path, 'clone', '-q', '--depth', '1', `file://${repo}`, clone)
    const args = ['review', clone, '--base', 'origin/main', '--allowed-signers', signers]
    const run = await runCli(...args)
    expect(run.exit).toBe(Exit.Usage)
    expect(run.out.match(/git fetch --unshallow/g)).toHaveLength(1)
    box.git(clone, 'fetch', '-q', '--depth', '1', 'origin', 'main:refs/remotes/origin/main')
    const both = await runCli(...args)
    expect(both.exit).toBe(Exit.Usage)
    expect(both.out.match(/git fetch --unshallow/g)).toHaveLength(1)
  })
})

test('the repair of a base that has errors is judged by itself', async () => {
  const { box, repo, signers, commit, review, file } = checkout()
  box.git(repo, 'checkout', '-q', 'main')
  box.git(repo, 'apply', 'changes/broken.patch')
  commit('-S')
  box.git(repo, 'checkout', '-q', '-b', 'repair')
  expect((await review('--allowed-signers', signers)).exit).toBe(Exit.ErrorsFound)
  box.git(repo, 'apply', '-R', 'changes/broken.patch')
  commit('-S')
  const run = await review('--allowed-signers', signers)
  expect(run.exit).toBe(Exit.Ok)
  expect(run.out).toContain('\nGuardrails: skipped: the base has errors\n')
  expect(run.out).toContain('\nPlan: skipped: the base has errors\n')
  expect(run.out).toMatch(/the base, main, has errors.*\n[^]*shop\.yaml:5/)
  expect(file('comment.md')).toContain('✅ gslbd: a node would accept this change')
  expect(file('comment.md')).toContain('the base, main, has errors')
})

describe('--out', () => {
  test.each([
    ['/proc/x', '/proc/x cannot be made'],
    ['repo/gslb.yaml', 'gslb.yaml is a file, not a folder'],
    ['repo/gslb.yaml/x', 'gslb.yaml is a file, not a folder'],
    ['repo/gslb.yaml/x/y', 'gslb.yaml is a file, not a folder'],
  ])('%s is refused before any work', async (out, why) => {
    const { box, repo } = checkout()
    const run = await runCli('review', repo, '--base', 'main', '--out', resolve(box.path, out))
    expect([run.exit, run.out]).toEqual([Exit.Usage, ''])
    expect(run.err).toContain(why)
    expect(run.err.split('\n')).toHaveLength(2)
  })

  test('holds what this review wrote, and nothing of the last one', async () => {
    const { box, repo, commit, review, out } = checkout()
    const nested = join(out, 'a/b')
    box.git(repo, 'apply', 'changes/good.patch')
    commit()
    await review('--out', nested)
    writeFileSync(join(nested, 'note.txt'), 'of somebody else')
    const all = ['comment.md', 'gslbd.sarif', 'note.txt', 'plan.html', 'plan.json', 'verdict.json']
    expect(readdirSync(nested).toSorted()).toEqual(all)
    rmSync(join(repo, 'tenants/default/pools'), { recursive: true })
    expect((await review('--out', nested)).exit).toBe(Exit.ErrorsFound)
    expect(readdirSync(nested).toSorted()).toEqual(all.filter((name) => !name.startsWith('plan')))
  })
})

const id = 'c'.repeat(40)
const body = '<!-- gslbd-plan -->\n\nall is well\n'

function reviewed(verdict: object = { state: 'success', verdict: 'fine' }, text = body): string {
  const folder = tempDir('review')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'comment.md'), text)
  writeFileSync(join(folder, 'verdict.json'), JSON.stringify(verdict))
  return folder
}

const env = { GSLBD_FORGE_TOKEN: 'secret-token' }
const post = (folder: string, forge: string, api: string, ...more: string[]) =>
  runCliWith(
    env,
    ...['comment', folder, '--forge', forge, '--api', api, '--repo', 'acme/dns', '--commit', id],
    ...more,
  )

/** Answers as the service does, and nothing else: a request that it does not know is 404. */
function stand(answers: Readonly<Record<string, (asked: AskedOf) => Given>>) {
  return startStandIn((asked) => {
    const answer = answers[`${asked.method} ${asked.path}`]
    return answer === undefined ? { status: 404 } : answer(asked)
  })
}
const linesOf = (asked: readonly AskedOf[]): string[] =>
  asked.map(({ method, path }) => `${method} ${path}`)

describe('on GitHub', () => {
  const list = '/repos/acme/dns/issues/7/comments'
  const status = `/repos/acme/dns/statuses/${id}`
  const made = (): Given => ({ status: 201, body: {} })
  const others = Array.from({ length: 100 }, (_, i) => ({
    ...{ id: i, user: { login: 'mallory' } },
    body: '<!-- gslbd-plan --> not of the bot',
  }))

  test('the first review makes a comment and a status', async () => {
    const { url, asked } = await stand({
      [`GET ${list}`]: () => ({ status: 200, body: others.slice(0, 3) }),
      [`POST ${list}`]: made,
      [`POST ${status}`]: made,
    })
    const run = await post(reviewed(), 'github', url, '--number', '7', '--details', 'https://x/1')
    expect(run).toMatchObject({ exit: 0, err: '' })
    expect(linesOf(asked)).toEqual([`GET ${list}`, `POST ${list}`, `POST ${status}`])
    for (const { headers } of asked) {
      expect(headers['authorization']).toBe('Bearer secret-token')
      expect(headers['accept']).toBe('application/vnd.github+json')
    }
    expect(asked[1]?.body).toEqual({ body })
    expect(asked[2]?.body).toEqual({
      ...{ state: 'success', context: 'gslbd', description: 'fine' },
      target_url: 'https://x/1',
    })
  })

  test('the next one brings that comment up to date, on whatever page it is', async () => {
    const own = { id: 4711, user: { login: 'github-actions[bot]' }, body: `${body} old` }
    const { url, asked } = await stand({
      [`GET ${list}`]: ({ query }) => ({
        status: 200,
        body: query.get('page') === '1' ? others : [own],
      }),
      'PATCH /repos/acme/dns/issues/comments/4711': () => ({ status: 200, body: {} }),
      [`POST ${status}`]: made,
    })
    const folder = reviewed({ state: 'failure', verdict: 'x'.repeat(200) })
    expect((await post(folder, 'github', url, '--number', '7')).exit).toBe(0)
    expect(linesOf(asked).filter((line) => !line.startsWith('GET'))).toEqual([
      'PATCH /repos/acme/dns/issues/comments/4711',
      `POST ${status}`,
    ])
    expect(asked[0]?.query.get('per_page')).toBe('100')
    expect(asked.at(-1)?.body).toEqual({
      ...{ state: 'failure', context: 'gslbd', description: 'x'.repeat(140) },
    })
  })

  test('finds the pull request of a fork by its head and its commit', async () => {
    const pulls = [
      { number: 1, head: { sha: 'd'.repeat(40) } },
      { number: 7, head: { sha: id } },
    ]
    const { url, asked } = await stand({
      'GET /repos/acme/dns/pulls': () => ({ status: 200, body: pulls }),
      [`GET ${list}`]: () => ({ status: 200, body: [] }),
      [`POST ${list}`]: made,
    })
    const run = await post(reviewed(), 'github', url, '--find', 'mallory:fix', '--no-status')
    expect(run.exit).toBe(0)
    expect(asked[0]?.query.get('head')).toBe('mallory:fix')
    expect(linesOf(asked).at(-1)).toBe(`POST ${list}`)
    pulls.length = 1
    const gone = await post(reviewed(), 'github', url, '--find', 'mallory:fix')
    expect([gone.exit, gone.out]).toEqual([0, expect.stringContaining('no open pull request')])
  })

  test('a runner may have its proxy between', async () => {
    const { url, asked } = await stand({
      [`GET ${list}`]: () => ({ status: 200, body: [] }),
      [`POST ${list}`]: made,
    })
    onTestFinished(setGlobalProxyFromEnv({ http_proxy: url }))
    const run = await post(reviewed(), 'github', 'http://forge.test', '--number=7', '--no-status')
    expect(run).toMatchObject({ exit: 0, err: '' })
    expect(asked.map(({ headers }) => headers['host'])).toEqual(['forge.test', 'forge.test'])
  })

  test('a refusal is told without the token, and nothing follows it', async () => {
    const message = 'no \u001b[31mway'
    const { url, asked } = await stand({
      [`GET ${list}`]: () => ({ status: 403, body: { message } }),
    })
    const run = await post(reviewed(), 'github', url, '--number', '7')
    expect(run.exit).toBe(1)
    expect(run.err).toContain(`answered 403 to GET ${list} (look at the credentials): no `)
    expect(run.err).not.toContain('\u001b')
    expect(run.err).not.toContain('secret-token')
    expect(asked).toHaveLength(1)
  })
})

test('on GitLab: a note of the own user is brought up to date, and the status', async () => {
  const project = '/projects/acme%2Fdns'
  const notes = `${project}/merge_requests/7/notes`
  const status = `${project}/statuses/${id}`
  const rows = [
    { id: 1, author: { username: 'mallory' }, body },
    { id: 2, author: { username: 'gslbd-bot' }, body },
  ]
  const { url, asked } = await stand({
    'GET /user': () => ({ status: 200, body: { username: 'gslbd-bot' } }),
    [`GET ${notes}`]: () => ({ status: 200, body: rows }),
    [`PUT ${notes}/2`]: () => ({ status: 200, body: {} }),
    [`POST ${status}`]: () => ({ status: 201, body: {} }),
  })
  const folder = reviewed({ state: 'failure', verdict: 'held' })
  expect((await post(folder, 'gitlab', url, '--number', '7')).exit).toBe(0)
  expect(linesOf(asked)).toEqual(['GET /user', `GET ${notes}`, `PUT ${notes}/2`, `POST ${status}`])
  expect(asked[0]?.headers['private-token']).toBe('secret-token')
  expect(asked[3]?.body).toEqual({ state: 'failed', name: 'gslbd', description: 'held' })
})

describe('a comment left by another job', () => {
  test('gets the mark, and an unknown state is none that passes', async () => {
    const list = '/repos/acme/dns/issues/7/comments'
    const { url, asked } = await stand({
      [`GET ${list}`]: () => ({ status: 200, body: [] }),
      [`POST ${list}`]: () => ({ status: 201, body: {} }),
      [`POST /repos/acme/dns/statuses/${id}`]: () => ({ status: 201, body: {} }),
    })
    const folder = reviewed({ state: 'perfect', verdict: 3 }, 'x'.repeat(100_000))
    expect((await post(folder, 'github', url, '--number', '7')).exit).toBe(0)
    const { body: sent } = asked[1]?.body as { body: string }
    expect(sent.startsWith('<!-- gslbd-plan -->\n\nxxx')).toBe(true)
    expect(sent.length).toBeLessThan(65_536)
    expect(asked[2]?.body).toMatchObject({ state: 'failure', description: '' })
  })

  test('is not there, or is too large', async () => {
    const missing = await post(tempDir('review'), 'github', 'http://127.0.0.1:1', '--number', '7')
    expect([missing.exit, missing.err]).toEqual([1, expect.stringContaining('cannot be read')])
    const folder = reviewed({}, 'x'.repeat(1_000_000))
    const large = await post(folder, 'github', 'http://127.0.0.1:1', '--number', '7')
    expect(large.err).toContain('is too large')
  })

  test.each([
    ['--forge', 'sourceforge'],
    ['--repo', '../x'],
    ['--repo', 'a b'],
    ['--commit', 'HEAD'],
    ['--api', 'ftp://x'],
    ['--api', 'https://a:b@x'],
    ['--number', '-1'],
    ['--find', 'both:given'],
  ])('%s %s is a wrong call', async (option, value) => {
    const number = option === '--number' ? [] : ['--number', '7']
    const run = await post(reviewed(), 'github', 'http://127.0.0.1:1', ...number, option, value)
    expect(run.exit).toBe(Exit.Usage)
  })
})

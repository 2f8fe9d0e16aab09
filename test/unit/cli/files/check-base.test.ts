import { expect, test } from 'vitest'
import { gitSandbox } from '../../../support/git-sandbox.ts'
import { runCli } from '../../../support/run-cli.ts'
import { laneRows } from '../../../support/lane.ts'
import { poolPath, poolYaml, servicePath, serviceYaml } from '../../../support/site.ts'

const settings =
  'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: settings }\n' +
  'spec: { zones: [{ name: example.com. }], defaults: { nameservers: [{ name: ns1.example.net. }] } }\n'

/** @param folder of the checkout, in which the configuration lies */
function checkout(folder: string) {
  const box = gitSandbox()
  const repo = box.at('repo')
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  box.write(`repo/${folder}gslb.yaml`, settings)
  box.write(`repo/${folder}${poolPath}`, poolYaml('192.0.2.1'))
  box.write(`repo/${folder}${servicePath}`, serviceYaml('www.example.com.'))
  const commit = (...message: string[]): void => {
    box.git(repo, 'add', '-A')
    const parts = message.flatMap((text) => ['-m', text])
    box.git(repo, 'commit', '-q', '--allow-empty', ...parts)
  }
  commit('first')
  const head = (): string => box.git(repo, 'rev-parse', 'HEAD')
  box.git(repo, 'tag', 'base')
  const check = (...more: string[]) => runCli('check', box.at('repo', folder), ...more)
  return { box, repo, commit, head, check }
}

for (const folder of ['', 'dns/']) {
  test(`before a push, that everything was removed (in "${folder}")`, async () => {
    const { box, repo, commit, check } = checkout(folder)
    expect((await check('--base', 'base')).exit).toBe(0)
    box.git(repo, 'rm', '-q', '-r', `${folder}tenants`)
    const said = await check('--base', 'base')
    expect(said.exit).toBe(3)
    expect(said.out).toMatch(/ok: 0 services[^]*guardrail: [^]*This removes 1 of 1 name \(www/)
    expect(said.out).toContain('--trailer "Gslb-Override: the reason"')
    expect((await check()).exit).toBe(0)
    commit('remove')
    expect((await check('--base', 'HEAD~1')).exit).toBe(3)
    const json = await check('--base', 'base', '--format', 'json')
    expect(json.exit).toBe(3)
    expect(() => JSON.parse(json.out) as unknown).not.toThrow()
    expect(json.err).toContain('guardrail: ')
    commit('on purpose', 'Gslb-Override: it is closed')
    const meant = await check('--base', 'base')
    expect(meant.exit).toBe(0)
    expect(meant.out).toContain('as meant: it is closed')
  })
}

test('a check reports when more clients move than its base permits, or an override', async () => {
  const { box, commit, check } = checkout('')
  const limited = settings.replace('spec: {', 'spec: { guardrails: { movedClients: 60 },')
  box.write('repo/gslb.yaml', limited)
  commit('a limit')
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.2'))
  const said = await check('--base', 'HEAD')
  expect(said.exit).toBe(3)
  expect(said.out).toContain('sends 100 % of the clients of www.example.com. elsewhere')
  commit('move')
  expect((await check('--base', 'HEAD~1')).exit).toBe(3)
  commit('on purpose', 'Gslb-Override: a new site')
  expect((await check('--base', 'HEAD~2')).exit).toBe(0)
})

test.each([
  ['[geo-ip, round-robin]', '--geoip'],
  ['[asn, round-robin]', '--asn'],
])(
  'a check against a base judges moved clients without places, where steps are %s',
  async (chain, option) => {
    const { box, repo, commit, check } = checkout('')
    const limited = settings.replace('spec: {', 'spec: { guardrails: { movedClients: 60 },')
    const steps = serviceYaml('www.example.com.').replace('ttl: 5', `ttl: 5, filterChain: ${chain}`)
    box.write(`repo/${servicePath}`, steps)
    commit('steps')
    box.write(
      `repo/${poolPath}`,
      `${poolYaml('192.0.2.1')}    - { name: b, ipAddress: 192.0.2.2, port: 80 }\n`,
    )
    const blind = 'movedClients is judged without places'
    expect((await check('--base', 'HEAD')).out).not.toContain(blind)
    box.git(repo, 'stash', '-q')
    box.write('repo/gslb.yaml', limited)
    commit('a limit')
    box.git(repo, 'stash', 'pop', '-q')
    const said = await check('--base', 'HEAD')
    expect(said.out).toMatch(new RegExp(`^${blind}, .*: give ${option}$`, 'm'))
    const review = await runCli('review', repo, '--base', 'HEAD')
    expect(review.out).toMatch(new RegExp(`^Guardrails: .*${blind}.*${option}$`, 'm'))
  },
)

test('a check says of what only the parent of a zone knows whether a node holds it', async () => {
  const { box, commit, check } = checkout('')
  const signedBy = (dnssec: string): string =>
    settings.replace('name: example.com. }', `name: example.com., dnssec: { ${dnssec} } }`)
  box.write('repo/gslb.yaml', signedBy('algorithm: ecdsap256sha256'))
  const becomes = await check('--base', 'base')
  expect(becomes.out).not.toContain('is signed')
  commit('sign')
  box.write('repo/gslb.yaml', signedBy('algorithm: ed25519'))
  const other = 'zone example.com. is signed by ed25519 in the place of ecdsap256sha256, and the DS'
  expect((await check('--base', 'HEAD')).out).toContain(other)
  box.write('repo/gslb.yaml', settings)
  const said = await check('--base', 'HEAD')
  expect(said.exit).toBe(0)
  expect(said.out).toMatch(/zone example\.com\. is signed no more, and .*dig \+short DS example/)
})

const unsigned = 'are judged up to HEAD: what is not committed has none yet'
test.each<[what: string, file: string, text: string, isSaid: boolean]>([
  ['nothing', poolPath, poolYaml('192.0.2.1'), false],
  ['a remark', poolPath, `${poolYaml('192.0.2.1')}# a remark\n`, false],
  ['another address', poolPath, poolYaml('192.0.2.9'), true],
  [
    'a file that git does not know',
    poolPath.replace('web', 'b'),
    poolYaml('192.0.2.9', '', 'b'),
    true,
  ],
])('%s that is not committed has no signature', async (_what, file, text, isSaid) => {
  const { box, repo, check } = checkout('')
  const signers = box.write('signers', `a@example.com ${box.sshKey('a').publicLine}\n`)
  box.write(`repo/${file}`, text)
  const said = await check('--base', 'base', '--allowed-signers', signers)
  expect([said.exit, said.out.includes(unsigned)]).toEqual([0, isSaid])
  const unchecked = await check('--base', 'base')
  expect(unchecked.out).not.toContain(unsigned)
  expect(unchecked.out.includes('\nwhat is not committed is judged, too\n')).toBe(isSaid)
  const review = await runCli('review', repo, '--base', 'base')
  const dirty = /^Check and policy tests: passed: .*; what is not committed is judged, too$/m
  expect(dirty.test(review.out)).toBe(isSaid)
  const signed = await runCli('review', repo, '--base', 'base', '--allowed-signers', signers)
  expect(/^Signatures: .*; what is not committed has none yet$/m.test(signed.out)).toBe(isSaid)
})

test('a base that is none, and a directory outside of git', async () => {
  const { box, check } = checkout('')
  expect(await check('--base', 'nothing')).toMatchObject({ exit: 2 })
  box.write('alone/gslb.yaml', settings)
  const said = await runCli('check', box.at('alone'), '--base', 'base')
  expect(said.exit).toBe(2)
  expect(said.err).toContain('--base needs a checkout of git')
})

test('a base without a commit in common is refused, as plan and review refuse it', async () => {
  const { box, repo, commit } = checkout('')
  box.git(repo, 'checkout', '-q', '--orphan', 'alone')
  commit('another beginning')
  const words = 'base and HEAD have no commit in common: give two commits of one history'
  for (const command of ['check', 'plan', 'review']) {
    const said = await runCli(command, repo, '--base', 'base')
    expect([command, said.exit]).toEqual([command, 2])
    expect(said.out + said.err).toContain(words)
  }
})

test('a base whose history a shallow clone lacks is refused, with what brings it', async () => {
  const { box, repo, commit } = checkout('')
  commit('second')
  commit('third')
  const clone = box.at('shallow')
  box.git(box.path, 'clone', '-q', '--depth', '1', `file://${repo}`, clone)
  box.git(clone, 'fetch', '-q', '--depth', '1', 'origin', 'tag', 'base')
  for (const command of ['check', 'review']) {
    const said = await runCli(command, clone, '--base', 'base')
    expect([command, said.exit]).toEqual([command, 2])
    expect((said.out + said.err).match(/"git fetch --unshallow [^"]*" brings/g)).toHaveLength(1)
  }
})

test('each command says in a shallow clone how to fetch its base, and that helps', async () => {
  const { box, repo, commit } = checkout('')
  const key = box.sshKey('alice')
  const signers = box.write('signers', `alice@example.com ${key.publicLine}\n`)
  commit('second')
  box.git(repo, 'branch', 'other')
  for (let i = 0; i < 3; i++) {
    box.git(repo, ...box.signWith(key), 'commit', '-q', '-S', '--allow-empty', '-m', String(i))
  }
  const commands = [['check'], ['plan'], ['review'], ['verify', '--allowed-signers', signers]]
  const bases = ['origin/other', 'base', 'HEAD~3', box.git(repo, 'rev-parse', 'other')]
  const pairs = bases.flatMap((base, i) => commands.map((command, k) => ({ base, command, i, k })))
  // In the short lane each base and each command once.
  for (const {
    base,
    command: [command = '', ...more],
  } of laneRows(pairs, ({ i, k }) => i === k)) {
    const clone = box.at('clone', command, base)
    box.git(box.path, 'clone', '-q', '--depth=1', '-o', 'origin', `file://${repo}`, clone)
    const run = () => runCli(command, clone, '--base', base, ...more)
    const said = await run()
    expect([command, base, said.exit]).toEqual([command, base, 2])
    const [, advice = ''] = /"git (fetch [^"]*)" brings/.exec(said.out + said.err) ?? []
    box.git(clone, ...advice.replaceAll("'", '').split(' '))
    const again = await run()
    const isRight = command === 'verify' && base === 'base' ? 4 : 0
    expect([command, base, again.exit, again.err]).toEqual([command, base, isRight, again.err])
    expect(again.out + again.err).not.toContain('shallow')
  }
})

test('a branch that is known by the name of its remote alone is suggested', async () => {
  const { box, repo } = checkout('')
  box.git(repo, 'branch', 'other')
  const clone = box.at('clone')
  box.git(box.path, 'clone', '-q', '-o', 'upstream', `file://${repo}`, clone)
  const said = await runCli('check', clone, '--base', 'other')
  expect([said.exit, said.err]).toEqual([2, expect.stringContaining('"upstream/other"?')])
})

test('a base that has errors itself is not compared', async () => {
  const { box, commit, check } = checkout('')
  box.write('repo/gslb.yaml', settings.replace('zones', 'znes'))
  commit('broken')
  box.write('repo/gslb.yaml', settings)
  const said = await check('--base', 'HEAD')
  expect(said).toMatchObject({ exit: 0 })
  expect(said.out).toContain('not compared: HEAD has errors itself')
})

test('commits are judged as one push, and an override vouches for nothing after it', async () => {
  const { box, repo, commit, check } = checkout('')
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const path = servicePath.replace('www', name)
    box.write(`repo/${path}`, serviceYaml(`${name}.example.com.`, name))
  }
  commit('five more')
  box.git(repo, 'tag', 'six')
  box.git(repo, 'rm', '-q', servicePath.replace('www', 'a'))
  expect((await check('--base', 'six')).exit).toBe(0)
  commit('without a')
  box.git(repo, 'rm', '-q', servicePath.replace('www', 'b'))
  const together = await check('--base', 'six')
  expect([together.exit, together.out]).toEqual([
    3,
    expect.stringContaining('This removes 2 of 6 names'),
  ])
  commit('without b')
  const words = /The change from commit \w+ to \w+ removes 2 of 6 names/
  const pushed = await check('--base', 'six')
  expect([pushed.exit, pushed.out]).toEqual([3, expect.stringMatching(words)])
  box.write(`repo/${servicePath.replace('www', 'b')}`, serviceYaml('b.example.com.', 'b'))
  expect((await check('--base', 'six')).exit).toBe(0)
  box.git(repo, 'checkout', '-q', '.')
  box.git(repo, 'clean', '-fdq')
  box.git(repo, 'rm', '-q', servicePath.replace('www', 'c'))
  commit('unrelated', 'Gslb-Override: an older reason')
  expect((await check('--base', 'six')).out).toContain('as meant: an older reason')
  box.git(repo, 'rm', '-q', servicePath.replace('www', 'd'), servicePath.replace('www', 'e'))
  commit('two of three')
  expect((await check('--base', 'six')).exit).toBe(3)
})

test('a commit that names what answered, and goes back to it, is not held', async () => {
  const { box, commit, head, check } = checkout('')
  const limited = settings.replace('spec: {', 'spec: { guardrails: { movedClients: 60 },')
  box.write('repo/gslb.yaml', limited)
  commit('a limit')
  const good = head()
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.2'))
  commit('move', 'Gslb-Override: a new site')
  const bad = head()
  for (const n of [1, 2, 3, 4, 5]) {
    box.write('repo/README.md', `${n}`)
    commit('beside it')
  }
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.1'))
  const words = /guardrail: Commit \w+ sends 100 % .*it goes back to commit \w+, which answered/
  const said = await check('--base', 'HEAD')
  const advice = expect.stringContaining('--trailer "Gslb-Back: COMMIT"') as string
  expect([said.exit, said.out]).toEqual([3, advice])
  expect((await runCli('plan', box.at('repo'), '--base', 'HEAD')).exit).toBe(3)
  commit('back', `This reverts commit ${bad}.`)
  const then = await check('--base', 'HEAD~1')
  expect([then.exit, then.out]).toEqual([0, expect.stringMatching(words)])
  const review = await runCli('review', box.at('repo'), '--base', 'HEAD~1')
  expect(review.out).toMatch(/^Guardrails: passed: Commit .* goes back to commit/m)
  expect(review.out).not.toContain('.;')
  expect(await runCli('plan', box.at('repo'), '--base', 'HEAD~1')).toMatchObject({
    exit: 0,
    err: expect.stringMatching(/sends 100 % .* goes back to commit/) as string,
  })
  const bundle = box.at('back.bundle')
  expect((await runCli('compile', box.at('repo'), '-o', bundle)).exit).toBe(0)
  const planned = ['plan', box.at('repo'), '--base', 'HEAD~1', '--head', bundle]
  // A file says nothing of where it goes back to.
  expect((await runCli(...planned)).exit).toBe(3)
  const strict = ['--base', 'HEAD~1', '--max-moved', '60']
  expect((await runCli('plan', box.at('repo'), ...strict)).exit).toBe(3)
  // The bad change once more is no way back, nor is a part of it.
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.2'))
  commit('once more', `Gslb-Back: ${bad}`)
  const again = await check('--base', 'HEAD~1')
  expect([again.exit, again.out]).toEqual([3, expect.stringContaining('taken back since')])
  expect((await runCli('plan', box.at('repo'), '--base', 'HEAD~1')).exit).toBe(3)
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.3'))
  commit('elsewhere', `Gslb-Back: ${good}`)
  const other = await check('--base', 'HEAD~2')
  expect([other.exit, other.out]).toEqual([3, expect.stringContaining('is not as it was then')])
})

test('changes made by a node are not held against uncommitted changes', async () => {
  const { box, repo, commit, check } = checkout('')
  const limited = settings.replace('spec: {', 'spec: { guardrails: { movedClients: 60 },')
  box.write('repo/gslb.yaml', limited)
  commit('a limit')
  const key = box.sshKey('node')
  const signers = box.write('signers', `node@gslbd ${key.publicLine}\n`)
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.2'))
  box.git(repo, 'add', '-A')
  const asNode = ['-c', 'user.name=gslbd', '-c', 'user.email=node@gslbd']
  box.git(repo, ...box.signWith(key), ...asNode, 'commit', '-q', '-S', '-m', 'by the API')
  const ofHead = ['--base', 'HEAD~1', '--allowed-signers', signers]
  box.write(`repo/${servicePath}`, serviceYaml('www.example.com.').replace('ttl: 5', 'ttl: 6'))
  const said = await check(...ofHead)
  expect([said.exit, said.out]).toEqual([0, expect.not.stringContaining('guardrail: ')])
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.3'))
  const own = await check(...ofHead)
  expect([own.exit, own.out]).toEqual([3, expect.stringContaining('This sends 100 %')])
})

test('a change that goes back to what a node would have held is none', async () => {
  const { box, repo, commit, head, check } = checkout('')
  const limited = settings.replace('spec: {', 'spec: { guardrails: { movedClients: 60 },')
  box.write('repo/gslb.yaml', limited)
  box.git(repo, 'commit', '-q', '-a', '--amend', '-m', 'first, with a limit')
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.2'))
  commit('move')
  const bad = head()
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.1'))
  box.write(`repo/${servicePath.replace('www', 'a')}`, serviceYaml('a.example.com.', 'a'))
  commit('back, and a name')
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.2'))
  commit('move', `Gslb-Back: ${bad}`)
  const said = await check('--base', 'HEAD~1')
  const words = `${bad.slice(0, 10)}: nothing answered with these files`
  expect([said.exit, said.out]).toEqual([3, expect.stringContaining(words)])
  expect(await runCli('plan', box.at('repo'), '--base', 'HEAD~1')).toMatchObject({
    exit: 3,
    err: expect.stringMatching(/sends 100 % .* more than 60 %\n$/) as string,
  })
})

test('a change that goes back to what failed its policy tests is none', async () => {
  const { box, repo, commit, head, check } = checkout('')
  const limited = settings.replace('spec: {', 'spec: { guardrails: { movedClients: 60 },')
  const expecting =
    'apiVersion: gslb/v1\nkind: Test\nmetadata: { name: www }\nspec:\n' +
    '  cases: [{ given: { name: www.example.com }, expect: { members: [192.0.2.1] } }]\n'
  box.write('repo/gslb.yaml', limited)
  box.write('repo/tests/www.yaml', expecting)
  commit('a limit and a test')
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.2'))
  commit('move', 'Gslb-Override: meant')
  const bad = head()
  const alone = await check()
  expect([alone.exit, alone.out]).toEqual([1, expect.stringContaining('test-failed')])
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.1'))
  box.write(`repo/${servicePath}`, serviceYaml('www.example.com.').replace('ttl: 5', 'ttl: 6'))
  box.git(repo, 'rm', '-q', 'tests/www.yaml')
  commit('back, and a TTL, without the test')
  box.write(`repo/${poolPath}`, poolYaml('192.0.2.2'))
  commit('move', `Gslb-Back: ${bad}`)
  const said = await check('--base', 'HEAD~1')
  const words = `${bad.slice(0, 10)}: nothing answered with these files`
  expect([said.exit, said.out]).toEqual([3, expect.stringContaining(words)])
  expect(await runCli('plan', box.at('repo'), '--base', 'HEAD~1')).toMatchObject({
    exit: 3,
    err: expect.stringMatching(/sends 100 % .* more than 60 %\n$/) as string,
  })
})

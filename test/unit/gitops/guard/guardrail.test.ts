import assert from 'node:assert/strict'
import { test } from 'vitest'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { parseCommit } from '#gitops/git/objects/commit-object.ts'
import { createLocalSource } from '#gitops/source/local-source.ts'
import { areTooMany } from '#judge/guard/removal.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'
import { laneRows } from '../../../support/lane.ts'
import { reconcileBench } from '../../../support/reconcile-bench.ts'
import { poolPath, poolYaml, serviceYaml } from '../../../support/site.ts'

const settings = (guardrails = '', zones = '[{ name: example.com. }, { name: example.net. }]') =>
  `apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: settings }\nspec:\n` +
  `  zones: ${zones}\n  defaults: { nameservers: [{ name: ns1.example.org. }] }\n${guardrails}`
const fileOf = (name: string): string => `tenants/default/services/${name}.yaml`
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `s${i}`)

function scene(count: number) {
  const box = gitSandbox()
  const key = box.sshKey('alice')
  box.write('allowed_signers', `alice@example.com ${key.publicLine}\n`)
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  const repo = box.at('repo')
  const write = (path: string, text: string): void => void box.write(`repo/${path}`, text)
  const add = (...list: string[]): void => {
    for (const name of list) write(fileOf(name), serviceYaml(`${name}.example.com.`, name))
  }
  const drop = (...list: string[]): void => {
    if (list.length > 0) box.git(repo, 'rm', '-q', ...list.map(fileOf))
  }
  const commit = (...message: string[]): string => {
    const text = message.length === 0 ? ['change'] : message
    const parts = text.flatMap((part) => ['-m', part])
    box.git(repo, 'add', '-A')
    box.git(repo, ...box.signWith(key), 'commit', '-q', '-S', '--allow-empty', ...parts)
    return box.git(repo, 'rev-parse', 'HEAD')
  }
  /** @param isLocal the repository is the node's own: nobody else answers from it */
  const open = (dataDir = 'data', isLocal = true, requireSignature = true) =>
    reconcileBench({
      requireSignature,
      source: { ...createLocalSource(box.at('repo/.git'), 'main'), isLocal },
      gitdir: box.at('repo/.git'),
      dataDir: box.at(dataDir),
      allowedSignersPath: box.at('allowed_signers'),
      compiler: createCompilePort(),
    })
  write('gslb.yaml', settings())
  write(poolPath, poolYaml('192.0.2.1'))
  add(...names(count))
  return { box, repo, key, write, add, drop, commit, open }
}

const override = 'Gslb-Override: the shop closes'

test('a push that removes everything is held until a signed commit says it is meant', async () => {
  const { box, repo, commit, open } = scene(2)
  const first = commit()
  const bench = open()
  assert.equal((await bench.check()).accepted?.commit, first, 'the first commit is free')
  box.git(repo, 'rm', '-q', '-r', 'tenants')
  const removing = commit()
  const held = await bench.check()
  assert.deepEqual([held.sync, held.code, held.accepted?.commit], ['held', 'NamesRemoved', first])
  const sentence = `Commit ${removing.slice(0, 10)} removes 2 of 2 names (s0.example.com., `
  assert(held.reason.startsWith(sentence), held.reason)
  commit('Gslb-Override: a subject is no trailer')
  assert.equal((await bench.check()).code, 'NamesRemoved')
  const meant = commit('Closing', override)
  const status = await bench.check()
  assert.deepEqual([status.sync, status.accepted?.commit], ['synced', meant])
})

test('the last name of all cannot be pushed away without a word', async () => {
  const { drop, commit, open } = scene(1)
  commit()
  const bench = open()
  await bench.check()
  drop('s0')
  commit()
  assert.match((await bench.check()).reason, /removes 1 of 1 name \(s0\.example\.com\.\)/)
  commit('Closing', override)
  assert.equal((await bench.check()).sync, 'synced')
})

const rows: readonly [title: string, before: number, gone: number, isHeld: boolean][] = [
  ['one of two', 2, 1, false],
  ['two of three', 3, 2, true],
  ['three of ten', 10, 3, false],
  ['four of ten', 10, 4, true],
]
for (const [title, before, gone, isHeld] of laneRows(rows, (_, i) => i < 2)) {
  test(`${title} names may ${isHeld ? 'not ' : ''}go without a word`, async () => {
    const { drop, commit, open } = scene(before)
    commit()
    const bench = open()
    await bench.check()
    drop(...names(gone))
    commit()
    assert.equal((await bench.check()).code, isHeld ? 'NamesRemoved' : '')
  })
}

test('a name that gets another domain is removed, too', async () => {
  const { write, commit, open } = scene(4)
  commit()
  const bench = open()
  await bench.check()
  for (const name of names(2)) write(fileOf(name), serviceYaml(`new-${name}.example.com.`, name))
  commit()
  assert.match((await bench.check()).reason, /removes 2 of 4 names/)
})

test('a name whose service has no pool any more is removed, too', async () => {
  const { write, commit, open } = scene(4)
  commit()
  const bench = open()
  await bench.check()
  for (const name of names(2))
    write(fileOf(name), serviceYaml(`${name}.example.com.`, name, 'null'))
  commit()
  assert.match(
    (await bench.check()).reason,
    /removes 2 of 4 names \(s0\.example\.com\. left without a pool, s1\.example\.com\. left/,
  )
})

test('the last name that has a pool keeps it; names that never had one are no loss', async () => {
  const { write, drop, commit, open } = scene(4)
  const leave = (name: string): void => {
    write(fileOf(name), serviceYaml(`${name}.example.com.`, name, 'null'))
  }
  for (const name of ['s1', 's2', 's3']) leave(name)
  commit()
  const bench = open()
  await bench.check()
  drop('s3')
  commit()
  assert.equal((await bench.check()).sync, 'synced')
  leave('s0')
  commit()
  assert.match((await bench.check()).reason, /removes 1 of 3 names \(s0\.example\.com\. left/)
})

const recordsPath = 'tenants/default/records/example.com.yaml'
const recordsYaml = (count: number): string =>
  'apiVersion: gslb/v1\nkind: Records\nmetadata: { name: static }\n' +
  'spec:\n  zone: example.com.\n  records:\n' +
  names(count)
    .map((name) => `    - { name: static-${name}, type: TXT, values: [text] }\n`)
    .join('')

const mixed: readonly [title: string, after: (drop: () => void) => string, said: RegExp][] = [
  [
    'balanced names are counted by themselves',
    (drop) => (drop(), recordsYaml(20)),
    /removes 2 of 4 balanced names \(s0\.example\.com\., s1\.example\.com\.\)/,
  ],
  [
    'names with records are counted by themselves',
    () => recordsYaml(10),
    /removes 10 of 20 names with records \(static-s10\./,
  ],
  ['static addresses in place of balanced ones are no loss', staticOf, /^$/],
  [
    'texts of the name do not stand in for its addresses',
    (drop) => staticOf(drop).replaceAll('A, values: [192.0.2.1]', 'TXT, values: [text]'),
    /removes 2 of 4 balanced names/,
  ],
]

function staticOf(drop: () => void): string {
  drop()
  const addresses = names(2).map(
    (name) => `    - { name: ${name}, type: A, values: [192.0.2.1] }\n`,
  )
  return `${recordsYaml(20)}${addresses.join('')}`
}

for (const [title, after, said] of mixed) {
  test(`beside 20 static names: ${title}`, async () => {
    const { box, write, drop, commit, open } = scene(4)
    box.write(
      'repo/gslb.yaml',
      settings('  guardrails: { removedNames: 45 }\n', '[{ name: example.com. }]'),
    )
    write(recordsPath, recordsYaml(20))
    commit()
    const bench = open()
    await bench.check()
    write(
      recordsPath,
      after(() => drop('s0', 's1')),
    )
    commit()
    const { sync, reason } = await bench.check()
    assert.match(sync === 'synced' ? '' : reason, said)
  })
}

test('the last balanced name stays, however many static ones there are', async () => {
  const { write, drop, commit, open } = scene(1)
  write(recordsPath, recordsYaml(20))
  commit()
  const bench = open()
  await bench.check()
  drop('s0')
  commit()
  assert.match((await bench.check()).reason, /removes 1 of 1 balanced name \(s0\.example\.com\.\)/)
})

test('a zone that has services stays declared; one that has none may go', async () => {
  const { write, commit, open } = scene(1)
  commit()
  const bench = open()
  await bench.check()
  write('gslb.yaml', settings('', '[{ name: example.com. }]'))
  commit()
  assert.equal((await bench.check()).sync, 'synced')
  write('gslb.yaml', settings('', '[{ name: example.net. }]'))
  commit()
  assert.match(
    (await bench.check()).reason,
    /removes 1 zone with names \(example\.com\.\)\. If that/,
  )
})

test('the setting of the commit before counts, not that of the commit that removes', async () => {
  const { write, drop, commit, open } = scene(10)
  commit()
  const bench = open()
  await bench.check()
  drop(...names(5))
  write('gslb.yaml', settings('  guardrails: { removedNames: 60 }\n'))
  commit()
  assert.match((await bench.check()).reason, /removes 5 of 10 names/)
})

test('more may go once that was accepted', async () => {
  const { write, drop, commit, open } = scene(10)
  write('gslb.yaml', settings('  guardrails: { removedNames: 60 }\n'))
  commit()
  const bench = open()
  await bench.check()
  drop(...names(6))
  commit()
  assert.equal((await bench.check()).sync, 'synced')
})

test('a node that was away judges each commit of a remote, as the others did', async () => {
  const { box, repo, drop, add, commit, open } = scene(12)
  commit()
  const [here, away] = [open('here', false), open('away', false)]
  await here.check()
  await away.check()
  for (let left = 12; left > 6; left -= 2) {
    drop(...names(left).slice(left - 2))
    commit()
    assert.equal((await here.check()).sync, 'synced')
  }
  assert.equal((await away.check()).sync, 'synced', 'three small steps are no large one')
  add('more')
  commit()
  drop('s0', 's1', 'more')
  const removing = commit()
  add('later')
  commit()
  const [one, two] = [await here.check(), await away.check()]
  assert.equal(one.reason, two.reason)
  assert(one.reason.startsWith(`Commit ${removing.slice(0, 10)} removes 3 of 7`), one.reason)
  box.git(repo, 'rm', '-q', fileOf('later'))
  commit('On purpose', override)
  assert.deepEqual([(await here.check()).sync, (await away.check()).sync], ['synced', 'synced'])
})

test('commits of one push are one change, however many they are', async () => {
  const { box, repo, drop, write, commit, open } = scene(12)
  const first = commit()
  const bench = open()
  await bench.check()
  const steps = []
  for (let left = 12; left > 6; left -= 2) {
    drop(...names(left).slice(left - 2))
    write('README.md', `${left}`)
    steps.push(commit())
  }
  const { code, reason } = await bench.check()
  assert.equal(code, 'NamesRemoved')
  const range = [first, steps[2]!].map((oid) => oid.slice(0, 10))
  const words = `The change from commit ${range.join(' to ')} removes 6 of 12 names`
  assert(reason.startsWith(words), reason)
  const back = `git diff --binary ${range.join(' ')} | git apply -R --index`
  assert(reason.includes(`take it back: ${back}, then commit.`), reason)
  box.run('sh', ['-c', `cd ${repo} && ${back}`])
  commit('Taken back')
  assert.equal((await bench.check()).sync, 'synced')
  drop(...names(6))
  commit()
  assert.equal((await bench.check()).code, 'NamesRemoved')
  commit('Closing', override)
  assert.equal((await bench.check()).sync, 'synced')
})

test('among several commits of one push, the one that does all of it is named', async () => {
  const { drop, write, commit, open } = scene(6)
  commit()
  const bench = open()
  await bench.check()
  write('README.md', 'before')
  commit()
  drop(...names(3))
  const removing = commit()
  write('README.md', 'after')
  commit()
  const { reason } = await bench.check()
  assert(reason.startsWith(`Commit ${removing.slice(0, 10)} removes 3 of 6 names`), reason)
})

test('between commits of the API, what comes by Git is judged for itself', async () => {
  const { box, repo, drop, commit, open } = scene(12)
  const byApi = (): void => {
    box.git(repo, 'add', '-A')
    const who = ['GIT_COMMITTER_NAME=gslbd', 'GIT_COMMITTER_EMAIL=node@gslbd']
    box.run('env', [...who, 'git', '-C', repo, 'commit', '-q', '-m', 'by the API'])
  }
  commit()
  const bench = open('data', true, false)
  await bench.check()
  drop('s0', 's1')
  commit()
  drop('s2', 's3')
  byApi()
  drop('s4')
  commit()
  drop('s5')
  commit()
  assert.equal((await bench.check()).reason, '', '2 of 12, and 2 of 8')
  drop('s6', 's7', 's8')
  byApi()
  drop('s9')
  commit()
  drop('s10')
  commit()
  const { reason } = await bench.check()
  assert.match(reason, /^The change from commit \w+ to \w+ removes 2 of 3 names/)
})

test('a removal that the same push takes back was never made', async () => {
  const { drop, add, commit, open } = scene(4)
  commit()
  const bench = open()
  await bench.check()
  drop(...names(4))
  commit()
  assert.equal((await bench.check()).code, 'NamesRemoved')
  add(...names(4))
  commit()
  assert.equal((await bench.check()).sync, 'synced')
})

test('an override before the removal does not vouch for it; one that is merged does', async () => {
  const { box, repo, key, drop, commit, open } = scene(4)
  commit()
  const bench = open()
  await bench.check()
  commit('In advance', override)
  drop('s0', 's1')
  commit()
  assert.equal((await bench.check()).code, 'NamesRemoved')
  box.git(repo, 'checkout', '-q', '-b', 'side')
  commit('On purpose', override)
  box.git(repo, 'checkout', '-q', 'main')
  const merge = ['merge', '-q', '-S', '--no-ff', '-m', 'merge', 'side']
  box.git(repo, ...box.signWith(key), ...merge)
  assert.equal((await bench.check()).sync, 'synced')
})

test('a single name can always be removed', () => {
  assert.deepEqual(
    [areTooMany(1, 2, 0), areTooMany(2, 2, 100), areTooMany(2, 100, 0), areTooMany(3, 10, 30)],
    [false, false, true, false],
  )
})

test('the trailer is read from the last paragraph, without what steers a terminal', () => {
  const overrideIn = (message: string): string => {
    const who = 'A <a@x> 1 +0000'
    const head = `tree ${'1'.repeat(40)}\nauthor ${who}\ncommitter ${who}\n\n`
    const parsed = parseCommit(Buffer.from(head + message))
    assert(parsed.ok)
    return parsed.value.override
  }
  const messages: readonly [message: string, expected: string][] = [
    ['a\n\nGslb-Override: b\n', 'b'],
    ['a\n\ntext\n\nSigned-off-by: x\ngslb-override: b\n', 'b'],
    ['a\r\n\r\nGslb-Override: b\r\n', 'b'],
    ['Gslb-Override: b\n', ''],
    ['a\n\nGslb-Override: b\n\nmore text\n', ''],
    ['a\n\nGslb-Override:\n', ''],
    ['a\n\nGslb-Override: \u001b[2Jb\n', '?[2Jb'],
  ]
  for (const [message, expected] of messages) assert.equal(overrideIn(message), expected, message)
})

test('a commit that calls itself one of a node is judged like any other', async () => {
  const { box, repo, key, drop, open, commit } = scene(4)
  commit()
  const bench = open()
  await bench.check()
  drop(...names(4))
  const asNode = ['-c', 'user.name=gslbd', '-c', 'user.email=node@gslbd']
  box.git(repo, ...box.signWith(key), ...asNode, 'commit', '-q', '-S', '-m', 'change')
  assert.equal((await bench.check()).code, 'NamesRemoved')
})

test('an override on a commit with errors does not speak for what comes after it', async () => {
  const { write, drop, commit, open } = scene(4)
  commit()
  const bench = open()
  await bench.check()
  write('gslb.yaml', 'no: yaml: [')
  commit('Closing', override)
  write('gslb.yaml', settings())
  drop(...names(4))
  commit()
  assert.equal((await bench.check()).code, 'NamesRemoved')
})

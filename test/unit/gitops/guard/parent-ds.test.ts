// A commit that would leave a DS record at the parent of a zone behind is held.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { test } from 'vitest'
import { parentDsPathOf, readParentDs, writeParentDs } from '#gitops/guard/parent-ds.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { reconcileBench } from '#test/support/reconcile-bench.ts'

const settings = (dnssec: string): string => `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones: [{ name: Example.com.${dnssec === '' ? '' : `, dnssec: { ${dnssec} }`} }]
  defaults: { nameservers: [{ name: ns1.example.org. }] }
`
const signed = 'enabled: true'
const zone = 'example.com.'
const ds = '12345 13 2 ab'

async function scene() {
  const box = gitSandbox()
  const key = box.sshKey('alice')
  box.write('allowed_signers', `alice@example.com ${key.publicLine}\n`)
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  const repo = box.at('repo')
  const commit = (text: string, ...message: string[]): void => {
    box.write('repo/gslb.yaml', text)
    const parts = ['change', ...message].flatMap((part) => ['-m', part])
    box.git(repo, 'add', '-A')
    box.git(repo, ...box.signWith(key), 'commit', '-q', '-S', '--allow-empty', ...parts)
  }
  const revert = (): void =>
    void box.git(repo, ...box.signWith(key), 'revert', '-S', '--no-edit', 'HEAD')
  const path = parentDsPathOf(box.at('data'))
  const bench = reconcileBench({
    gitdir: join(repo, '.git'),
    dataDir: box.at('data'),
    allowedSignersPath: box.at('allowed_signers'),
    compiler: createCompilePort(),
    parentDs: () => readParentDs(path),
  })
  const see = (...seen: string[]): void =>
    writeParentDs(path, new Map([[zone, { ds: seen, rolls: false }]]))
  const seeRolled = (...seen: string[]): void =>
    writeParentDs(path, new Map([[zone, { ds: seen, rolls: true }]]))
  const judged = async (text: string, ...message: string[]) => {
    commit(text, ...message)
    const { code, reason } = await bench.check()
    return code === '' ? '' : `${code}: ${reason}`
  }
  return { bench, see, seeRolled, judged, revert }
}

const cases: readonly [title: string, seen: string[], from: string, to: string, says: string][] = [
  ['signing ends below a DS', [ds], signed, 'enabled: false', 'signs zone example.com. no more,'],
  ['signing ends without a word', [ds, '1 13 4 cd'], signed, '', '"12345 13 2 ab" and 1 more'],
  [
    'another algorithm comes',
    [ds],
    signed,
    `${signed}, algorithm: ed25519`,
    'signs zone example.com. by ed25519 in the place of ecdsap256sha256,',
  ],
  ['another algorithm has its DS', [ds, '9 15 2 ef'], signed, `${signed}, algorithm: ed25519`, ''],
  ['the parent has no DS', [], signed, '', ''],
  ['a zone is signed', [ds], '', signed, ''],
  ['nothing changes', [ds], signed, `${signed}, algorithm: ecdsap256sha256`, ''],
]
for (const [title, seen, from, to, says] of cases) {
  test(`${title}: ${says === '' ? 'fine' : 'held'}`, async () => {
    const { see, judged } = await scene()
    assert.equal(await judged(settings(from)), '')
    see(...seen)
    const verdict = await judged(settings(to))
    if (says === '') return assert.equal(verdict, '')
    assert(verdict.startsWith('GuardrailReached: Commit '), verdict)
    assert(verdict.includes(says), verdict)
    assert.match(verdict, /First take the DS away at the parent, and wait for its TTL\. If that/)
  })
}

test('another algorithm is fine where a node rolls the keys; to sign no more is not', async () => {
  const { seeRolled, judged } = await scene()
  await judged(settings(signed))
  seeRolled(ds)
  assert.equal(await judged(settings(`${signed}, algorithm: ed25519`)), '')
  assert.match(await judged(settings('')), /signs zone example\.com\. no more/)
})

test('an override lets it pass, and a revert does not', async () => {
  const { bench, see, judged, revert } = await scene()
  await judged(settings(''))
  assert.equal(await judged(settings(signed)), '')
  see(ds)
  revert()
  assert.equal((await bench.check()).code, 'GuardrailReached')
  assert.equal(await judged(settings(''), 'Gslb-Override: nobody validates'), '')
})

test('an unreadable file counts as empty', () => {
  const path = join(gitSandbox().path, 'gitops/parent-ds.json')
  assert.deepEqual(readParentDs(path), new Map())
  mkdirSync(dirname(path))
  const seen = (text: string) => {
    writeFileSync(path, text)
    return readParentDs(path)
  }
  for (const text of [
    '',
    'null',
    '[]',
    '{',
    '{"a.":1,"b.":{"ds":[1],"rolls":true},"c.":{"ds":[]}}',
  ]) {
    assert.deepEqual(seen(text), new Map())
  }
  fc.assert(fc.property(fc.string(), (text) => seen(text) instanceof Map))
  const parent = fc
    .tuple(fc.array(fc.string(), { maxLength: 4 }), fc.boolean())
    .map(([ds, rolls]) => ({ ds, rolls }))
  const facts = fc.uniqueArray(fc.tuple(fc.domain(), parent), { selector: ([name]) => name })
  fc.assert(
    fc.property(facts, (all) => {
      writeParentDs(path, new Map(all))
      assert.deepEqual(readParentDs(path), new Map(all))
    }),
    { numRuns: 20 },
  )
})

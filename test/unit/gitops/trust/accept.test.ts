import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'vitest'
import { digestOfTree } from '#gitops/trust/accept.ts'
import { attestationRefPrefix, makeAttestation } from '#gitops/trust/attestation.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { parsePrivateKey } from '#gitops/trust/openssh-key.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'
import type { GitSandbox, SandboxKey } from '../../../support/git-sandbox.ts'
import { reconcileBench } from '../../../support/reconcile-bench.ts'
import type { Bench } from '../../../support/reconcile-bench.ts'
import { readFileSync } from 'node:fs'

interface Scene {
  readonly box: GitSandbox
  readonly repo: string
  readonly alice: SandboxKey
  readonly mallory: SandboxKey
  readonly bench: Bench
  /** git in the checkout; the branch of the same repository is what the bench watches. */
  readonly git: (...args: string[]) => string
  /** Adds a file and commits it; returns the commit. Signed by `key`, or not. */
  readonly commit: (key: SandboxKey | null, file?: string) => string
  readonly trust: (...lines: string[]) => void
  readonly attest: (commit: string, key: SandboxKey, tree?: string) => Promise<void>
}

/** A checkout with one accepted, signed commit of Alice's. */
async function scene(): Promise<Scene> {
  const box = gitSandbox()
  const repo = box.at('repo')
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  const alice = box.sshKey('alice')
  const mallory = box.sshKey('mallory')
  const trust = (...lines: string[]): void =>
    writeFileSync(box.at('allowed_signers'), `${lines.join('\n')}\n`)
  trust(`alice@example.com ${alice.publicLine}`)
  const git = (...args: string[]): string => box.git(repo, ...args)
  let count = 0
  const commit = (key: SandboxKey | null, file = `f${count++}.yaml`): string => {
    box.write(`repo/${file}`, `${count++}\n`)
    git('add', '-A')
    const sign = key === null ? [] : box.signWith(key)
    git(...sign, 'commit', '-q', ...(key === null ? [] : ['-S']), '-m', `change ${file}`)
    return git('rev-parse', 'HEAD')
  }
  const driver = createDiskDriver(box.at('repo/.git'))
  const attest = async (oid: string, key: SandboxKey, tree = `${oid}^{tree}`): Promise<void> => {
    const digest = await digestOfTree(driver, git('rev-parse', tree))
    const secret = parsePrivateKey(readFileSync(key.path, 'utf8'))
    assert(digest.ok && secret.ok)
    const text = makeAttestation(oid, digest.value, 1_790_000_000, secret.value)
    const blob = driver.writeObject('blob', Buffer.from(text))
    git('update-ref', attestationRefPrefix + oid, blob)
  }
  const bench = reconcileBench({
    gitdir: box.at('repo/.git'),
    dataDir: box.at('data'),
    allowedSignersPath: box.at('allowed_signers'),
  })
  commit(alice)
  const status = await bench.check()
  assert.equal(status.sync, 'synced', status.reason)
  return { box, repo, alice, mallory, bench, git, commit, trust, attest }
}

const cases: readonly [
  title: string,
  act: (s: Scene) => void | Promise<void>,
  code: string,
  says: RegExp,
][] = [
  [
    'a commit signed by a trusted key is accepted',
    ({ commit, alice }) => void commit(alice),
    '',
    /^$/,
  ],
  [
    'an unsigned commit is held',
    ({ commit }) => void commit(null),
    'Unsigned',
    /"change f.*" by Alice .* not signed/,
  ],
  [
    'an unsigned commit below a signed head is held',
    ({ commit, alice }) => void [commit(null), commit(alice)],
    'Unsigned',
    /is not signed/,
  ],
  [
    'a commit by a key that is not listed is held',
    ({ commit, mallory }) => void commit(mallory),
    'SignatureRefused',
    /key SHA256:\S+ is not in allowed_signers/,
  ],
  [
    'a commit of a key that was removed is held',
    ({ commit, alice, mallory, trust }) => {
      trust(`mallory@example.com ${mallory.publicLine}`)
      commit(alice)
    },
    'SignatureRefused',
    /not in allowed_signers/,
  ],
  [
    'a key may not sign commits when it is listed for another use',
    ({ commit, alice, trust }) => {
      trust(`alice@example.com namespaces="file" ${alice.publicLine}`)
      commit(alice)
    },
    'SignatureRefused',
    /not allowed for "git"/,
  ],
  [
    'a commit whose signature names the key of another is held',
    ({ commit, mallory, alice, box, git }) => {
      const oid = commit(mallory)
      const keyBytes = (key: SandboxKey): string =>
        Buffer.from(key.publicLine.split(' ')[1]!, 'base64').toString('hex')
      const raw = git('cat-file', 'commit', oid)
      const armored = /-----BEGIN SSH SIGNATURE-----([^-]+)-----END/.exec(raw)![1]!
      const signature = Buffer.from(armored.replace(/\s/g, ''), 'base64').toString('hex')
      const forged = Buffer.from(
        signature.replace(keyBytes(mallory), keyBytes(alice)),
        'hex',
      ).toString('base64')
      const body = forged
        .match(/.{1,70}/g)!
        .map((line) => ` ${line}\n`)
        .join('')
      const file = box.write('forged', `${raw.replace(armored, `\n${body} `)}\n`)
      git('update-ref', 'refs/heads/main', git('hash-object', '-t', 'commit', '-w', file))
    },
    'SignatureRefused',
    /signature does not fit its content/,
  ],
  [
    'a signature moved to another commit is held',
    ({ commit, alice, box, git }) => {
      const raw = git('cat-file', 'commit', commit(alice))
      const file = box.write('moved', `${raw.replace('change', 'charge')}\n`)
      git('update-ref', 'refs/heads/main', git('hash-object', '-t', 'commit', '-w', file))
    },
    'SignatureRefused',
    /signature does not fit its content/,
  ],
  [
    'a signature that is garbage is held',
    ({ commit, alice, box, git }) => {
      const raw = git('cat-file', 'commit', commit(alice))
      const file = box.write('garbage', `${raw.replace(/U1NIU0lH/, 'AAAAAAAA')}\n`)
      git('update-ref', 'refs/heads/main', git('hash-object', '-t', 'commit', '-w', file))
    },
    'SignatureRefused',
    /is not an SSH signature/,
  ],
  [
    'a head that was pushed by force over the accepted one is held',
    ({ commit, alice, git }) => {
      git('checkout', '-q', '--orphan', 'other')
      commit(alice)
      git('branch', '-f', 'main', 'other')
    },
    'HistoryRewritten',
    /does not contain .*, run "gslbd trust reset --data-dir \/\S+\/data", start it\.$/,
  ],
  [
    'a head that goes back behind the accepted one is held',
    async ({ commit, alice, git, bench }) => {
      commit(alice)
      assert.equal((await bench.check()).sync, 'synced')
      git('reset', '-q', '--hard', 'HEAD~1')
    },
    'HistoryRewritten',
    /history was rewritten/,
  ],
  [
    'a merge commit is accepted when it and its branch are signed',
    ({ commit, alice, git, box }) => {
      git('checkout', '-q', '-b', 'side')
      commit(alice)
      git('checkout', '-q', 'main')
      commit(alice)
      git(...box.signWith(alice), 'merge', '-q', '-S', '-m', 'merge side', 'side')
    },
    '',
    /^$/,
  ],
  [
    'a signed merge of an unsigned branch is held',
    ({ commit, alice, git, box }) => {
      git('checkout', '-q', '-b', 'side')
      commit(null)
      git('checkout', '-q', 'main')
      git(...box.signWith(alice), 'merge', '-q', '-S', '--no-ff', '-m', 'merge side', 'side')
    },
    'Unsigned',
    /is not signed/,
  ],
  [
    'a squashed, unsigned commit is accepted with an attestation',
    async ({ commit, alice, attest }) => attest(commit(null), alice),
    '',
    /^$/,
  ],
  [
    'an attestation by a key that is not listed does not help',
    async ({ commit, mallory, attest }) => attest(commit(null), mallory),
    'Unsigned',
    /attestation is not accepted: key .* is not in allowed_signers/,
  ],
  [
    'an attestation of another tree does not help',
    async ({ commit, alice, attest }) => attest(commit(null), alice, 'HEAD~1^{tree}'),
    'Unsigned',
    /attestation speaks of another tree/,
  ],
  [
    'an attestation of another commit does not help',
    async ({ commit, alice, attest, git }) => {
      const first = commit(null)
      await attest(first, alice)
      const second = commit(null)
      const blob = git('rev-parse', attestationRefPrefix + first)
      git('update-ref', attestationRefPrefix + second, blob)
    },
    'Unsigned',
    /attestation speaks of another commit/,
  ],
  [
    'a commit signature does not pass for an attestation',
    ({ commit, alice, box, git }) => {
      const oid = commit(null)
      const text = `gslb attestation v1\ncommit ${oid}\ntree sha256:${'0'.repeat(64)}\ntime 1\n`
      const signed = box.run(
        'ssh-keygen',
        ['-q', '-Y', 'sign', '-n', 'git', '-f', alice.path],
        text,
      )
      const file = box.write('fake', `${text}${signed}\n`)
      git('update-ref', attestationRefPrefix + oid, git('hash-object', '-w', file))
    },
    'Unsigned',
    /attestation has a wrong signature/,
  ],
  [
    'every commit is held while allowed_signers has an error',
    ({ commit, alice, trust }) => {
      trust(`alice@example.com cert-authority ${alice.publicLine}`)
      commit(alice)
    },
    'SignersUnreadable',
    /line 1: certificates are not supported/,
  ],
  [
    'every commit is held while allowed_signers is missing',
    ({ commit, alice, box }) => {
      box.run('rm', [box.at('allowed_signers')])
      commit(alice)
    },
    'SignersUnreadable',
    /it does not exist. Make it with "gslbd trust add/,
  ],
  [
    'every commit is held while allowed_signers is empty',
    ({ commit, alice, trust }) => {
      trust('# nobody')
      commit(alice)
    },
    'SignersUnreadable',
    /lists no Ed25519 key/,
  ],
  [
    'the list of signers in the tree is not the pinned one',
    ({ commit, mallory, box }) => {
      box.write('repo/allowed_signers', `mallory@example.com ${mallory.publicLine}\n`)
      commit(mallory)
    },
    'SignatureRefused',
    /not in allowed_signers/,
  ],
]

for (const [title, act, code, says] of cases) {
  test(title, async () => {
    const s = await scene()
    const before = s.bench.published.length
    const acceptedBefore = s.git('rev-parse', 'HEAD')
    await act(s)
    const status = await s.bench.check()
    assert.equal(status.code, code, status.reason)
    assert.match(status.reason, says)
    assert.equal(status.head?.commit, s.git('rev-parse', 'main'))
    if (code === '') {
      assert.equal(status.accepted?.commit, s.git('rev-parse', 'main'))
      assert.match(status.accepted.signer, /^alice@example.com SHA256:/)
      assert.equal(s.bench.published.length, before + 1)
    } else if (code !== 'HistoryRewritten') {
      assert.equal(status.accepted?.commit, acceptedBefore)
      assert.equal(s.bench.published.length, before)
    }
  })
}

test('the reason for refusing an unsigned commit names ways out that work', async () => {
  const { bench, commit, attest, alice } = await scene()
  const oid = commit(null)
  commit(alice)
  const { code, reason } = await bench.check()
  assert.equal(code, 'Unsigned')
  assert.match(reason, new RegExp(`run "gslbd attest ${oid.slice(0, 10)}" in a checkout`))
  assert.match(reason, /a signed commit on top does not help.*which the local origin refuses\.$/)
  await attest(oid, alice)
  assert.equal((await bench.check()).sync, 'synced')
})

test('a commit with a submodule in a place that is not read can be attested', async () => {
  const { bench, git, attest, alice } = await scene()
  git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},vendor/lib`)
  git('commit', '-q', '-m', 'a submodule')
  const oid = git('rev-parse', 'HEAD')
  await attest(oid, alice)
  assert.equal((await bench.check()).accepted?.commit, oid)
})

test('a held head is looked at again when an attestation comes, and not before', async () => {
  const { bench, commit, attest, alice } = await scene()
  const oid = commit(null)
  assert.equal((await bench.check()).code, 'Unsigned')
  const told = bench.changes.length
  for (let i = 0; i < 3; i++) assert.equal((await bench.check()).code, 'Unsigned')
  assert.equal(bench.changes.length, told, 'the reason is told once')
  await attest(oid, alice)
  assert.equal((await bench.check()).accepted?.commit, oid)
})

test('a held head is looked at again when the list of signers changes', async () => {
  const { bench, commit, trust, alice, mallory } = await scene()
  const oid = commit(mallory)
  assert.equal((await bench.check()).code, 'SignatureRefused')
  trust(`alice@example.com ${alice.publicLine}`, `m@example.com ${mallory.publicLine}`)
  assert.equal((await bench.check()).accepted?.commit, oid)
})

test('ancestors of a first commit are not asked for', async () => {
  const { box, commit, alice } = await scene()
  commit(null)
  const head = commit(alice)
  const fresh = reconcileBench({
    gitdir: box.at('repo/.git'),
    dataDir: box.at('other'),
    allowedSignersPath: box.at('allowed_signers'),
  })
  assert.equal((await fresh.check()).accepted?.commit, head)
})

test('without requireSignature, an unsigned commit is taken, a rewrite is not', async () => {
  const { box, commit, git } = await scene()
  const bench = reconcileBench({
    gitdir: box.at('repo/.git'),
    dataDir: box.at('lax'),
    allowedSignersPath: box.at('nowhere'),
    requireSignature: false,
  })
  const head = commit(null)
  const status = await bench.check()
  assert.deepEqual([status.accepted?.commit, status.accepted?.signer], [head, ''])
  git('commit', '-q', '--amend', '-m', 'another')
  assert.equal((await bench.check()).code, 'HistoryRewritten')
})

test('an old, unsigned commit with a wrong clock is not asked for again', async () => {
  const { box, repo, commit, alice, git } = await scene()
  // Between the accepted commit and the branch point lie commits of a wrong clock, so that the walk
  // comes to the branch point over the new branch first.
  const environment = ['GIT_COMMITTER_DATE=2001-01-01T00:00:00Z', 'git', '-C', repo]
  const base = commit(null)
  for (let i = 0; i < 3; i++)
    box.run('env', [...environment, 'commit', '-q', '--allow-empty', '-m', `past ${i}`])
  commit(alice)
  const bench = reconcileBench({
    gitdir: box.at('repo/.git'),
    dataDir: box.at('skewed'),
    allowedSignersPath: box.at('allowed_signers'),
  })
  assert.equal((await bench.check()).sync, 'synced')
  git('checkout', '-q', '-b', 'side', `${base}`)
  commit(alice)
  git('checkout', '-q', 'main')
  git(...box.signWith(alice), 'merge', '-q', '-S', '-m', 'merge', 'side')
  const status = await bench.check()
  assert.equal(status.code, '', status.reason)
})

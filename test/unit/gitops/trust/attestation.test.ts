import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { test } from 'vitest'
import { digestOfTree } from '#gitops/trust/accept.ts'
import { parseAllowedSigners } from '#gitops/trust/allowed-signers.ts'
import { makeAttestation, verifyAttestation } from '#gitops/trust/attestation.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { formatPublicKeyLine, generateSshKey } from '#gitops/trust/openssh-key.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'

const key = generateSshKey('')
const line = `a@example.com ${formatPublicKeyLine(key.publicKey, '')}\n`
const parsed = parseAllowedSigners(line)
assert(parsed.ok)
const signers = parsed.value
const commit = '1'.repeat(40)
const digest = '2'.repeat(64)

test('ssh-keygen verifies an attestation with nothing but its text', () => {
  const box = gitSandbox()
  box.write('allowed', line)
  const text = makeAttestation(commit, digest, 1_790_000_000, key)
  const at = text.indexOf('-----BEGIN')
  const signature = box.write('sig', text.slice(at))
  const who = ['-I', 'a@example.com', '-f', box.at('allowed'), '-s', signature]
  const said = box.run(
    'ssh-keygen',
    ['-Y', 'verify', '-n', 'gslb-attest', ...who],
    text.slice(0, at),
  )
  assert.match(said, /Good "gslb-attest" signature/)
})

test('the digest is the one that the documentation says, by other programs', async () => {
  const box = gitSandbox()
  const repo = box.at('repo')
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  for (const path of ['b.yaml', 'a/z.yaml', 'a.yaml', 'a-b/c.yaml', 'Ä.yaml']) {
    box.write(`repo/${path}`, `content of ${path}`)
  }
  box.git(repo, 'add', '-A')
  box.git(repo, 'commit', '-q', '-m', 'files')
  const lines = box
    .git(repo, '-c', 'core.quotePath=off', 'ls-tree', '-r', 'HEAD')
    .split('\n')
    .map((entry) => /^(\d+) blob \S+\t(.*)$/.exec(entry)!)
    .map(([, mode = '', path = '']) => {
      const file = readFileSync(box.at('repo', path))
      const sum = box.run('sha256sum', [box.at('repo', path)]).slice(0, 64)
      return { path: Buffer.from(path), text: `${mode} ${path} ${file.length} ${sum}\n` }
    })
    .sort((a, b) => Buffer.compare(a.path, b.path))
  const tree = box.git(repo, 'rev-parse', 'HEAD^{tree}')
  const found = await digestOfTree(createDiskDriver(box.at('repo/.git')), tree)
  assert(found.ok)
  assert.equal(found.value, hash('sha256', lines.map(({ text }) => text).join('')))
})

test('an attestation with any byte changed is refused', () => {
  const text = Buffer.from(makeAttestation(commit, digest, 1_790_000_000, key))
  assert(verifyAttestation(text, commit, signers).ok)
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
      const changed = Buffer.from(text)
      changed[at]! ^= mask
      const verified = verifyAttestation(changed, commit, signers)
      // Line ends and the white space around the armor carry no meaning.
      if (verified.ok) assert.equal(verified.value.digest, digest)
      else assert.notEqual(verified.error, '')
    }),
    { numRuns: 1_000 },
  )
})

test('any bytes are either an attestation or an error, never a throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      assert.equal(verifyAttestation(bytes, commit, signers).ok, false)
    }),
  )
})

import assert from 'node:assert/strict'
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { test } from 'vitest'
import {
  formatPrivateKey,
  formatPublicKeyLine,
  generateSshKey,
  parsePrivateKey,
  parsePublicKeyLine,
} from '#gitops/trust/openssh-key.ts'
import { makeSshSignature, parseSshSignature, verifySshSignature } from '#gitops/trust/sshsig.ts'
import { armor } from '#gitops/trust/ssh-wire.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'

const message = Buffer.from('answer = f(bundle, health, now, query, random)\n')

for (const hash of ['sha256', 'sha512']) {
  test(`accepts what ssh-keygen signs with ${hash}`, () => {
    const box = gitSandbox()
    const key = box.sshKey('alice')
    const armored = box.run(
      'ssh-keygen',
      ['-q', '-Y', 'sign', '-O', `hashalg=${hash}`, '-n', 'git', '-f', key.path],
      message,
    )
    const parsed = parseSshSignature(armored)
    const line = parsePublicKeyLine(key.publicLine)
    assert(parsed.ok && line.ok)
    assert(verifySshSignature(parsed.value, message, 'git', line.value.publicKey))
    assert(!verifySshSignature(parsed.value, message, 'gslb-attest', line.value.publicKey))
    assert(!verifySshSignature(parsed.value, Buffer.from('other'), 'git', line.value.publicKey))
    assert(!verifySshSignature(parsed.value, message, 'git', generateSshKey('x').publicKey))
  })
}

test('ssh-keygen accepts what we sign with a key that we made', () => {
  const box = gitSandbox()
  const key = generateSshKey('alice@example.com')
  const line = formatPublicKeyLine(key.publicKey, key.comment)
  box.write('allowed', `alice@example.com ${line}\n`)
  const signature = box.write('sig', makeSshSignature(message, 'git', key))
  const said = box.run(
    'ssh-keygen',
    [
      '-Y',
      'verify',
      '-f',
      box.at('allowed'),
      '-I',
      'alice@example.com',
      '-n',
      'git',
      '-s',
      signature,
    ],
    message,
  )
  assert.match(said, /Good "git" signature/)
})

test('ssh-keygen signs with a private key file that we wrote', () => {
  const box = gitSandbox()
  for (const comment of ['', 'a', 'someone@example.com', 'a longer comment with spaces']) {
    const key = generateSshKey(comment)
    writeFileSync(box.at('key'), formatPrivateKey(key))
    chmodSync(box.at('key'), 0o600)
    const publicLine = box.run('ssh-keygen', ['-y', '-f', box.at('key')])
    assert.equal(publicLine, formatPublicKeyLine(key.publicKey, comment).trimEnd())
    assert.match(
      box.run('ssh-keygen', ['-l', '-f', box.at('key')]),
      new RegExp(RegExp.escape(key.publicKey.fingerprint)),
    )
  }
})

test('reads a private key file that ssh-keygen wrote', () => {
  const box = gitSandbox()
  const key = box.sshKey('alice')
  const parsed = parsePrivateKey(readFileSync(key.path, 'utf8'))
  assert(parsed.ok)
  assert.equal(formatPublicKeyLine(parsed.value.publicKey, parsed.value.comment), key.publicLine)
})

test('says that an encrypted private key is encrypted, and what to do', () => {
  const box = gitSandbox()
  box.run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-f', box.at('locked')])
  const parsed = parsePrivateKey(readFileSync(box.at('locked'), 'utf8'))
  assert(!parsed.ok)
  assert.match(parsed.error, /encrypted .* without a passphrase/)
})

test('names the type of a private key that is not Ed25519', () => {
  const box = gitSandbox()
  box.run('ssh-keygen', ['-q', '-t', 'ecdsa', '-N', '', '-f', box.at('ecdsa')])
  const parsed = parsePrivateKey(readFileSync(box.at('ecdsa'), 'utf8'))
  assert(!parsed.ok)
  assert.match(parsed.error, /ecdsa-sha2-nistp256; only ssh-ed25519/)
})

test('names the type of a signature that is not Ed25519', () => {
  const box = gitSandbox()
  box.run('ssh-keygen', ['-q', '-t', 'ecdsa', '-N', '', '-f', box.at('ecdsa')])
  const armored = box.run(
    'ssh-keygen',
    ['-q', '-Y', 'sign', '-n', 'git', '-f', box.at('ecdsa')],
    message,
  )
  const parsed = parseSshSignature(armored)
  assert(!parsed.ok)
  assert.match(parsed.error, /ecdsa-sha2-nistp256/)
})

test('a signature with any one bit changed is refused', () => {
  const key = generateSshKey('')
  const armored = makeSshSignature(message, 'git', key)
  const bytes = Buffer.from(armored.split('\n').slice(1, -2).join(''), 'base64')
  fc.assert(
    fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
      const changed = Buffer.from(bytes)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      const text = armor('SSH SIGNATURE', changed)
      const parsed = parseSshSignature(text)
      if (!parsed.ok) return
      // The claimed key is not believed, so a change there alone does not matter.
      const sameKey = parsed.value.claimedKey.raw.equals(key.publicKey.raw)
      if (sameKey) assert(!verifySshSignature(parsed.value, message, 'git', key.publicKey))
    }),
    { numRuns: 1_000 },
  )
})

test('any text is either a signature or an error, never a throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const body = Buffer.from(bytes).toString('base64')
      parseSshSignature(`-----BEGIN SSH SIGNATURE-----\n${body}\n-----END SSH SIGNATURE-----\n`)
      parseSshSignature(Buffer.from(bytes).toString('latin1'))
      parsePrivateKey(
        `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----\n`,
      )
      parsePublicKeyLine(Buffer.from(bytes).toString('latin1'))
    }),
  )
})

const corpus = new URL('../../../fuzz/corpus/sshsig/', import.meta.url)
for (const name of readdirSync(corpus)) {
  test(`refuses the seed ${name}`, () => {
    assert.equal(parseSshSignature(readFileSync(new URL(name, corpus), 'latin1')).ok, false)
  })
}

// Tests which signatures a node trusts at its first start, without a setting.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { believeOwnKey, lostKey, unbelievedKey } from '#process/data/own-key.ts'
import { loadSettings } from '#settings/settings.ts'
import { systemClock } from '#lib/clock.ts'
import type { Settings } from '#settings/settings.ts'
import { formatPublicKeyLine, generateSshKey } from '#gitops/trust/openssh-key.ts'
import { addSigner, listSigners, removeSigners } from '#gitops/trust/trust-file.ts'

function settings(gitops: Partial<Settings['gitops']> = {}, isApiOn = true): Settings {
  const dataDir = mkdtempSync(join(tmpdir(), 'gslbd-own-key-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const read = loadSettings({ env: {}, flags: { 'data-dir': dataDir } })
  if (!read.ok) throw new Error(read.error.join())
  const { api } = read.value
  return {
    ...read.value,
    api: { ...api, enabled: isApiOn },
    gitops: { ...read.value.gitops, ...gitops },
  }
}

test('a node believes its own key where the API writes to its repository', () => {
  const given = settings()
  expect(believeOwnKey(given).ok).toBe(true)
  const signers = listSigners(given.gitops.allowedSigners)
  expect(signers.ok && signers.value.map(({ principals }) => principals)).toEqual(['node@gslbd'])
})

test.each([
  ['with a remote, whose list is for all nodes', settings.bind(null, { url: 'https://a.test/r' })],
  ['where signatures are not asked for', settings.bind(null, { requireSignature: false })],
  ['where nobody can write by the API', () => settings({}, false)],
])('no key is believed %s', (_title, make) => {
  const given = make()
  expect(believeOwnKey(given).ok).toBe(true)
  expect(existsSync(given.gitops.allowedSigners)).toBe(false)
})

test('an existing list stays as it is', () => {
  const given = settings()
  writeFileSync(given.gitops.allowedSigners, '# nobody\n')
  expect(believeOwnKey(given).ok).toBe(true)
  expect(readFileSync(given.gitops.allowedSigners, 'utf8')).toBe('# nobody\n')
})

test('a list that cannot be written does not stop the node', () => {
  const aFile = join(settings().dataDir, 'file')
  writeFileSync(aFile, '')
  const given = settings({ allowedSigners: join(aFile, 'allowed_signers') })
  expect(believeOwnKey(given).ok).toBe(true)
})

test('a node whose key is gone says so, and what to do, unless it has signed nothing yet', () => {
  const given = settings()
  expect(lostKey(given)).toBeUndefined()
  believeOwnKey(given)
  mkdirSync(join(given.dataDir, 'node'))
  writeFileSync(join(given.dataDir, 'node', 'active.json'), '{}')
  expect(lostKey(given)).toBeUndefined()
  rmSync(join(given.dataDir, 'keys', 'node.pem'))
  expect(lostKey(given)).toMatch(/node\.pem is gone.*backup.*unknown-key.*bundle\.keys/)
})

test('a node whose key is not believed says that the API cannot write, and what to do', () => {
  const given = settings()
  expect(unbelievedKey(given, systemClock)).toBeUndefined()
  believeOwnKey(given)
  expect(unbelievedKey(given, systemClock)).toBeUndefined()

  const { allowedSigners } = given.gitops
  expect(removeSigners(allowedSigners, () => true).ok).toBe(true)
  const { publicKey } = generateSshKey('ann')
  const publicKeyLine = formatPublicKeyLine(publicKey, 'ann')
  addSigner(allowedSigners, { principal: 'ann@example.com', publicKeyLine, atSeconds: 0 })
  const warning = unbelievedKey(given, systemClock) ?? ''
  expect(warning).toMatch(/^the API can write nothing: .*run: gslbd trust add node@gslbd 'ssh-ed/)

  const [, line = ''] = /'(ssh-ed25519 [^']+)'/.exec(warning) ?? []
  addSigner(allowedSigners, { principal: 'node@gslbd', publicKeyLine: line, atSeconds: 0 })
  expect(unbelievedKey(given, systemClock)).toBeUndefined()
})

test.each([
  ['the API is off', settings.bind(null, {}, false)],
  ['signatures are not asked for', settings.bind(null, { requireSignature: false })],
])('a node whose key is not believed says nothing where %s', (_title, make) => {
  const given = make()
  writeFileSync(given.gitops.allowedSigners, '# nobody\n')
  expect(unbelievedKey(given, systemClock)).toBeUndefined()
})

// `gslbd trust remove`, `add` of a key that is there already, and `add --may-override`; what is
// said of the node's own key.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openNodeKey } from '#process/data/key.ts'
import { Exit } from '#system/process/command.ts'
import { findSigner } from '#gitops/trust/allowed-signers.ts'
import {
  formatPublicKeyLine,
  generateSshKey,
  parsePublicKeyLine,
} from '#gitops/trust/openssh-key.ts'
import { listSigners } from '#gitops/trust/trust-file.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const lineOf = (): { readonly line: string; readonly fingerprint: string } => {
  const { publicKey } = generateSshKey('a note')
  return {
    line: formatPublicKeyLine(publicKey, 'a note'),
    fingerprint: publicKey.fingerprint,
  }
}
const [ann, ann2, bob] = [lineOf(), lineOf(), lineOf()]
const text = [
  '# who may',
  `ann@example.com namespaces="git" ${ann.line}`,
  '',
  `ann@example.com ${ann2.line}`,
  `bob@example.com   ${bob.line}`,
  'carl@example.com ssh-rsa AAAA',
  '',
].join('\n')

function fileWith(content: string): string {
  const file = join(tempDir('trust'), 'allowed_signers')
  writeFileSync(file, content)
  return file
}

test.each([
  ['a principal', 'ann@example.com', [ann.line, ann2.line]],
  ['a fingerprint', ann2.fingerprint, [ann2.line]],
  ['a key', bob.line, [bob.line]],
])(
  'trust remove takes out the lines of %s, and leaves the others as they are',
  async (_w, who, gone) => {
    const file = fileWith(text)
    const { exit, out } = await runCli('trust', 'remove', who, '--file', file)
    expect([exit, out.trim().split('\n').length]).toEqual([Exit.Ok, gone.length])
    const left = text.split('\n').filter((line) => !gone.some((each) => line.includes(each)))
    expect(readFileSync(file, 'utf8')).toBe(left.join('\n'))
  },
)

test('trust remove takes a public key file, too', async () => {
  const file = fileWith(text)
  const key = join(tempDir('key'), 'bob.pub')
  writeFileSync(key, `${bob.line}\n`)
  expect((await runCli('trust', 'remove', key, '--file', file)).exit).toBe(Exit.Ok)
  expect(readFileSync(file, 'utf8')).not.toContain(bob.line)
})

test.each([
  ['somebody who is not there', 'dora@example.com', text, 'gslbd trust list'],
  ['the last key', 'bob@example.com', `bob@example.com ${bob.line}\n`, 'add another one first'],
  ['anybody of a damaged file', 'bob@example.com', `bob ${bob.line}\nx\n`, 'line 2'],
])('trust remove of %s changes nothing and says why', async (_what, who, content, words) => {
  const file = fileWith(content)
  const { exit, err } = await runCli('trust', 'remove', who, '--file', file)
  expect([exit, err]).toEqual([Exit.Trust, expect.stringContaining(words)])
  expect(readFileSync(file, 'utf8')).toBe(content)
})

test('trust remove of the key of a node says that its API can write no more', async () => {
  const file = fileWith(`${text}node@gslbd ${ann.line}\n`)
  const { exit, out } = await runCli('trust', 'remove', 'node@gslbd', '--file', file)
  expect(exit).toBe(Exit.Ok)
  expect(out).toContain('the API of the node with this key can write nothing now')
  expect(out).toContain("gslbd trust add node@gslbd 'ssh-ed25519 ")
  const other = await runCli('trust', 'remove', 'bob@example.com', '--file', file)
  expect(other.out).not.toContain('API')
})

test('trust list says how the key of the node is added where it is not listed', async () => {
  const dataDir = tempDir('trust')
  const file = join(dataDir, 'allowed_signers')
  writeFileSync(file, text)
  // A data directory whose node has no key yet.
  const keyless = await runCli('trust', 'list', '--data-dir', dataDir)
  expect([keyless.exit, keyless.err]).toEqual([Exit.Ok, ''])
  expect(openNodeKey(dataDir).ok).toBe(true)
  const { exit, err } = await runCli('trust', 'list', '--data-dir', dataDir)
  expect([exit, err]).toEqual([Exit.Ok, expect.stringContaining('its API can write nothing')])
  const [, line = ''] = /gslbd trust add node@gslbd '([^']+)'/.exec(err) ?? []
  await runCli('trust', 'add', 'node@gslbd', line, '--data-dir', dataDir)
  const after = await runCli('trust', 'list', '--data-dir', dataDir)
  expect([after.out.includes('node@gslbd'), after.err]).toEqual([true, ''])
})

const signs = (file: string, { line }: { readonly line: string }): boolean => {
  const [key, signers] = [parsePublicKeyLine(line), listSigners(file)]
  if (!key.ok || !signers.ok) throw new Error('cannot be read')
  const atSeconds = Date.now() / 1000
  return findSigner(signers.value, { ...key.value, namespace: 'git', atSeconds }).ok
}

test.each([
  ['is for other uses', 'namespaces="gslb-attest"'],
  ['has expired', 'valid-before="20200101Z"'],
])(
  'trust add gives a key another line where that of the same person %s',
  async (_what, options) => {
    const file = fileWith(`ann@example.com ${options} ${ann.line}\n`)
    expect(signs(file, ann)).toBe(false)
    const add = ['trust', 'add', 'ann@example.com', ann.line, '--file', file]
    expect((await runCli(...add)).out).toMatch(/^added to /)
    expect(signs(file, ann)).toBe(true)
    expect((await runCli(...add)).out).toContain('already')
  },
)

test('trust add refuses a key whose first line is of another person, and not for git', async () => {
  const before = `ann@work.example namespaces="gslb-attest" ${ann.line}\n`
  const file = fileWith(before)
  const add = ['trust', 'add', 'ann@example.com', ann.line, '--file', file]
  const refused = await runCli(...add)
  expect([refused.exit, refused.err]).toEqual([
    Exit.Trust,
    expect.stringMatching(/ann@work.example.*line 1/),
  ])
  expect(readFileSync(file, 'utf8')).toBe(before)
  // The same where both lines are there.
  writeFileSync(file, `${before}ann@example.com namespaces="git" ${ann.line}\n`)
  expect((await runCli(...add)).err).toBe(refused.err)
  const [, remedy = ''] = /gslbd (trust remove SHA256:\S+)/.exec(refused.err) ?? []
  expect(remedy).toBe(`trust remove ${ann.fingerprint}`)
  writeFileSync(file, `${before}bob@example.com ${bob.line}\n`)
  expect((await runCli(...remedy.split(' '), '--file', file)).exit).toBe(Exit.Ok)
  expect((await runCli(...add)).exit).toBe(Exit.Ok)
  expect(signs(file, ann)).toBe(true)
})

test.each([
  ['a new key', '', 'namespaces="git,gslb-attest,gslb-override"'],
  [
    'one that is there, whose other options stay',
    `ann@example.com namespaces="git",valid-before="20990101Z" ${ann.line}\n`,
    'namespaces="git,gslb-override",valid-before="20990101Z"',
  ],
])('trust add --may-override gives the right to %s', async (_what, before, options) => {
  const file = fileWith(`# who may\n${before}bob@example.com ${bob.line}\n`)
  const add = ['trust', 'add', 'ann@example.com', ann.line, '--may-override', '--file', file]
  expect((await runCli(...add)).exit).toBe(Exit.Ok)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(lines).toHaveLength(3)
  expect(lines).toContain(`ann@example.com ${options} ${ann.line}`)
  const again = await runCli(...add)
  expect(again.out).toContain('already')
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toEqual(lines)
})

test.each([
  ['namespaces that exclude it', `ann@example.com namespaces="git,!gslb-*" ${ann.line}\n`],
])('trust add --may-override leaves %s to a person', async (_what, before) => {
  const file = fileWith(before)
  const add = ['trust', 'add', 'ann@example.com', ann.line, '--may-override', '--file', file]
  const { exit, err } = await runCli(...add)
  expect(exit).not.toBe(Exit.Ok)
  expect(err).toContain('gslb-override')
  expect(readFileSync(file, 'utf8')).toBe(before)
})

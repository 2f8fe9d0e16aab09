import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { start } from '#cli/commands/start.ts'
import { operatorKeyPath, prepareQuickstart } from '#node/quickstart/quickstart.ts'
import { loadSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import { jsonSchemaFile } from '#schemas/json-schema.ts'
import type { Kind } from '#schemas/kinds.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { tempDir } from '#test/support/temp-dir.ts'

function settingsFor(dataDir: string): Settings {
  const settings = loadSettings({ env: {}, flags: { 'data-dir': dataDir } })
  if (!settings.ok) throw new Error(settings.error.join())
  return settings.value
}

async function prepare(dataDir: string): Promise<void> {
  const prepared = await prepareQuickstart(settingsFor(dataDir))
  if (!prepared.ok) throw new Error(prepared.error)
}

const head = (dataDir: string): string =>
  execFileSync('git', ['-C', join(dataDir, 'config.git'), 'rev-parse', 'main'])
    .toString()
    .trim()

test('git verifies the first commit, and its files are the example', async () => {
  const dataDir = tempDir()
  await prepare(dataDir)
  const { git, at } = gitSandbox()
  git('.', 'clone', '-q', join(dataDir, 'config.git'), 'config')
  const allowed = ['-c', `gpg.ssh.allowedSignersFile=${join(dataDir, 'allowed_signers')}`]
  expect(git('config', ...allowed, 'log', '-1', '--format=%G? %GS')).toBe('G node@gslbd')
  const paths = git('config', 'ls-files').split('\n')
  expect(paths).toContain('tenants/default/services/www.yaml')
  for (const path of paths) {
    expect(afterSchema(readFileSync(at('config', path), 'utf8'))).toBe(
      afterSchema(readFileSync(join('examples/quickstart', path), 'utf8')),
    )
  }
})

function afterSchema(text: string): string {
  const [first = '', ...others] = text.split('\n')
  expect(first).toMatch(/^# yaml-language-server: /)
  return others.join('\n')
}

test('in a clone as the README makes it, each file names a schema that is there', async () => {
  const clone = /git clone (?:.*\\\n)*.* -b main data\/config\.git (\S+)$/m
  const [, directory = ''] = clone.exec(readFileSync('README.md', 'utf8')) ?? []
  const { git, at, path: product } = gitSandbox()
  symlinkSync(resolve('schemas'), at('schemas'))
  await prepare(at('data'))
  git('.', 'clone', '-q', '-b', 'main', 'data/config.git', directory)
  for (const path of git(directory, 'ls-files').split('\n')) {
    const text = readFileSync(at(directory, path), 'utf8')
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? []
    const kind = /^kind: (\w+)$/m.exec(text)?.[1] as Kind
    const file = join(dirname(at(directory, path)), schema)
    expect(file).toBe(join(product, 'schemas/json', jsonSchemaFile(kind)))
    expect(existsSync(file)).toBe(true)
  }
})

test('the operator key is one that ssh-keygen reads, for its owner only', async () => {
  const dataDir = tempDir()
  await prepare(dataDir)
  const path = operatorKeyPath(dataDir)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const shown = execFileSync('ssh-keygen', ['-y', '-f', path]).toString().split(' ')
  const published = readFileSync(`${path}.pub`, 'utf8').split(' ')
  expect(shown.slice(0, 2)).toEqual(published.slice(0, 2))
})

test('a data directory that was used before is left alone', async () => {
  const dataDir = tempDir()
  await prepare(dataDir)
  const commit = head(dataDir)
  const signers = join(dataDir, 'allowed_signers')
  writeFileSync(signers, '# mine\n')
  const key = readFileSync(operatorKeyPath(dataDir), 'utf8')
  await prepare(dataDir)
  expect(head(dataDir)).toBe(commit)
  expect(readFileSync(signers, 'utf8')).toBe('# mine\n')
  expect(readFileSync(operatorKeyPath(dataDir), 'utf8')).toBe(key)
})

const interrupted = {
  'the public half of the key was written': (dataDir: string) => {
    rmSync(operatorKeyPath(dataDir))
    rmSync(join(dataDir, 'allowed_signers'))
    rmSync(join(dataDir, 'config.git'), { recursive: true })
  },
  'the key was written': (dataDir: string) => {
    rmSync(join(dataDir, 'allowed_signers'))
    rmSync(join(dataDir, 'config.git'), { recursive: true })
  },
  'the list of keys was written': (dataDir: string) =>
    rmSync(join(dataDir, 'config.git'), { recursive: true }),
  'the origin was made, without a commit': (dataDir: string) =>
    rmSync(join(dataDir, 'config.git/refs/heads/main')),
}

for (const [when, undo] of Object.entries(interrupted)) {
  test(`a first start that was killed after ${when} is completed by the next`, async () => {
    const dataDir = tempDir()
    await prepare(dataDir)
    undo(dataDir)
    await prepare(dataDir)
    expect(head(dataDir)).toMatch(/^[0-9a-f]{40}$/)
    const [, publicKey = ''] = readFileSync(`${operatorKeyPath(dataDir)}.pub`, 'utf8').split(' ')
    expect(readFileSync(join(dataDir, 'allowed_signers'), 'utf8')).toContain(publicKey)
  })
}

test('a file that cannot be written is an error of one sentence', async () => {
  const dataDir = tempDir()
  const settings = settingsFor(dataDir)
  const allowedSigners = join(dataDir, 'file', 'allowed_signers')
  writeFileSync(join(dataDir, 'file'), '')
  const prepared = await prepareQuickstart({
    ...settings,
    gitops: { ...settings.gitops, allowedSigners },
  })
  expect(prepared.ok ? '' : prepared.error).toMatch(/^the example's keys cannot be written: .*file/)
})

test('start --help says which addresses and port the demo backends take', () => {
  const pool = readFileSync('examples/quickstart/tenants/default/pools/web.yaml', 'utf8')
  const members = [...pool.matchAll(/ipAddress: ([\d.]+), port: (\d+)/g)]
  expect(members).toHaveLength(3)
  for (const [, address = '', port = ''] of members) {
    expect(start.usage).toContain(address)
    expect(start.usage).toContain(`port ${port}`)
  }
})

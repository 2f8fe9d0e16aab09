// A release in a clone, with a key of its own: each file, what is said of it, and the signed tag.
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changesOf } from '#bin/release-plan.ts'
import type { Bom } from '#bin/release-papers.ts'
import { version } from '#lib/version.ts'
import { freshCopy } from '#test/support/fresh-copy.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

let work: string
let copy: string
let output: string
let key: string

const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
const runIn = (folder: string, program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' })
const git = (...args: readonly string[]): string => runIn(copy, 'git', ...args)
const release = (...args: readonly string[]): string =>
  runIn(copy, process.execPath, 'bin/release.ts', ...args)
const files = (): string[] => readdirSync(output)
const fileOf = (suffix: string): string => files().find((name) => name.endsWith(suffix)) ?? suffix
const read = (suffix: string): string => readFileSync(join(output, fileOf(suffix)), 'utf8')

function makeClone(): void {
  work = makeTempDir('release')
  copy = join(work, 'copy')
  output = join(work, 'out')
  key = join(work, 'key')
  mkdirSync(copy)
  freshCopy(copy)
  runIn(copy, 'ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
  const log = join(copy, 'CHANGELOG.md')
  writeFileSync(log, readFileSync(log, 'utf8').replace('(unreleased)', '(2026-01-31)'))
  git('init', '-q', '-b', 'main')
  // A link, which the rule for folders does not match.
  appendFileSync(join(copy, '.git/info/exclude'), 'node_modules\n')
  for (const [name, value] of [
    ['user.name', 'ann'],
    ['user.email', 'ann@example.com'],
    ['gpg.format', 'ssh'],
    ['user.signingkey', key],
    ['gpg.ssh.allowedSignersFile', `${key}.signers`],
  ] as const) {
    git('config', name, value)
  }
  writeFileSync(`${key}.signers`, `ann@example.com ${readFileSync(`${key}.pub`, 'utf8')}`)
  git('add', '-A')
  git('commit', '-q', '-m', 'all')
}

beforeAll(() => {
  makeClone()
  release('--without', 'image', '--compression', 'none', '--output', output)
})
afterAll(() => removeTempDir(work))

test('the files are there, each with its sum, and the sums are signed', () => {
  const made = [
    new RegExp(`^gslbd-${version}\\.tgz$`),
    new RegExp(`^gslbd-client-${version}\\.tgz$`),
    new RegExp(`^gslbd-chart-${version}\\.tgz$`),
    new RegExp(`^gslbd_${version}_(amd64|arm64)\\.deb$`),
    new RegExp(`^gslbd-${version}\\.cdx\\.json$`),
    new RegExp(`^gslbd-${version}\\.intoto\\.json$`),
  ]
  for (const name of made) expect(files().filter((file) => name.test(file))).toHaveLength(1)
  expect(files()).toHaveLength(made.length + 2)
  const said = runIn(output, 'sha256sum', '--check', '--strict', 'SHA256SUMS')
  expect(said.match(/: OK$/gm)).toHaveLength(made.length)
  const sums = readFileSync(join(output, 'SHA256SUMS'))
  const how = ['-Y', 'verify', '-f', `${key}.signers`, '-I', 'ann@example.com']
  const args = [...how, '-n', 'gslbd-release', '-s', join(output, 'SHA256SUMS.sig')]
  expect(execFileSync('ssh-keygen', args, { input: sums, encoding: 'utf8' })).toContain('Good')
})

test('the bill of materials has what CycloneDX asks for, and all that NOTICE names', () => {
  const bom = JSON.parse(read('.cdx.json')) as Bom & { readonly serialNumber: string }
  expect(bom.bomFormat).toBe('CycloneDX')
  expect(bom.specVersion).toMatch(/^1\.\d$/)
  expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f-]{36}$/)
  expect(bom.metadata.component).toMatchObject({ name: 'gslbd', version })
  for (const one of bom.components) {
    expect(one.name).not.toBe('')
    expect(one.purl).toMatch(/^pkg:(?:npm|generic)\//)
  }
  const refs = bom.components.map((one) => one['bom-ref'])
  expect(new Set(refs).size).toBe(refs.length)
  const known = new Set([...refs, bom.metadata.component['bom-ref']])
  const links = bom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])
  expect(links.filter((ref) => !known.has(ref))).toEqual([])
  const notice = readFileSync(join(copy, 'NOTICE'), 'utf8')
  const named = [...notice.matchAll(/^(\S+): /gm)].map(([, name = '']) => name)
  const names = new Set(bom.components.map(({ name }) => name))
  expect(named.filter((name) => name !== 'Node.js' && !names.has(name))).toEqual([])
  expect(names).toContain('node')
  expect(names).not.toContain('eslint')
})

test('the provenance has the sums of the packages, and the commit of the tag', () => {
  const said = read('.intoto.json')
  const commit = git('rev-parse', `v${version}^{commit}`).trim()
  expect(said).toContain(`"gitCommit": "${commit}"`)
  const sums = readFileSync(join(output, 'SHA256SUMS'), 'utf8')
  for (const suffix of ['.tgz', '.deb', '.cdx.json']) {
    const [, sum = ''] = new RegExp(`^(\\w+) {2}${fileOf(suffix)}$`, 'm').exec(sums) ?? []
    expect(sum).toHaveLength(64)
    expect(said).toContain(`"sha256": "${sum}"`)
  }
})

test('the tag is annotated, says what the version does, and its signature is good', () => {
  const tag = `v${version}`
  expect(git('cat-file', '-t', tag).trim()).toBe('tag')
  const changes = changesOf(readFileSync(join(copy, 'CHANGELOG.md'), 'utf8'), version)
  expect(git('cat-file', '-p', tag)).toContain(`gslbd ${version}\n\n${changes}\n`)
  const said = runIn(copy, 'bash', '-c', `git tag -v ${tag} 2>&1`)
  expect(said).toContain('Good "git" signature for ann@example.com')
})

test('the packages carry NOTICE, and say where to report what is wrong', () => {
  const packed = runIn(output, 'tar', '-tzf', fileOf('.tgz'))
  expect(packed.split('\n')).toContain('package/NOTICE')
  expect(runIn(output, 'dpkg-deb', '--contents', fileOf('.deb'))).toMatch(/gslbd\/NOTICE$/m)
  const maintainer = runIn(output, 'dpkg-deb', '--field', fileOf('.deb'), 'Maintainer')
  expect(maintainer).toContain('<https://github.com/gslbd/gslbd/issues>')
})

test('the client for TypeScript is packed as it is published, with the same version', () => {
  const archive = `gslbd-client-${version}.tgz`
  const packed = runIn(output, 'tar', '-tzf', archive).trim().split('\n')
  for (const name of ['client.js', 'client.d.ts', 'openapi.d.ts', 'LICENSE', 'README.md']) {
    expect(packed).toContain(`package/${name}`)
  }
  expect(packed.filter((name) => /(?<!\.d)\.ts$/.test(name))).toEqual([])
  const manifest = runIn(output, 'tar', '-xOzf', archive, 'package/package.json')
  expect(JSON.parse(manifest)).toMatchObject({ name: '@gslbd/client', version })
})

test('a second release of the same version stops at its tag', () => {
  expect(() => release('--without', 'image', '--output', output)).toThrow(
    `the tag v${version} exists: raise it: npm run release -- --set-version X.Y.Z`,
  )
})

test('--set-version raises it everywhere, and nothing else', () => {
  release('--set-version', '7.8.9')
  const changed = git('diff', '--numstat').trim().split('\n')
  expect(changed.length).toBeGreaterThan(5)
  expect(release('--help')).toContain('--dry-run')
  const diff = git('diff', '--unified=0')
  const added = diff.split('\n').filter((line) => /^\+(?!\+)/.test(line))
  expect(added.filter((line) => !line.includes('7.8.9'))).toEqual([])
  git('checkout', '-q', '.')
})

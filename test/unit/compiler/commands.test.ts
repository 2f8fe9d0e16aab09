// gslbd check, compile and explain as a script calls them.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { generateKeyPairSync } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { trustedKeyFromPem } from '#bundle/signature/channel.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { reasonSpecs } from '#gitops/status/reasons.ts'
import { formatPrivateKey, formatPublicKeyLine, generateSshKey } from '#gitops/trust/openssh-key.ts'
import { Exit } from '#system/process/command.ts'
import { diagnosticCodes } from '#diagnostics/diagnostics.ts'
import { diagnosticCase, unpackCase } from '#test/support/case-file.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import type { Field } from '#test/support/mmdb-writer.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const root = join(import.meta.dirname, '../../..')
const scratch = mkdtempSync(join(tmpdir(), 'gslbd-commands-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const sshKey = generateSshKey('me@example.com')

const fixture = (code: string) => unpackCase(diagnosticCase(code), tempDir())
const quickstart = join(root, 'examples/quickstart')

for (const name of ['quickstart', 'multi-tenant']) {
  test(`check finds nothing in examples/${name}`, async () => {
    const { exit, out } = await runCli('check', join(root, 'examples', name))
    expect([exit, out.startsWith('ok: ')]).toEqual([Exit.Ok, true])
  })
}

test('check exits 1 on errors and 0 on warnings', async () => {
  expect((await runCli('check', fixture('pool-unknown'))).exit).toBe(Exit.ErrorsFound)
  const warned = await runCli('check', fixture('pool-inactive'))
  expect([warned.exit, warned.out.trimEnd().split('\n').at(-1)]).toEqual([
    Exit.Ok,
    'ok: 1 service, 1 pool, 1 zone; 1 warning',
  ])
})

test('check warns of subdivisions that the database of the nodes does not have', async () => {
  const file = join(scratch, 'city.mmdb')
  const place = (country: string, ...codes: string[]): Field => ({
    country: { iso_code: country },
    subdivisions: codes.map((code) => ({ iso_code: code })),
  })
  const networks: [string, Field][] = [
    ['192.0.2.0/24', place('FR', 'IDF', '75')],
    ['198.51.100.0/24', place('GB', 'ENG', 'LND')],
    ['203.0.113.0/24', place('IN', 'TG')],
  ]
  writeFileSync(file, writeMmdb({ networks }))
  const told = async (...options: string[]) => {
    const { out } = await runCli('check', fixture('subdivision-of-nobody'), ...options)
    return [...out.matchAll(/no subdivision "(.*?)" in (.*?),/g)].map(([, code, where]) => [
      code,
      where,
    ])
  }
  const iso = 'ISO 3166-2'
  const database = `the database ${file}`
  expect(await told()).toEqual([
    ['IN-TG', iso],
    ['US-ZZ', iso],
  ])
  expect(await told('--geoip', file)).toEqual([
    ['FR-75C', database],
    ['US-ZZ', database],
    ['ES-M', database],
  ])
  const wrong = await runCli('check', quickstart, '--geoip', join(scratch, 'no.mmdb'))
  expect([wrong.exit, wrong.err]).toEqual([
    Exit.Usage,
    expect.stringContaining(join(scratch, 'no.mmdb')),
  ])
})

test('check notes what a whole pool would take along only when it is asked', async () => {
  const [plain, asked] = await Promise.all([
    runCli('check', quickstart),
    runCli('check', quickstart, '--pools'),
  ])
  expect([plain.exit, asked.exit]).toEqual([Exit.Ok, Exit.Ok])
  expect(plain.out).not.toContain('the pool')
  expect(asked.out).toMatch(/note weak-spot: when the pool "web" is down, api\.example\.com\. has/)
})

test('check counts the record sets', async () => {
  const { out } = await runCli('check', fixture('alias-target-missing'))
  expect(out.trimEnd().split('\n').at(-1)).toBe(
    'ok: 0 services, 0 pools, 1 zone, 1 record set; 1 warning',
  )
})

for (const format of ['json', 'sarif']) {
  test(`check --format ${format} prints one JSON document and nothing else`, async () => {
    const { exit, out, err } = await runCli('check', fixture('pool-unknown'), '--format', format)
    expect(exit).toBe(Exit.ErrorsFound)
    expect(JSON.parse(out)).toBeTypeOf('object')
    expect(err).toBe('')
  })
}

test.each(['check', 'compile'])('%s takes what the nodes allow from its flags', async (command) => {
  const rows = [
    ['health-check-script-disabled', '--allow-script-checks'],
    ['health-check-webhook-internal', '--webhook-allowed-host', '0.0.0.0/0'],
  ] as const
  for (const [code, ...flags] of rows) {
    // Its hosts of IPv6 are internal, too.
    const flagsOfAll = [...flags, '--webhook-allowed-host', '::/0']
    const output = command === 'compile' ? ['-o', join(scratch, 'policy.bundle')] : []
    const refused = await runCli(command, fixture(code), ...output)
    expect([refused.exit, `${refused.out}${refused.err}`]).toEqual([
      Exit.ErrorsFound,
      expect.stringContaining(code),
    ])
    expect((await runCli(command, fixture(code), ...output, ...flagsOfAll)).exit).toBe(Exit.Ok)
  }
})

/** The two files of one key pair, as gslbd keygen writes them. */
function sshKeyFile(half: 'private' | 'public'): string {
  const path = join(scratch, half === 'private' ? 'key' : 'key.pub')
  const isPrivate = half === 'private'
  const line = `${formatPublicKeyLine(sshKey.publicKey, sshKey.comment)}\n`
  writeFileSync(path, isPrivate ? formatPrivateKey(sshKey) : line)
  return path
}

test("compile signs with OpenSSH's key, and verify trusts its public half", async () => {
  const file = join(scratch, 'ssh.bundle')
  const made = await runCli('compile', quickstart, '-o', file, '--key', sshKeyFile('private'))
  expect([made.exit, made.out.includes('not signed')]).toEqual([Exit.Ok, false])
  const { exit, out } = await runCli('bundle', 'verify', file, '--trust', sshKeyFile('public'))
  expect([exit, out.includes('signed by key')]).toEqual([Exit.Ok, true])
})

test('check takes the directory that it is in, as other commands do', async () => {
  const before = process.cwd()
  process.chdir(quickstart)
  try {
    const here = await runCli('check')
    expect(here).toEqual(await runCli('check', quickstart))
  } finally {
    process.chdir(before)
  }
})

const wrongCalls: readonly [title: string, argv: string[], sentence: RegExp][] = [
  ['a path that does not exist', ['check', join(scratch, 'nope')], /nope does not exist\n$/],
  [
    'a file in place of a directory',
    ['check', join(root, 'package.json')],
    /package\.json is a file; give the directory/,
  ],
  ['two paths', ['check', 'a', 'b'], /give one directory/],
  [
    'an unknown format',
    ['check', quickstart, '--format', 'jsn'],
    /no format "jsn"; did you mean "json"\?/,
  ],
  [
    'a format named like a method',
    ['check', quickstart, '--format', 'constructor'],
    /no format "constructor"/,
  ],
  [
    'a webhook host that is no network',
    ['check', quickstart, '--webhook-allowed-host', 'intranet.example'],
    /intranet\.example is neither an address nor a network such as/,
  ],
  ['an unknown option', ['check', quickstart, '--strict'], /--strict/],
  ['no output', ['compile', quickstart], /say where the bundle goes: -o FILE/],
  [
    'an output in a missing place',
    ['compile', quickstart, '-o', '/dev/null/x'],
    /cannot be written/,
  ],
  [
    'a key that does not exist',
    ['compile', quickstart, '-o', join(scratch, 'b'), '--key', join(scratch, 'k')],
    /the key .* does not exist; make one with "gslbd keygen"/,
  ],
  [
    'a key that is none',
    ['compile', quickstart, '-o', join(scratch, 'b'), '--key', join(root, 'package.json')],
    /the key .* cannot be used: it is neither OpenSSH nor PEM; make one with "gslbd keygen"/,
  ],
  [
    'a public key in place of a private one',
    ['compile', quickstart, '-o', join(scratch, 'b'), '--key', sshKeyFile('public')],
    /the key .* cannot be used: it is a public key; signing needs the private one/,
  ],
  [
    'an unknown code',
    ['explain', 'pool-unknwon'],
    /no diagnostic "pool-unknwon"; did you mean "pool-unknown"\?/,
  ],
  ['a code named like a method', ['explain', 'toString'], /no diagnostic "toString"/],
]
for (const [title, argv, sentence] of wrongCalls) {
  test(`${title} is one clear message and exit 2`, async () => {
    const { exit, out, err } = await runCli(...argv)
    expect(err).toMatch(sentence)
    expect([exit, out]).toEqual([Exit.Usage, ''])
  })
}

test('compile writes a bundle that the loader takes, with and without a signature', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const keyFile = join(scratch, 'key.pem')
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const trusted = [trustedKeyFromPem(publicKey.export({ type: 'spki', format: 'pem' }))]
  const [plain, signed] = [join(scratch, 'plain.bundle'), join(scratch, 'signed.bundle')]
  const first = await runCli('compile', quickstart, '-o', plain)
  const second = await runCli('compile', quickstart, '-o', signed, '--key', keyFile)
  expect([first.exit, second.exit]).toEqual([Exit.Ok, Exit.Ok])
  const digest = /digest ([0-9a-f]{64})/.exec(first.out)?.[1]
  expect(second.out).toContain(digest)
  expect(loadBundle(shared(plain)).ok).toBe(true)
  expect(loadBundle(shared(plain), trusted).ok).toBe(false)
  expect(loadBundle(shared(signed), trusted).ok).toBe(true)
})

function shared(file: string): Uint8Array {
  const bytes = readFileSync(file)
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}

test('compile writes nothing when the configuration has errors', async () => {
  const file = join(scratch, 'none.bundle')
  const { exit, err } = await runCli('compile', fixture('pool-unknown'), '-o', file)
  expect([exit, /pool-unknown/.test(err)]).toEqual([Exit.ErrorsFound, true])
  expect(() => readFileSync(file)).toThrow(/ENOENT/)
})

test('the digest does not depend on the time zone, the locale or the folder', () => {
  const copy = join(scratch, 'elsewhere')
  cpSync(quickstart, copy, { recursive: true })
  const digestIn = (folder: string, env: Record<string, string>) => {
    const args = [join(root, 'cli/main.ts'), 'compile', folder, '-o', join(scratch, 'env.bundle')]
    const out = execFileSync(process.execPath, args, {
      env: { PATH: process.env['PATH'], ...env },
      encoding: 'utf8',
    })
    return /digest ([0-9a-f]{64})/.exec(out)?.[1]
  }
  const here = digestIn(quickstart, { TZ: 'UTC', LC_ALL: 'C' })
  expect(here).toBeDefined()
  expect(digestIn(copy, { TZ: 'Asia/Kathmandu', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' })).toBe(
    here,
  )
})

test('explain without a code lists them all', async () => {
  const { out } = await runCli('explain')
  expect(
    out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ')[0]),
  ).toEqual([...diagnosticCodes, ...Object.keys(reasonSpecs)])
})

for (const code of Object.keys(reasonSpecs)) {
  test(`explain says what to do about ${code}, in any case of letters`, async () => {
    const { exit, out } = await runCli('explain', code.toLowerCase())
    expect(exit).toBe(Exit.Ok)
    expect(out).toMatch(new RegExp(`^(held|unreachable) ${code}: [^]*\\nTo do: .+\\.\\n`))
    expect((await runCli('explain')).out).toContain(`\n${code} `)
  })
}

test('explain shows the cause and both examples', async () => {
  const { exit, out } = await runCli('explain', 'pool-unknown')
  expect(exit).toBe(Exit.Ok)
  expect(out).toMatch(/Causes it:\n {4}spec: .*pool: wbe[^]*Does not:\n {4}spec: .*pool: web/)
})

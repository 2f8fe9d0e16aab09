// gslbd bundle as a script calls it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { signBundle } from '#bundle/signature/sign.ts'
import { Exit } from '#system/process/command.ts'
import {
  formatPrivateKey,
  formatPublicKeyLine,
  privateKeyFromPem,
} from '#gitops/trust/openssh-key.ts'
import { encode, healthCheck, newSigningKey, smallModel } from '#test/support/bundle-models.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

/** A signed bundle on disk, its key, and a key that has nothing to do with it. */
function files() {
  const directory = tempDir('bundle')
  const put = (name: string, content: Uint8Array | string): string => {
    writeFileSync(join(directory, name), content)
    return join(directory, name)
  }
  const [key, stranger] = [newSigningKey(), newSigningKey()]
  const encoded = encode(smallModel)
  const plain = put('plain.bundle', encoded.bytes)
  signBundle(encoded.bytes, key)
  const pem = ({ publicKey }: typeof key): string =>
    publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const secretPem = key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const ssh = privateKeyFromPem(secretPem, 'me')
  const damaged = new Uint8Array(encoded.bytes)
  damaged[damaged.length - 300]! ^= 1
  return {
    key,
    digest: encoded.digest,
    plain,
    signed: put('signed.bundle', encoded.bytes),
    damaged: put('damaged.bundle', damaged),
    short: put('short.bundle', encoded.bytes.subarray(0, 500)),
    trusted: put('trusted.pem', pem(key)),
    strange: put('strange.pem', pem(stranger)),
    trustedSsh: put('trusted.pub', `${formatPublicKeyLine(ssh.publicKey, 'me')}\n`),
    secret: put('secret.pem', secretPem),
    secretSsh: put('secret', formatPrivateKey(ssh)),
    other: put('other.pub', 'ssh-rsa AAAAB3NzaC1yc2E= me'),
    damagedKey: put('damaged.pem', pem(key).replace('MC', 'XX')),
    rubbish: put('rubbish.pem', 'no key'),
  }
}

test('inspect prints what the manifest says, and who claims to have signed', async () => {
  const { signed, plain, key, digest } = files()
  const { exit, out } = await runCli('bundle', 'inspect', signed)
  expect(exit).toBe(Exit.Ok)
  const rows = new Map<string, string>()
  for (const line of out.trim().split('\n')) rows.set(line.slice(0, 10).trim(), line.slice(11))
  expect(Object.fromEntries(rows)).toMatchObject({
    digest,
    commit: 'c0ffee',
    services: '3',
    pools: '2',
    members: '4',
  })
  expect(rows.get('signature')).toBe(`by key ${key.keyId}, not checked here`)
  expect((await runCli('bundle', 'inspect', plain)).out).toContain('signature  none\n')
})

describe('verify', () => {
  type Files = ReturnType<typeof files>
  const rows: readonly [title: string, args: (f: Files) => string[], exit: number, text: string][] =
    [
      ['a whole file', ({ plain }) => [plain], Exit.Ok, 'whole; signature not checked'],
      [
        'a trusted file',
        ({ signed, trusted }) => [signed, '--trust', trusted],
        Exit.Ok,
        'whole, signed by key',
      ],
      [
        'one of several keys',
        ({ signed, trusted, strange }) => [signed, '--trust', strange, '--trust', trusted],
        Exit.Ok,
        'signed by key',
      ],
      [
        'an unsigned file',
        ({ plain, trusted }) => [plain, '--trust', trusted],
        Exit.Trust,
        '(unsigned)',
      ],
      [
        "a stranger's file",
        ({ signed, strange }) => [signed, '--trust', strange],
        Exit.Trust,
        '(unknown-key)',
      ],
      ['a damaged file', ({ damaged }) => [damaged], Exit.ErrorsFound, '(digest-mismatch)'],
      [
        'a damaged trusted file',
        ({ damaged, trusted }) => [damaged, '--trust', trusted],
        Exit.ErrorsFound,
        '(digest-mismatch)',
      ],
      ['half a file', ({ short }) => [short], Exit.ErrorsFound, '(truncated)'],
      ['a key', ({ trusted }) => [trusted], Exit.ErrorsFound, '(truncated)'],
      ['a file that is not there', ({ plain }) => [`${plain}.x`], Exit.Usage, 'does not exist'],
      ['a directory', ({ plain }) => [join(plain, '..')], Exit.Usage, 'is a directory'],
      [
        "a file that is trusted by OpenSSH's public key",
        ({ signed, trustedSsh }) => [signed, '--trust', trustedSsh],
        Exit.Ok,
        'signed by key',
      ],
      [
        'with a private key in PEM',
        ({ signed, secret }) => [signed, '--trust', secret],
        Exit.Usage,
        'secret.pem cannot be used: it is a private key; give the public one',
      ],
      [
        "with a private key in OpenSSH's form",
        ({ signed, secretSsh }) => [signed, '--trust', secretSsh],
        Exit.Usage,
        'secret cannot be used: it is a private key; give the public one',
      ],
      [
        'with a public key of another kind',
        ({ signed, other }) => [signed, '--trust', other],
        Exit.Usage,
        'other.pub cannot be used: "ssh-rsa" is not an Ed25519 public key',
      ],
      [
        'with a damaged key',
        ({ signed, damagedKey }) => [signed, '--trust', damagedKey],
        Exit.Usage,
        'damaged.pem cannot be used: it is damaged, or no Ed25519 key',
      ],
      [
        'with a key that is none',
        ({ plain, rubbish }) => [plain, '--trust', rubbish],
        Exit.Usage,
        'rubbish.pem cannot be used: it is neither',
      ],
      [
        'with a key that is not there',
        ({ plain }) => [plain, '--trust', 'x.pem'],
        Exit.Usage,
        'x.pem does not exist',
      ],
    ]
  test.each(rows)('%s', async (_title, args, exit, text) => {
    const result = await runCli('bundle', 'verify', ...args(files()))
    expect(result.exit).toBe(exit)
    expect(result.out + result.err).toContain(text)
  })
})

test('dump prints all of it with names instead of numbers', async () => {
  const { exit, out } = await runCli('bundle', 'dump', files().plain)
  expect(exit).toBe(Exit.Ok)
  expect(JSON.parse(out)).toMatchObject({
    manifest: { commit: 'c0ffee' },
    zones: [
      {
        name: 'example.org.',
        parent: null,
      },
    ],
    services: [
      { domain: 'www.example.org.', algorithm: 'round-robin', pool: 'pool-1', ttlSeconds: 60 },
      { domain: '*.apps.example.org.', algorithm: 'weighted-round-robin', pool: 'pool-2' },
      { domain: 'none.example.org.', algorithm: 'failover', pool: null },
    ],
    pools: [
      {
        name: 'pool-1',
        healthCheck,
        members: [{ ipAddress: '192.0.2.1' }, {}, { ipAddress: '2001:db8::1' }],
      },
      { name: 'pool-2', healthCheck: null, members: [{ enabled: true, weight: 1 }] },
    ],
  })
})

describe('a wrong call', () => {
  const rows: readonly [args: string[], text: string][] = [
    [[], 'say what to do'],
    [['inspct', 'x'], 'did you mean "inspect"?'],
    [['inspect'], 'give one file'],
    [['verify', 'a', 'b'], 'give one file'],
    [['inspect', 'a', '--trust', 'k'], '--trust belongs to'],
    [['inspect', '--all', 'a'], "Unknown option '--all'"],
  ]
  test.each(rows)('%j is explained', async (args, text) => {
    const { exit, err } = await runCli('bundle', ...args)
    expect(exit).toBe(Exit.Usage)
    expect(err).toContain(text)
    expect(err).toContain('gslbd bundle --help')
  })
})

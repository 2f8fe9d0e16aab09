// TSIG keys in a file in the form of BIND.
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTsigKeys, readTsigKeyFile, tsigFileLimits } from '#zones/exchange/tsig-key-file.ts'
import { formatName } from '#dns/name.ts'
import { tsigAlgorithms } from '#dns/tsig/tsig-algorithms.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const secret = Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')
const body = `{ algorithm hmac-sha256; secret "${secret}"; };`
const read = (text: string) => {
  const keys = parseTsigKeys(text)
  if (!keys.ok) return keys.error
  return keys.value.map(
    ({ name, algorithm, secret: octets }) =>
      `${formatName(name)} ${algorithm.name} ${Buffer.from(octets).toString('base64')}`,
  )
}

describe('keys', () => {
  test.each([
    [
      'as tsig-keygen prints them',
      `key "t.example" {\n\talgorithm hmac-sha256;\n\tsecret "${secret}";\n};\n`,
    ],
    [
      'without quotes, in capitals',
      `key T.example. { secret ${secret}; algorithm HMAC-SHA256.; };`,
    ],
    ['with comments', `# one\n// two\n/* th\nree */ key "t.example" /**/ ${body} # end`],
  ])('%s', (_, text) => {
    expect(read(text)).toEqual([`t.example. hmac-sha256. ${secret}`])
  })

  test('are read for each algorithm, and a file may have none', () => {
    const all = tsigAlgorithms.map(
      ({ name }, i) => `key k${i} ${body.replace('hmac-sha256', name)}`,
    )
    expect(read(all.join('\n'))).toHaveLength(tsigAlgorithms.length)
    expect(read('')).toEqual([])
  })

  test.each([
    ['options {};', ':1:1: write key "NAME" { algorithm hmac-sha256; secret "BASE64"; };'],
    ['key', ':1:4: a key has a name, such as transfer.example.com'],
    [`\nkey "a..b" ${body}`, ':2:5: a key has a name, such as transfer.example.com'],
    [`key k ${body} key K. ${body}`, `there is a key k. already`],
    ['key k algorithm', ':1:7: { is expected here'],
    ['key k { };', ':1:9: the key has no algorithm'],
    ['key k { algorithm hmac-sha1; };', ':1:30: the key has no secret'],
    ['key k { algorithm hmac-md5; };', ':1:19: the algorithm is one of hmac-sha256, hmac-sha384'],
    ['key k { secret "YWJj"; };', ':1:16: a secret is 16 to 512 octets in base64'],
    [`key k { secret "${secret}!"; };`, ':1:16: a secret is 16 to 512 octets in base64'],
    ['key k { server 192.0.2.1; };', ':1:9: algorithm, secret or } is expected here'],
    [`key k { secret "${secret}" };`, '; is expected here'],
    [`key k ${body.slice(0, -1)}`, '; is expected here'],
    ['key "k', ':1:5: a key has a name'],
  ])('%j is refused with its place', (text, error) => {
    expect(read(text)).toContain(error)
    expect(read(text)).not.toContain(secret)
  })

  test('more than the limit are too many', () => {
    const keys = Array.from({ length: tsigFileLimits.keysMax + 1 }, (_, i) => `key k${i} ${body}`)
    expect(read(keys.join('\n'))).toContain(`more than ${tsigFileLimits.keysMax} keys`)
  })

  test('any text is keys or a fault, in time that its length bounds', () => {
    const part = fc.constantFrom('key', 'k', '{', '}', ';', '"', '/*', '*/', '#', '\n', secret)
    const text = fc.oneof(
      fc.string(),
      fc.array(part).map((parts) => parts.join(' ')),
    )
    fc.assert(fc.property(text, (any) => typeof parseTsigKeys(any).ok === 'boolean'))
    expect(parseTsigKeys('/* '.repeat(21_845)).ok).toBe(true)
  })
})

describe('the file', () => {
  test.each<[string, (path: string) => void, RegExp]>([
    [
      'is not there',
      () => undefined,
      /there is no file .*\. *;|there is no file .*; make one with/,
    ],
    ['is open to all', (path) => (writeFileSync(path, ''), chmodSync(path, 0o644)), /chmod o-rwx/],
    ['is long', (path) => writeFileSync(path, ' '.repeat(70_000), { mode: 0o600 }), /70000 octets/],
    [
      'has a mistake',
      (path) => writeFileSync(path, '\n x', { mode: 0o600 }),
      /keys:2:2: write key/,
    ],
  ])('%s', (_, make, expected) => {
    const path = join(tempDir('tsig'), 'keys')
    make(path)
    expect(readTsigKeyFile(path)).toMatchObject({
      ok: false,
      error: expect.stringMatching(expected) as string,
    })
  })
})

// gslbd license as a person or a script calls it.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseVendorKey, readToken } from '#licence/token.ts'
import { Exit } from '#system/process/command.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

async function vendorKey() {
  const path = join(tempDir('vendor'), 'key')
  const made = await runCli('license', 'keygen', '-o', path)
  expect(made.exit).toBe(Exit.Ok)
  return { path, publicKey: made.out.trim() }
}

describe('gslbd license', () => {
  test('makes a key that only its owner can read, and never over another', async () => {
    const { path, publicKey } = await vendorKey()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(`${path}.pub`, 'utf8')).toBe(`${publicKey}\n`)
    const again = await runCli('license', 'keygen', '-o', path)
    expect(again.exit).toBe(Exit.ErrorsFound)
    expect(again.err).toContain('is not overwritten')
  })

  test('issues a token that the key made with it takes', async () => {
    const { path, publicKey } = await vendorKey()
    const call = ['--tier', 'pro', '--max-rps', '700', '--days', '2', '--customer', 'ACME']
    const iid = '0123456789abcdef'.repeat(2)
    const issued = await runCli('license', 'issue', '--key', path, ...call, '--install-id', iid)
    expect(issued.exit, issued.err).toBe(Exit.Ok)
    const key = parseVendorKey(publicKey)
    const read = key.ok ? readToken(issued.out.trim(), key.value) : key
    if (!read.ok) throw new Error('the token is not taken')
    expect(read.value).toMatchObject({ tier: 'pro', maxRps: 700, cid: 'ACME', iid })
    expect(read.value.exp - read.value.iat).toBe(2 * 86_400)
    const shown = await runCli('license', 'show', issued.out.trim(), '--public-key', publicKey)
    expect(shown.exit).toBe(Exit.Ok)
    expect(shown.out).toMatch(/^tier +pro .*50.*\nqueries\/s +700\n/)
    expect(shown.out).toMatch(
      /customer +ACME\nfor +the installation [0-9a-f]{32}\nsignature +good\n$/,
    )
  })

  test('shows what a token claims without a key, and says that nothing was checked', async () => {
    const { path } = await vendorKey()
    const { out } = await runCli('license', 'issue', '--key', path, '--tier', 'free', '--days', '0')
    const shown = await runCli('license', 'show', out.trim())
    expect(shown.out).toMatch(/ends +never\n[^]*signature +not checked/)
  })

  test('tells another key’s token, and no token, from a good one', async () => {
    const [one, other] = [await vendorKey(), await vendorKey()]
    const { out } = await runCli('license', 'issue', '--key', one.path, '--tier', 'free')
    const strange = await runCli('license', 'show', out.trim(), '--public-key', other.publicKey)
    expect(strange).toMatchObject({ exit: Exit.Trust, out: '' })
    expect(strange.err).toContain('signature')
    expect((await runCli('license', 'show', 'junk')).exit).toBe(Exit.Trust)
  })

  test('says what an id looks like, and which command makes a key that is not there', async () => {
    const call = ['license', 'issue', '--tier', 'pro', '--key', '/no/key'] as const
    const { err } = await runCli(...call, '--install-id', 'zzz')
    expect(err).toContain('--install-id is 32 hexadecimal digits, as GET /api/v1/license shows it')
    const missing = await runCli(...call)
    expect(missing.err).toContain('/no/key does not exist; make one with "gslbd license keygen"')
  })

  test.each<[string, readonly string[], Exit]>([
    ['no verb', [], Exit.Usage],
    ['an unknown one', ['renew'], Exit.Usage],
    ['no key', ['issue', '--tier', 'pro'], Exit.Usage],
    ['no tier', ['issue', '--key', 'k'], Exit.Usage],
    ['a tier that tokens do not have', ['issue', '--key', 'k', '--tier', 'trial'], Exit.Usage],
    ['a rate in words', ['issue', '--key', 'k', '--tier', 'pro', '--max-rps', 'x'], Exit.Usage],
    ['a key that is not there', ['issue', '--key', '/no/key', '--tier', 'pro'], Exit.Trust],
    [
      'an id of no form',
      ['issue', '--key', 'k', '--tier', 'pro', '--install-id', 'zzz'],
      Exit.Usage,
    ],
    ['nothing to show', ['show'], Exit.Usage],
    ['a public key that is none', ['show', 'a.b', '--public-key', 'x'], Exit.Trust],
  ])('refuses %s', async (_name, args, exit) => {
    const answer = await runCli('license', ...args)
    expect(answer.exit).toBe(exit)
    expect(answer.err).not.toBe('')
  })
})

import fc from 'fast-check'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { CookieJar, cookieBytes } from '#answer/cookies/cookie-jar.ts'
import { parseCookieSecrets, readCookieSecrets } from '#node/compose/cookie-secrets-file.ts'
import { startCookies } from '#node/compose/cookies.ts'
import type { NodeCookies } from '#node/compose/cookies.ts'
import { loadSettings } from '#settings/settings.ts'
import { laneCount } from '#test/support/lane.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const token = 'a token of bundles, and long enough'.replaceAll(' ', '-')
const secretKey = 'ab'.repeat(32)
const nowMs = 1_795_000_000_123
const started: NodeCookies[] = []
afterEach(() => started.splice(0).forEach(({ stop }) => stop()))

interface Scene {
  readonly env?: Readonly<Record<string, string>>
  readonly path?: string
  readonly fault?: string
  readonly cookies?: Partial<Record<'enabled' | 'enforce', boolean>> & { secretsFile?: string }
  readonly roles?: readonly ('control' | 'dns')[]
  readonly said?: string[]
}

const read = loadSettings({ env: {}, flags: {} })
if (!read.ok) throw new Error(read.error.join())
const settings = read.value

function start({ env = {}, path, fault, cookies = {}, roles = ['dns'], said = [] }: Scene) {
  const say = (_: unknown, message: string): void => void said.push(message)
  const { dns } = settings
  return startCookies({
    settings: { roles: [...roles], dns: { ...dns, cookies: { ...dns.cookies, ...cookies } } },
    dataDir: { path: path ?? tempDir('cookies'), fault: () => fault ?? null },
    env,
    clock: { nowMs: () => nowMs, monotonicMs: () => 0 },
    log: { info: say, warn: say, error: say },
  })
}

function cellsOf(scene: Scene): SharedArrayBuffer {
  const cookies = start(scene)
  if (!cookies.ok) throw new Error(cookies.error)
  started.push(cookies.value)
  return cookies.value.cells!
}

/** The cookie that a node makes for a client. */
function cookieOf(cells: SharedArrayBuffer): string {
  const octets = Buffer.alloc(cookieBytes, 7)
  const view = new DataView(octets.buffer, octets.byteOffset, octets.length)
  const jar = new CookieJar(cells)
  jar.read(view, 0, 8)
  jar.check(Uint8Array.of(192, 0, 2, 1), 0, 4)
  jar.write(view, 0)
  return octets.toString('hex')
}

describe('nodes make the same cookies', () => {
  const shared = { GSLB_BUNDLE_TOKEN: token }
  test('that have one token, whatever else they have', () => {
    const ofControl = cookieOf(cellsOf({ env: { ...shared, GSLB_SECRET_KEY: secretKey } }))
    expect(cookieOf(cellsOf({ env: shared }))).toBe(ofControl)
    expect(cookieOf(cellsOf({ env: { GSLB_BUNDLE_TOKEN: `${token}!` } }))).not.toBe(ofControl)
  })

  test('that have no token, and one secret key', () => {
    const env = { GSLB_SECRET_KEY: secretKey }
    expect(cookieOf(cellsOf({ env }))).toBe(cookieOf(cellsOf({ env })))
    expect(cookieOf(cellsOf({ env }))).not.toBe(cookieOf(cellsOf({ env: shared })))
  })

  test('but not of a token that may be guessed at, and the log says so', () => {
    const said: string[] = []
    const env = { GSLB_BUNDLE_TOKEN: 'only-16-letters!' }
    expect(cookieOf(cellsOf({ env, said }))).not.toBe(cookieOf(cellsOf({ env })))
    expect(said).toEqual([expect.stringContaining('less than 32 characters')])
    expect(said.join()).not.toContain(env.GSLB_BUNDLE_TOKEN)
  })
})

describe('a node by itself', () => {
  test('keeps its secret, which nobody else may read', () => {
    const path = tempDir('cookies')
    const before = cookieOf(cellsOf({ path }))
    expect(cookieOf(cellsOf({ path }))).toBe(before)
    expect(cookieOf(cellsOf({}))).not.toBe(before)
    expect(statSync(join(path, 'keys', 'dns_cookies')).mode & 0o777).toBe(0o600)
  })

  test('writes nothing where it may not, and has a secret all the same', () => {
    const path = tempDir('cookies')
    expect(cookieOf(cellsOf({ path, fault: 'full' }))).toMatch(/^(07){8}01/)
    expect(existsSync(join(path, 'keys'))).toBe(false)
  })

  test('makes another one in the place of a file that is damaged', () => {
    const path = tempDir('cookies')
    cellsOf({ path })
    const file = join(path, 'keys', 'dns_cookies')
    writeFileSync(file, 'no digits\n')
    cellsOf({ path })
    expect(readFileSync(file, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
  })
})

test('cookies are off where the settings say so, and where no DNS is answered', () => {
  const off = [start({ cookies: { enabled: false } }), start({ roles: ['control'] })]
  expect(off.map((one) => one.ok && one.value.cells)).toEqual([undefined, undefined])
})

test('cookies are enforced where the settings say so', () => {
  const enforces = [false, true].map((enforce) =>
    new CookieJar(cellsOf({ cookies: { enforce } })).enforces(),
  )
  expect(enforces).toEqual([false, true])
})

describe('the file of secrets', () => {
  const first = '0123456789abcdef0123456789ABCDEF'
  const second = 'ff'.repeat(16)
  const fileWith = (text: string, mode = 0o640): string => {
    const path = join(tempDir('cookies'), 'secrets')
    writeFileSync(path, text)
    chmodSync(path, mode)
    return path
  }

  test('is read at the start and again, and one that is of no use changes nothing', () => {
    const said: string[] = []
    const secretsFile = fileWith(`${first}\n`)
    const cookies = start({ cookies: { secretsFile }, said })
    if (!cookies.ok) throw new Error(cookies.error)
    started.push(cookies.value)
    const { cells, reread } = cookies.value
    const before = cookieOf(cells!)
    expect(cookieOf(cellsOf({ cookies: { secretsFile: fileWith(first) } }))).toBe(before)
    writeFileSync(secretsFile, 'x')
    reread()
    expect(cookieOf(cells!)).toBe(before)
    expect(said.at(-1)).toBe(
      `dns.cookies.secretsFile: ${secretsFile}:1: a line has 32 hexadecimal digits; make one ` +
        'with: openssl rand -hex 16; the secrets before stay',
    )
    writeFileSync(secretsFile, `${second}\n${first}\n`)
    reread()
    expect(cookieOf(cells!)).not.toBe(before)
    expect(said.join()).not.toContain(second)
  })

  const rows = [
    ['one secret', first, 1],
    ['two, a comment and empty lines', `# made in May\n\n ${first} # now\r\n${second}\n`, 2],
    ['nothing', '', ': it has no secret'],
    ['a comment alone', '# nothing', ': it has no secret'],
    ['three', `${first}\n${second}\n\n${first}`, ':4: one secret makes cookies'],
    ['a digit too few', first.slice(1), ':1: a line has 32 hexadecimal digits'],
    ['a digit too many', `${first}\n${second}0`, ':2: a line has 32 hexadecimal digits'],
    ['another letter', `${first.slice(1)}g`, ':1: a line has 32 hexadecimal digits'],
  ] as const
  test.each(rows)('%s', (_, text, expected) => {
    const read = parseCookieSecrets(text)
    if (read.ok) expect(read.value.length).toBe(expected)
    else expect(read.error).toContain(expected)
  })

  test('any text is one secret or two, or an error without what stands there', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefg#\n '), maxLength: 90 })
    fc.assert(
      fc.property(fc.oneof(digits, fc.string({ unit: 'binary' })), (text) => {
        const read = parseCookieSecrets(text)
        if (read.ok) {
          expect([1, 2]).toContain(read.value.length)
          for (const secret of read.value) expect(secret.length).toBe(16)
        } else {
          expect(read.error).toMatch(/^(:\d+)?: (a line has|one secret|it has no)/)
        }
      }),
      { numRuns: laneCount(2_000) },
    )
  })

  test('is refused where all users may read it, and where there is none', () => {
    const failed = (part: string) => ({
      ok: false,
      error: expect.stringContaining(part) as string,
    })
    const open = readCookieSecrets(fileWith(first, 0o644))
    expect(open).toEqual(failed('chmod o-rwx'))
    const none = start({ cookies: { secretsFile: '/nowhere/secrets' } })
    expect(none).toEqual(failed('there is no file'))
    const long = readCookieSecrets(fileWith(`#${'x'.repeat(5_000)}\n${first}`))
    expect(long).toEqual(failed('too much'))
  })
})

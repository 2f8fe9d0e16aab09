// Parses TSIG keys from a file in BIND's form, as `tsig-keygen` prints them.
import { readFileSync, statSync } from 'node:fs'
import { foldName, formatName, parseName } from '#dns/name.ts'
import { tsigAlgorithm, tsigAlgorithms } from '#dns/tsig/tsig-algorithms.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export const tsigFileLimits = Object.freeze({
  bytesMax: 65_536,
  keysMax: 1_000,
  /** Octets of a secret. RFC 8945 section 10.2 wants random ones of at least 128 bits. */
  secretBytesMin: 16,
  secretBytesMax: 512,
})

/** Errors: a sentence with the place, never with a secret. */
export function readTsigKeyFile(path: string): Result<readonly TsigKey[], string> {
  let text: string
  try {
    const { size, mode } = statSync(path)
    if (size > tsigFileLimits.bytesMax) return err(`${path} has ${size} octets, which is too much`)
    if ((mode & 0o007) !== 0) return err(`${path} is open to all users: chmod o-rwx ${path}`)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return err(
      code === 'ENOENT'
        ? `there is no file ${path}; make one with "tsig-keygen NAME > ${path}"`
        : `${path} cannot be read (${code})`,
    )
  }
  const keys = parseTsigKeys(text)
  return keys.ok ? keys : err(`${path}${keys.error}`)
}

interface Token {
  readonly text: string
  readonly at: number
  readonly isQuoted: boolean
}

/** Errors: `:LINE:COLUMN: ` and a sentence. */
export function parseTsigKeys(text: string): Result<readonly TsigKey[], string> {
  const keys: TsigKey[] = []
  const tokens = tokensOf(text)
  const failAt = (at: number, why: string): Result<never, string> => err(placeOf(text, at) + why)
  let i = 0
  const next = (): Token => tokens[i++] ?? { text: '', at: text.length, isQuoted: false }
  while (i < tokens.length) {
    const first = next()
    if (first.isQuoted || first.text !== 'key') {
      return failAt(first.at, 'write key "NAME" { algorithm hmac-sha256; secret "BASE64"; };')
    }
    const name = next()
    const wire = nameOf(name.text)
    if (wire === undefined) return failAt(name.at, 'a key has a name, such as transfer.example.com')
    const known = keys.some((key) => Buffer.compare(key.name, wire) === 0)
    if (known) return failAt(name.at, `there is a key ${formatName(wire)} already`)
    const body = bodyOf(next)
    if (!body.ok) return failAt(body.error.at, body.error.why)
    keys.push({ name: wire, ...body.value })
    if (keys.length > tsigFileLimits.keysMax) {
      return failAt(name.at, `there are more than ${tsigFileLimits.keysMax} keys`)
    }
  }
  return ok(keys)
}

interface Fault {
  readonly at: number
  readonly why: string
}

/** Parses `{ algorithm A; secret S; };` in any order. */
function bodyOf(next: () => Token): Result<Pick<TsigKey, 'algorithm' | 'secret'>, Fault> {
  const open = next()
  if (!isSign(open, '{')) return err({ at: open.at, why: '{ is expected here' })
  let algorithm: TsigKey['algorithm'] | undefined
  let secret: Uint8Array | undefined
  for (;;) {
    const word = next()
    if (isSign(word, '}')) {
      const end = next()
      if (!isSign(end, ';')) return err({ at: end.at, why: '; is expected here' })
      if (algorithm === undefined) return err({ at: word.at, why: 'the key has no algorithm' })
      if (secret === undefined) return err({ at: word.at, why: 'the key has no secret' })
      return ok({ algorithm, secret })
    }
    const value = next()
    if (word.text === 'algorithm' && !word.isQuoted) {
      algorithm = tsigAlgorithm(`${value.text.toLowerCase().replace(/\.$/, '')}.`)
      if (algorithm === undefined) return err({ at: value.at, why: algorithmsKnown })
    } else if (word.text === 'secret' && !word.isQuoted) {
      secret = secretOf(value.text)
      if (secret === undefined) return err({ at: value.at, why: secretExpected })
    } else return err({ at: word.at, why: 'algorithm, secret or } is expected here' })
    const end = next()
    if (!isSign(end, ';')) return err({ at: end.at, why: '; is expected here' })
  }
}

const algorithmsKnown = `the algorithm is one of ${tsigAlgorithms
  .map(({ name }) => name.slice(0, -1))
  .join(', ')}`
const secretExpected =
  `a secret is ${tsigFileLimits.secretBytesMin} to ${tsigFileLimits.secretBytesMax} octets ` +
  'in base64'

const isSign = ({ text, isQuoted }: Token, sign: string): boolean => !isQuoted && text === sign

/** The same form as in the settings that name a key. */
const nameForm = /^[\w-]{1,63}(\.[\w-]{1,63})*\.?$/

function nameOf(text: string): Uint8Array | undefined {
  const wire = nameForm.test(text) ? parseName(text.endsWith('.') ? text : `${text}.`) : undefined
  return wire?.ok === true ? foldName(wire.value) : undefined
}

function secretOf(text: string): Uint8Array | undefined {
  const octets = Buffer.from(text, 'base64')
  const isExact = octets.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
  const { secretBytesMin, secretBytesMax } = tsigFileLimits
  return isExact && octets.length >= secretBytesMin && octets.length <= secretBytesMax
    ? octets
    : undefined
}

const tokenForm = /\s+|#.*|\/\/.*|\/\*[^]*?(?:\*\/|$)|"([^"\n]*)"|([{};])|([^\s{};"#]+)|[^]/gy

/** Leaves out white space and comments. Any other character is a token. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  for (const found of text.matchAll(tokenForm)) {
    const [whole, quoted, sign, word] = found
    if (/^(\s|#|\/\/|\/\*)/.test(whole)) continue
    const isQuoted = quoted !== undefined
    tokens.push({ text: quoted ?? sign ?? word ?? whole, at: found.index, isQuoted })
  }
  return tokens
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  return `:${before.length}:${(before.at(-1) ?? '').length + 1}: `
}

// Reads files of keys, in PEM or OpenSSH format: private keys that sign, and public keys that are
// trusted.
import { readFileSync } from 'node:fs'
import { signingKeyFromPem, trustedKeyFromPem } from '#bundle/signature/channel.ts'
import type { SigningKey, TrustedKey } from '#bundle/signature/channel.ts'
import { parsePrivateKey, parsePublicKeyLine } from './openssh-key.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/**
 * Reads a private key. Errors: a sentence that names the path and says what to do.
 *
 * @param maker the command that makes such a key
 */
export function readSigningKey(path: string, maker: string = usual): Result<SigningKey, string> {
  return readKey(path, makeOne(maker), (text) => signingKeyOf(text, maker))
}

/** Reads a public key. Errors: a sentence that names the path and says what to do. */
export function readTrustedKey(path: string): Result<TrustedKey, string> {
  return readKey(path, makeOne(usual), trustedKeyOf)
}

/** Reads public keys of one file, in PEM or as lines of OpenSSH. Errors: a sentence. */
export function readTrustedKeyList(path: string): Result<readonly TrustedKey[], string> {
  return readKey(path, ofControlNodes, (text) => {
    const keys: TrustedKey[] = []
    for (const part of keyParts(text)) {
      const key = trustedKeyOf(part)
      if (!key.ok) return key
      keys.push(key.value)
    }
    return keys.length === 0 ? err('there is no key in it') : ok(keys)
  })
}

const pemBlock = /-----BEGIN [^-]+-----[^-]*-----END [^-]+-----/g

function keyParts(text: string): readonly string[] {
  const blocks = text.match(pemBlock)
  const lines = text
    .replaceAll(pemBlock, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  // Beside blocks of PEM other text is a note.
  return blocks === null ? lines : [...blocks, ...lines.filter((line) => isOpenSshPublic(line))]
}

function readKey<K>(
  path: string,
  whereMissing: string,
  parse: (text: string) => Result<K, string>,
): Result<K, string> {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return err(`the key ${path} does not exist; ${whereMissing}`)
    if (code === 'EISDIR') return err(`the key ${path} is a directory; give a file`)
    return err(`the key ${path} cannot be read: ${message}`)
  }
  const key = parse(text)
  return key.ok ? key : err(`the key ${path} cannot be used: ${key.error}`)
}

const usual = 'gslbd keygen'
const ofControlNodes =
  'it holds the public keys of control nodes, as "openssl pkey -in data/keys/node.pem -pubout" ' +
  'prints one there'
const makeOne = (maker: string): string => `make one with "${maker}"`

/** Labels of PEM (RFC 7468) and OpenSSH's own: only these are looked for. */
const isOpenSshPrivate = (text: string): boolean => text.includes('BEGIN OPENSSH PRIVATE KEY')
const isPrivate = (text: string): boolean => /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)
const isOpenSshPublic = (text: string): boolean => /^(ssh|ecdsa|sk)-\S+ /.test(text.trimStart())
const isPublicPem = (text: string): boolean => text.includes('-----BEGIN PUBLIC KEY-----')

function signingKeyOf(text: string, maker: string): Result<SigningKey, string> {
  if (isOpenSshPublic(text) || isPublicPem(text)) {
    return err('it is a public key; signing needs the private one')
  }
  if (isOpenSshPrivate(text)) {
    const parsed = parsePrivateKey(text)
    if (!parsed.ok) return parsed
    const pem = parsed.value.key.export({ type: 'pkcs8', format: 'pem' })
    return ok(signingKeyFromPem(pem.toString()))
  }
  if (!isPrivate(text)) return err(`it is neither OpenSSH nor PEM; ${makeOne(maker)}`)
  if (text.includes('ENCRYPTED')) return err('it has a passphrase; use a key without one')
  return tried(() => signingKeyFromPem(text), maker)
}

function trustedKeyOf(text: string): Result<TrustedKey, string> {
  // Node could derive the public key, but a private key must not lie where bundles are checked.
  if (isPrivate(text)) {
    return err(
      'it is a private key; give the public one (FILE.pub, or "openssl pkey -in FILE -pubout")',
    )
  }
  if (isOpenSshPublic(text)) {
    const parsed = parsePublicKeyLine(text)
    if (!parsed.ok) return parsed
    const pem = parsed.value.publicKey.key.export({ type: 'spki', format: 'pem' })
    return ok(trustedKeyFromPem(pem.toString()))
  }
  if (!isPublicPem(text)) return err('it is neither an OpenSSH public key line nor PEM')
  return tried(() => trustedKeyFromPem(text))
}

/** The library's message is about decoders; this one says which key is wanted. */
function tried<K>(parse: () => K, maker: string = usual): Result<K, string> {
  try {
    return ok(parse())
  } catch {
    return err(`it is damaged, or no Ed25519 key; ${makeOne(maker)}`)
  }
}

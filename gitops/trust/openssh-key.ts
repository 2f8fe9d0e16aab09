// Reads and writes Ed25519 keys in OpenSSH's formats: public key lines, and unencrypted private key
// files.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { gitLimits } from '#gitops/limits.ts'
import { armor, isBase64, sshString, SshReader, sshUint32, unarmor } from './ssh-wire.ts'

export const ed25519Type = 'ssh-ed25519'
const privateLabel = 'OPENSSH PRIVATE KEY'
const magic = 'openssh-key-v1\0'
// RFC 8410: the fixed DER prefixes of an Ed25519 key; 32 bytes follow.
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** An Ed25519 public key. Two keys are the same when `raw` is. */
export interface SshPublicKey {
  /** 32 bytes. */
  readonly raw: Buffer
  readonly key: KeyObject
  /** `SHA256:…`, as `ssh-keygen -l` shows it. */
  readonly fingerprint: string
}

export interface SshPrivateKey {
  readonly publicKey: SshPublicKey
  readonly key: KeyObject
  readonly comment: string
}

function publicKeyFromRaw(raw: Uint8Array): SshPublicKey {
  const key = createPublicKey({
    key: Buffer.concat([spkiPrefix, raw]),
    format: 'der',
    type: 'spki',
  })
  return { raw: Buffer.from(raw), key, fingerprint: fingerprintOf(publicKeyBlob(raw)) }
}

/** The wire form (RFC 8709 section 4) of a raw public key. */
export function publicKeyBlob(raw: Uint8Array): Buffer {
  return Buffer.concat([sshString(ed25519Type), sshString(raw)])
}

function fingerprintOf(blob: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replaceAll('=', '')}`
}

/** Decodes the wire form. Errors: the type name of another kind of key, or `malformed`. */
export function publicKeyFromBlob(blob: Uint8Array): Result<SshPublicKey, string> {
  const reader = new SshReader(blob)
  const type = reader.text()
  if (type === undefined) return err('malformed')
  if (type !== ed25519Type) return err(/^[a-z0-9@.-]{1,64}$/.test(type) ? type : 'malformed')
  const raw = reader.string()
  if (raw?.length !== 32 || !reader.atEnd) return err('malformed')
  return ok(publicKeyFromRaw(raw))
}

/** Parses `ssh-ed25519 AAAA… comment`. Errors: a sentence. */
export function parsePublicKeyLine(
  line: string,
): Result<{ publicKey: SshPublicKey; comment: string }, string> {
  const [type = '', body = '', ...rest] = line.trim().split(/\s+/)
  if (type !== ed25519Type) {
    return err(
      `"${type.slice(0, 40)}" is not an Ed25519 public key; it must start with ` +
        `"${ed25519Type}" (make one with "gslbd keygen")`,
    )
  }
  const parsed = isBase64(body) ? publicKeyFromBlob(Buffer.from(body, 'base64')) : err('malformed')
  if (!parsed.ok)
    return err('the base64 part of the public key is damaged; copy the whole line again')
  return ok({ publicKey: parsed.value, comment: rest.join(' ') })
}

export function formatPublicKeyLine(publicKey: SshPublicKey, comment: string): string {
  const line = `${ed25519Type} ${publicKeyBlob(publicKey.raw).toString('base64')}`
  return comment === '' ? line : `${line} ${comment}`
}

export function generateSshKey(comment: string): SshPrivateKey {
  const { privateKey } = generateKeyPairSync('ed25519')
  return privateKeyOf(privateKey, comment)
}

/** @throws when the PEM (PKCS #8) does not hold an Ed25519 private key */
export function privateKeyFromPem(pem: string, comment: string): SshPrivateKey {
  const key = createPrivateKey(pem)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is not an Ed25519 key')
  return privateKeyOf(key, comment)
}

function privateKeyOf(key: KeyObject, comment: string): SshPrivateKey {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return { publicKey: publicKeyFromRaw(der.subarray(-32)), key, comment }
}

/** Formats an unencrypted private key file (PROTOCOL.key of OpenSSH). Write it with mode 0600. */
export function formatPrivateKey(key: SshPrivateKey): string {
  const seed = key.key.export({ type: 'pkcs8', format: 'der' }).subarray(-32)
  const { raw } = key.publicKey
  const check = randomBytes(4)
  const fields = Buffer.concat([
    check,
    check,
    sshString(ed25519Type),
    sshString(raw),
    sshString(Buffer.concat([seed, raw])),
    sshString(key.comment),
  ])
  // Padding 1, 2, 3 … to a multiple of 8, the block size of the cipher "none".
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7]).subarray(0, (8 - (fields.length % 8)) % 8)
  const file = Buffer.concat([
    Buffer.from(magic),
    sshString('none'),
    sshString('none'),
    sshString(''),
    sshUint32(1),
    sshString(publicKeyBlob(raw)),
    sshString(Buffer.concat([fields, padding])),
  ])
  return armor(privateLabel, file)
}

/** Parses a private key file. Errors: a sentence that says what to do. */
export function parsePrivateKey(text: string): Result<SshPrivateKey, string> {
  const bytes = unarmor(privateLabel, text, gitLimits.keyFileBytesMax)
  if (bytes === undefined) {
    return err(
      'not an OpenSSH private key file; it must start with "-----BEGIN OPENSSH PRIVATE KEY-----"',
    )
  }
  const damaged = err('the private key file is damaged')
  const reader = new SshReader(bytes)
  if (reader.raw(magic.length)?.toString('latin1') !== magic) return damaged
  const cipher = reader.text()
  reader.string() // the key derivation's name
  reader.string() // and its options
  if (cipher === undefined) return damaged
  if (cipher !== 'none') {
    return err(
      `the private key is encrypted (${cipher.slice(0, 40)}); use one without a ` +
        'passphrase, made with "gslbd keygen"',
    )
  }
  if (reader.uint32() !== 1) return damaged
  const publicPart = publicKeyFromBlob(reader.string() ?? Buffer.alloc(0))
  if (!publicPart.ok) {
    return publicPart.error === 'malformed'
      ? damaged
      : err(
          `the key is ${publicPart.error}; only ${ed25519Type} is supported (make one with ` +
            '"gslbd keygen")',
        )
  }
  const secret = reader.string()
  return secret === undefined ? damaged : readSecretPart(secret, publicPart.value)
}

function readSecretPart(bytes: Buffer, announced: SshPublicKey): Result<SshPrivateKey, string> {
  const reader = new SshReader(bytes)
  const firstCheck = reader.uint32()
  const secondCheck = reader.uint32()
  const type = reader.text()
  const raw = reader.string()
  const secret = reader.string()
  const comment = reader.text()
  if (comment === undefined || firstCheck !== secondCheck || type !== ed25519Type) {
    return err('the private key file is damaged')
  }
  if (secret?.length !== 64) return err('the private key file is damaged')
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, secret.subarray(0, 32)]),
    format: 'der',
    type: 'pkcs8',
  })
  const result = privateKeyOf(key, comment)
  const agrees = raw !== undefined && result.publicKey.raw.equals(raw) && raw.equals(announced.raw)
  return agrees ? ok(result) : err('the private key file is damaged: its two halves do not match')
}

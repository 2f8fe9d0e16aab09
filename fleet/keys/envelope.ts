// An envelope: octets for one node, which no other can read, from a control node that it trusts.
// X25519 (RFC 7748), HKDF (RFC 5869), AES-256-GCM, and an Ed25519 signature over all of it.
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  sign,
  verify,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { SigningKey, TrustedKey } from '#bundle/signature/channel.ts'
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface Letter {
  /** See `KeySet`. */
  readonly revision: number
  readonly content: Uint8Array
}

/** A pair that a node makes for one question: what was recorded opens for nobody later. */
interface QuestionKey {
  /** Base64url of the 32 octets of the public half. */
  readonly sealTo: string
  readonly privateKey: KeyObject
}

export type EnvelopeFault =
  | 'malformed'
  | 'unknown-key'
  | 'bad-signature'
  /** The envelope is for another node, or answers another request of this one. */
  | 'not-for-us'

export const envelopeLimits = {
  /** With a content of 32 MiB. */
  bytesMax: 32 * 1024 * 1024 + 1024,
} as const

const magic = Buffer.from('gslbenv1')
/** What an envelope is for: one of a kind is none of another. */
export type EnvelopeKind = 'zone-keys' | 'certificate'

const domainOf = (kind: EnvelopeKind): string => `gslb/${kind}/v1\0`
const keyIdBytes = 16
const publicBytes = 32
const tagBytes = 16
const signatureBytes = 64
/** Magic, revision, id of the signing key, public half of the sender for this envelope. */
const headBytes = magic.length + 8 + keyIdBytes + publicBytes
const bytesMin = headBytes + tagBytes + signatureBytes
/** Each envelope has a key of its own: its one nonce may be any. */
const nonce = Buffer.alloc(12)
/** RFC 8410: what stands before the 32 octets of a public key. */
const spkiPrefix = Buffer.from('302a300506032b656e032100', 'hex')
const sealToForm = /^[A-Za-z0-9_-]{43}$/

export function newQuestionKey(): QuestionKey {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  return { sealTo: octetsOf(publicKey).toString('base64url'), privateKey }
}

/**
 * @param to name of the node, and the public half that it has sent
 * @returns undefined: that is no public key of X25519
 */
export function sealEnvelope(
  { revision, content }: Letter,
  to: { readonly node: string; readonly sealTo: string },
  key: SigningKey,
  kind: EnvelopeKind = 'zone-keys',
): Buffer | undefined {
  assert(content.length + bytesMin <= envelopeLimits.bytesMax, 'an envelope has room for it')
  const their = publicKeyOf(to.sealTo)
  if (their === undefined) return undefined
  const own = generateKeyPairSync('x25519')
  const head = Buffer.alloc(headBytes)
  magic.copy(head)
  head.writeBigUInt64BE(BigInt(revision), magic.length)
  head.write(key.keyId, magic.length + 8, keyIdBytes, 'latin1')
  octetsOf(own.publicKey).copy(head, headBytes - publicBytes)
  const domain = domainOf(kind)
  const secret = secretOf(own.privateKey, their, to, { head, domain })
  if (secret === undefined) return undefined
  const cipher = createCipheriv('aes-256-gcm', secret, nonce)
  cipher.setAAD(head)
  const parts = [head, cipher.update(content), cipher.final(), cipher.getAuthTag()]
  const body = Buffer.concat(parts)
  return Buffer.concat([body, sign(null, signedBytes(body, domain), key.privateKey)])
}

/** @param node name of this one */
export function openEnvelope(
  octets: Uint8Array,
  { node, key }: { readonly node: string; readonly key: QuestionKey },
  trusted: readonly TrustedKey[],
  kind: EnvelopeKind = 'zone-keys',
): Result<Letter, EnvelopeFault> {
  const all = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
  const isSized = all.length >= bytesMin && all.length <= envelopeLimits.bytesMax
  if (!isSized || !all.subarray(0, magic.length).equals(magic)) return err('malformed')
  const revision = all.readBigUInt64BE(magic.length)
  if (revision > BigInt(Number.MAX_SAFE_INTEGER)) return err('malformed')
  const body = all.subarray(0, -signatureBytes)
  const head = body.subarray(0, headBytes)
  const keyId = head.toString('latin1', magic.length + 8, magic.length + 8 + keyIdBytes)
  const signer = trusted.find((one) => one.keyId === keyId)
  if (signer === undefined) return err('unknown-key')
  const signature = all.subarray(-signatureBytes)
  const domain = domainOf(kind)
  if (!verify(null, signedBytes(body, domain), signer.publicKey, signature))
    return err('bad-signature')
  const theirs = publicKeyOf(head.subarray(-publicBytes).toString('base64url'))
  const to = { node, sealTo: key.sealTo }
  const secret = theirs && secretOf(key.privateKey, theirs, to, { head, domain })
  if (secret === undefined) return err('malformed')
  const decipher = createDecipheriv('aes-256-gcm', secret, nonce, { authTagLength: tagBytes })
  decipher.setAAD(head)
  decipher.setAuthTag(body.subarray(-tagBytes))
  try {
    const parts = [decipher.update(body.subarray(headBytes, -tagBytes)), decipher.final()]
    return ok({ revision: Number(revision), content: Buffer.concat(parts) })
  } catch {
    return err('not-for-us')
  }
}

/** undefined: a point of small order, of which anybody knows the secret. RFC 7748 section 6.1. */
function secretOf(
  privateKey: KeyObject,
  publicKey: KeyObject,
  { node, sealTo }: { readonly node: string; readonly sealTo: string },
  { head, domain }: { readonly head: Buffer; readonly domain: string },
): Buffer | undefined {
  try {
    const shared = diffieHellman({ privateKey, publicKey })
    const sender = head.subarray(-publicBytes).toString('base64url')
    const info = `${domain}${node}\0${sealTo}\0${sender}`
    return Buffer.from(hkdfSync('sha256', shared, '', info, 32))
  } catch {
    return undefined
  }
}

const signedBytes = (body: Buffer, domain: string): Buffer =>
  Buffer.concat([Buffer.from(domain), body])

const octetsOf = (publicKey: KeyObject): Buffer =>
  publicKey.export({ type: 'spki', format: 'der' }).subarray(-publicBytes)

function publicKeyOf(sealTo: string): KeyObject | undefined {
  if (!sealToForm.test(sealTo)) return undefined
  const der = Buffer.concat([spkiPrefix, Buffer.from(sealTo, 'base64url')])
  if (der.length !== spkiPrefix.length + publicBytes) return undefined
  return createPublicKey({ key: der, format: 'der', type: 'spki' })
}

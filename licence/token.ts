// Defines the licence token: JSON and an Ed25519 signature over its octets, both in base64url. It
// is no JWT: without a header, nobody can choose another algorithm.
import { createPublicKey, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isFields, parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { tokenTiers } from './tiers.ts'
import type { TokenTier } from './tiers.ts'

export interface LicencePayload {
  readonly tier: TokenTier
  /** 0: that of the tier. */
  readonly maxRps: number
  /** Unix seconds. */
  readonly iat: number
  /** Unix seconds; 0: never. */
  readonly exp: number
  /** 32 hexadecimal digits. */
  readonly id: string
  /** The customer; may be empty. */
  readonly cid: string
  /** The only installation where it is valid; undefined: any. */
  readonly iid?: string
}

/**
 * `malformed`: not a token. `forged`: signed by another key, or altered. `rejected`: signed, but no
 * valid licence.
 */
type TokenFault = 'malformed' | 'forged' | 'rejected'

interface TokenRefusal {
  readonly code: TokenFault
  /** A sentence without the token's text. */
  readonly message: string
}

export const tokenLimits = { charactersMax: 4_096, textMax: 255 } as const

/** The content is only read when the signature is valid. */
export function readToken(
  text: string,
  publicKey: KeyObject,
): Result<LicencePayload, TokenRefusal> {
  const parts = splitToken(text)
  if (parts === undefined) {
    return refuse(
      'malformed',
      'it is not "payload.signature" in base64url; copy all of the token, and nothing else',
    )
  }
  if (!verify(null, parts.payload, publicKey, parts.signature)) {
    return refuse('forged', 'its signature is not by the vendor key that this node is set to')
  }
  return payloadOf(parts.payload)
}

/** @param privateKey Ed25519 */
export function issueToken(payload: LicencePayload, privateKey: KeyObject): string {
  const octets = Buffer.from(JSON.stringify(payload))
  const signature = sign(null, octets, privateKey)
  return `${octets.toString('base64url')}.${signature.toString('base64url')}`
}

/** The content of a token, unverified. */
export function unverifiedPayload(text: string): Result<LicencePayload, TokenRefusal> {
  const parts = splitToken(text)
  return parts === undefined ? refuse('malformed', 'it is no token') : payloadOf(parts.payload)
}

/**
 * Parses a vendor's public key: PEM, or the 32 octets (or their DER) in hexadecimal, base64 or
 * base64url. Errors: a sentence.
 */
export function parseVendorKey(text: string): Result<KeyObject, string> {
  const trimmed = text.trim()
  if (/PRIVATE KEY/.test(trimmed)) {
    return err('it is a private key, which must stay with the vendor; give the public one')
  }
  try {
    const key = trimmed.startsWith('-----BEGIN PUBLIC KEY-----')
      ? createPublicKey(trimmed)
      : createPublicKey({ key: derOf(trimmed), format: 'der', type: 'spki' })
    if (key.asymmetricKeyType === 'ed25519') return ok(key)
  } catch {
    // Explained below, since the library's message is about decoders.
  }
  return err('it is no Ed25519 public key: write its 32 octets in hexadecimal or base64, or PEM')
}

/** The 32 octets in base64, as `gslbd license keygen` prints them. */
export function formatVendorKey(key: KeyObject): string {
  const der = key.export({ type: 'spki', format: 'der' })
  return der.subarray(spkiPrefix.length).toString('base64')
}

/** DER before the octets of an Ed25519 public key: RFC 8410 section 4. */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')

function derOf(text: string): Buffer {
  const octets = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, 'hex')
    : Buffer.from(text.replaceAll('-', '+').replaceAll('_', '/'), 'base64')
  return octets.length === 32 ? Buffer.concat([spkiPrefix, octets]) : octets
}

function splitToken(text: string): { payload: Buffer; signature: Buffer } | undefined {
  if (text.length > tokenLimits.charactersMax) return undefined
  const [first = '', second = '', ...rest] = text.split('.')
  if (rest.length > 0) return undefined
  const payload = octetsOf(first)
  const signature = octetsOf(second)
  return payload.length === 0 || signature.length !== 64 ? undefined : { payload, signature }
}

/** Empty unless the text is canonical: a token has one spelling. */
function octetsOf(text: string): Buffer {
  const octets = Buffer.from(text, 'base64url')
  return octets.toString('base64url') === text ? octets : Buffer.alloc(0)
}

function payloadOf(octets: Buffer): Result<LicencePayload, TokenRefusal> {
  const fields = parseJson(octets.toString('utf8'))
  if (fields === undefined) return refuse('rejected', 'its payload is no JSON')
  if (!isFields(fields)) return refuse('rejected', 'its payload is no JSON object')
  const wrong = Object.keys(checks).find((name) => checks[name]!(fields[name]) === false)
  if (wrong !== undefined) {
    const what = fields[wrong] === undefined ? 'is missing' : 'is not what a licence has there'
    return refuse('rejected', `its field "${wrong}" ${what}`)
  }
  const { tier, maxRps = 0, iat = 0, exp = 0, id, cid = '', iid = '' } = fields
  const payload = { tier, maxRps, iat, exp, id, cid } as LicencePayload
  return ok(iid === '' ? payload : { ...payload, iid: iid as string })
}

const isSeconds = (value: unknown): boolean =>
  value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0)
const isText = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && value.length <= tokenLimits.textMax)

const checks: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: (value) => typeof value === 'string' && /^[0-9a-f]{32}$/i.test(value),
  tier: (value) => tokenTiers.includes(value as TokenTier),
  maxRps: isSeconds,
  iat: isSeconds,
  exp: isSeconds,
  cid: isText,
  iid: isText,
}

function refuse(code: TokenFault, message: string): Result<never, TokenRefusal> {
  return err({ code, message })
}

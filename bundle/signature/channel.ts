// The channel record: the digest of the current bundle, its sequence number and its expiry, signed.
import { createPrivateKey, createPublicKey, hash, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/** `seq` alone gives the order, never a clock. A rollback is a new seq with an old digest. */
export interface ChannelRecord {
  readonly channel: string
  /** 1, 2, 3 …; a node refuses a lower one. Each publisher has its own sequence. */
  readonly seq: number
  /** The commit's serial, the same on all nodes: that of the SOA (modulo 2^32). Left out: `seq`. */
  readonly serial?: number
  /** SHA-256 of the bundle, hex. */
  readonly digest: string
  /** Size of the signed bundle, which bounds downloads. Older versions leave it out. */
  readonly bytes?: number
  /** Digest of `seq - 1`, hex; empty for the first. */
  readonly previous: string
  /** Commit of the bundle, hex; for people, as the manifest has it, too. */
  readonly commit: string
  /** Number of probe agents that a node without its own licence accepts. Left out: no limit. */
  readonly agentsMax?: number
  readonly issuedAtMs: number
  /** After this instant the node continues to serve and raises an alarm. */
  readonly expiresAtMs: number
}

/** A record with its Ed25519 signature, as it is stored and sent. */
export interface SignedChannelRecord {
  readonly record: ChannelRecord
  /** First 16 hex digits of the SHA-256 of the raw public key. */
  readonly keyId: string
  /** Base64 of 64 bytes over `gslb/channel/v1\0` and the canonical JSON of `record`. */
  readonly signature: string
}

export type ChannelError =
  | 'malformed'
  | 'unknown-key'
  | 'bad-signature'
  /** This node follows another channel. */
  | 'other-channel'
  /** `seq` is lower than the one already activated. */
  | 'rollback'
  /** Same `seq`, other digest: two publishers, or a forger. */
  | 'equivocation'

const domain = 'gslb/channel/v1\0'
const digestShape = /^[0-9a-f]{64}$/

function signedBytes(record: ChannelRecord): Buffer {
  // Canonical: sorted keys, no white space. Fields of later versions are signed, too.
  const rows = Object.entries(record).filter(([, value]) => value !== undefined)
  const sorted = Object.fromEntries(rows.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  return Buffer.from(domain + JSON.stringify(sorted))
}

export function signChannelRecord(record: ChannelRecord, key: SigningKey): SignedChannelRecord {
  const signature = sign(null, signedBytes(record), key.privateKey).toString('base64')
  return { record, keyId: key.keyId, signature }
}

/** RFC 1982: 0 follows the highest. */
export function soaSerialOf({ serial, seq }: ChannelRecord): number {
  return (serial ?? seq) % 2 ** 32
}

/** Checks form and signature. `checkOrder` checks for rollback, which needs the node's record. */
export function verifyChannelRecord(
  value: unknown,
  trusted: readonly TrustedKey[],
): Result<ChannelRecord, ChannelError> {
  const signed = shapeOf(value)
  if (signed === undefined) return err('malformed')
  const key = trusted.find((candidate) => candidate.keyId === signed.keyId)
  if (key === undefined) return err('unknown-key')
  const signature = Buffer.from(signed.signature, 'base64')
  if (!verify(null, signedBytes(signed.record), key.publicKey, signature))
    return err('bad-signature')
  return ok(signed.record)
}

/** Compares a verified record with the newest one that this node has activated. */
export function checkOrder(
  next: ChannelRecord,
  newest: ChannelRecord | undefined,
): Result<'newer' | 'same', ChannelError> {
  if (newest === undefined) return ok('newer')
  if (next.channel !== newest.channel) return err('other-channel')
  if (next.seq > newest.seq) return ok('newer')
  if (next.seq < newest.seq) return err('rollback')
  return next.digest === newest.digest ? ok('same') : err('equivocation')
}

function shapeOf(value: unknown): SignedChannelRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { record, keyId, signature } = value as Record<string, unknown>
  if (typeof record !== 'object' || record === null) return undefined
  const r = record as Record<string, unknown>
  const texts = [r['channel'], r['commit'], r['digest'], r['previous'], keyId, signature]
  const counts = [r['seq'], r['issuedAtMs'], r['expiresAtMs'], r['serial'] ?? 0]
  counts.push(r['agentsMax'] ?? 0, r['bytes'] ?? 1)
  if (!texts.every(isShort) || !counts.every(isCount) || r['bytes'] === 0) return undefined
  // Fields of later versions are signed as well, so values with two printed forms are refused.
  const isPlain = (value: unknown) => value === undefined || isShort(value) || isCount(value)
  if (!Object.values(r).every(isPlain)) return undefined
  if (!digestShape.test(r['digest'] as string)) return undefined
  return value as SignedChannelRecord
}

const isShort = (value: unknown): boolean => typeof value === 'string' && value.length <= 200
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/** An Ed25519 key that signs bundles and records. */
export interface SigningKey {
  readonly keyId: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** A key whose bundles and records a node accepts. */
export interface TrustedKey {
  readonly keyId: string
  readonly publicKey: KeyObject
}

/**
 * @param pem PKCS #8.
 * @throws when it is not an Ed25519 key.
 */
export function signingKeyFromPem(pem: string): SigningKey {
  const privateKey = createPrivateKey(pem)
  const publicKey = createPublicKey(privateKey)
  return { keyId: keyIdOf(publicKey), privateKey, publicKey }
}

/**
 * @param pem SubjectPublicKeyInfo.
 * @throws when it is not an Ed25519 key.
 */
export function trustedKeyFromPem(pem: string): TrustedKey {
  const publicKey = createPublicKey(pem)
  return { keyId: keyIdOf(publicKey), publicKey }
}

function keyIdOf(publicKey: KeyObject): string {
  if (publicKey.asymmetricKeyType !== 'ed25519') throw new Error('the key is not an Ed25519 key')
  const der = publicKey.export({ type: 'spki', format: 'der' })
  return hash('sha256', der.subarray(-32)).slice(0, 16)
}

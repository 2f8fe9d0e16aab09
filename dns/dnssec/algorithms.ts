// The algorithms that sign here: how their keys and signatures stand in records. RFC 6605, RFC
// 8080.
import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'

export interface SigningAlgorithm {
  /** IANA "DNS Security Algorithm Numbers". */
  readonly number: number
  /** In configurations. */
  readonly name: string
  /** In zone files and in the key files of other servers. */
  readonly mnemonic: string
  /** In a DNSKEY record. */
  readonly publicBytes: number
  readonly signatureBytes: number
  readonly generate: () => KeyObject
  /**
   * @param octets scalar or seed, as key files of BIND hold it
   * @returns undefined: no such key
   */
  readonly privateFrom: (octets: Uint8Array) => KeyObject | undefined
  readonly privateOctets: (key: KeyObject) => Uint8Array
  readonly publicOctets: (privateKey: KeyObject) => Uint8Array
  /** Whether octets of that length are a key; OpenSSL takes any of Ed25519. */
  readonly isPublic: (octets: Uint8Array) => boolean
  /** For signing often. */
  readonly signerOf: (key: KeyObject) => (octets: Uint8Array) => Uint8Array
  readonly verify: (octets: Uint8Array, signature: Uint8Array, privateKey: KeyObject) => boolean
}

interface Jwk {
  readonly x: string
  readonly y: string
  readonly d: string
}

/** Made from octets that are checked before: it has these fields. */
const jwkOf = (key: KeyObject): Jwk => key.export({ format: 'jwk' }) as unknown as Jwk
const octetsOf = (text: string): Buffer => Buffer.from(text, 'base64url')
const textOf = (octets: Uint8Array): string => Buffer.from(octets).toString('base64url')

function isKey(key: Readonly<Record<string, string>>): boolean {
  try {
    createPublicKey({ key, format: 'jwk' })
    return true
  } catch {
    return false
  }
}

/** RFC 6605 section 4: two numbers of 32 octets, not DER. */
const dsaEncoding = 'ieee-p1363'
/** A scalar of P-256, a seed of Ed25519. */
const privateBytes = 32

const ecdsaP256Sha256: SigningAlgorithm = {
  number: 13,
  name: 'ecdsap256sha256',
  mnemonic: 'ECDSAP256SHA256',
  publicBytes: 64,
  signatureBytes: 64,
  generate: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  privateFrom: (octets) => {
    if (octets.length > privateBytes) return undefined
    // BIND writes a number: without its leading zeros, which one key of 256 has.
    const scalar = Buffer.concat([Buffer.alloc(privateBytes - octets.length), octets])
    const pair = createECDH('prime256v1')
    try {
      pair.setPrivateKey(scalar)
    } catch {
      return undefined
    }
    const point = pair.getPublicKey()
    const [x, y] = [textOf(point.subarray(1, 33)), textOf(point.subarray(33))]
    const key = { kty: 'EC', crv: 'P-256', x, y, d: textOf(scalar) }
    return createPrivateKey({ key, format: 'jwk' })
  },
  privateOctets: (key) => octetsOf(jwkOf(key).d),
  publicOctets: (key) => {
    const { x, y } = jwkOf(key)
    return Buffer.concat([octetsOf(x), octetsOf(y)])
  },
  isPublic: (octets) => {
    const [x, y] = [textOf(octets.subarray(0, 32)), textOf(octets.subarray(32))]
    return isKey({ kty: 'EC', crv: 'P-256', x, y })
  },
  signerOf: (key) => {
    const options = { key, dsaEncoding } as const
    return (octets) => sign('sha256', octets, options)
  },
  verify: (octets, signature, key) =>
    verify('sha256', octets, { key: createPublicKey(key), dsaEncoding }, signature),
}

/** PKCS#8 around the seed. RFC 8410 section 7. */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

const ed25519: SigningAlgorithm = {
  number: 15,
  name: 'ed25519',
  mnemonic: 'ED25519',
  publicBytes: 32,
  signatureBytes: 64,
  generate: () => generateKeyPairSync('ed25519').privateKey,
  privateFrom: (octets) => {
    if (octets.length !== privateBytes) return undefined
    const key = Buffer.concat([ed25519Prefix, octets])
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  },
  privateOctets: (key) => octetsOf(jwkOf(key).d),
  publicOctets: (key) => octetsOf(jwkOf(key).x),
  isPublic: (octets) => isKey({ kty: 'OKP', crv: 'Ed25519', x: textOf(octets) }),
  signerOf: (key) => (octets) => sign(null, octets, key),
  verify: (octets, signature, key) => verify(null, octets, createPublicKey(key), signature),
}

export const signingAlgorithms: readonly SigningAlgorithm[] = Object.freeze([
  ecdsaP256Sha256,
  ed25519,
])

export function signingAlgorithm(number: number): SigningAlgorithm | undefined {
  return signingAlgorithms.find((algorithm) => algorithm.number === number)
}

/** As configurations name it; `algorithm 7` for one that does not sign here. */
export const algorithmName = (number: number): string =>
  signingAlgorithm(number)?.name ?? `algorithm ${number}`

/** @returns undefined: a key of another kind */
export function algorithmOfKey(key: KeyObject): SigningAlgorithm | undefined {
  if (key.asymmetricKeyType === 'ed25519') return ed25519
  const curve = key.asymmetricKeyDetails?.namedCurve
  return key.asymmetricKeyType === 'ec' && curve === 'prime256v1' ? ecdsaP256Sha256 : undefined
}

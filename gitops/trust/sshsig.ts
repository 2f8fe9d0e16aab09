// Parses, verifies and makes detached SSH signatures of Ed25519 keys (OpenSSH PROTOCOL.sshsig).
import { createHash, sign, verify } from 'node:crypto'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { gitLimits } from '#gitops/limits.ts'
import { ed25519Type, publicKeyBlob, publicKeyFromBlob } from './openssh-key.ts'
import type { SshPrivateKey, SshPublicKey } from './openssh-key.ts'
import { armor, sshString, SshReader, sshUint32, unarmor } from './ssh-wire.ts'

const label = 'SSH SIGNATURE'
const magic = 'SSHSIG'

/** Fields of a signature. None is to be believed before `verifySshSignature`. */
interface SshSignature {
  readonly claimedKey: SshPublicKey
  /** Purpose of the signature, such as `git`, `gslb-attest` or `file`. */
  readonly namespace: string
  readonly hashAlgorithm: 'sha256' | 'sha512'
  readonly reserved: Buffer
  /** 64 bytes. */
  readonly signature: Buffer
}

/** Parses an armored signature. Errors: a clause that continues "the signature …". */
export function parseSshSignature(armored: string): Result<SshSignature, string> {
  const bytes = unarmor(label, armored, gitLimits.signatureBytesMax)
  if (bytes === undefined) return err('is not an SSH signature')
  const reader = new SshReader(bytes)
  if (reader.raw(magic.length)?.toString('latin1') !== magic) return err('is not an SSH signature')
  if (reader.uint32() !== 1) return err('has an unknown version')
  const keyBlob = reader.string()
  const namespace = reader.text()
  const reserved = reader.string()
  const hashAlgorithm = reader.text()
  const signatureBlob = reader.string()
  if (keyBlob === undefined || namespace === undefined || reserved === undefined)
    return err('ends too early')
  if (signatureBlob === undefined || !reader.atEnd)
    return err('ends too early or has bytes after its end')
  const claimedKey = publicKeyFromBlob(keyBlob)
  if (!claimedKey.ok) {
    return err(
      claimedKey.error === 'malformed'
        ? 'has a damaged key'
        : `was made with a key of type ${claimedKey.error}; only ${ed25519Type} is accepted`,
    )
  }
  // PROTOCOL.sshsig allows these two hashes, and requires that an empty namespace is refused.
  if (hashAlgorithm !== 'sha256' && hashAlgorithm !== 'sha512') return err('uses an unknown hash')
  if (namespace === '') return err('has an empty namespace')
  const inner = new SshReader(signatureBlob)
  const type = inner.text()
  const signature = inner.string()
  if (type !== ed25519Type || signature?.length !== 64 || !inner.atEnd) return err('is damaged')
  return ok({ claimedKey: claimedKey.value, namespace, hashAlgorithm, reserved, signature })
}

/** Whether `key`, which the caller trusts, signed `message` for `namespace`. */
export function verifySshSignature(
  parsed: SshSignature,
  message: Uint8Array,
  namespace: string,
  key: SshPublicKey,
): boolean {
  if (parsed.namespace !== namespace) return false
  const { hashAlgorithm, reserved, signature } = parsed
  return verify(null, signedBytes(message, namespace, hashAlgorithm, reserved), key.key, signature)
}

/** Makes an armored signature that `ssh-keygen -Y verify` and `git verify-commit` accept. */
export function makeSshSignature(
  message: Uint8Array,
  namespace: string,
  key: SshPrivateKey,
): string {
  const hashAlgorithm = 'sha512'
  const signature = sign(
    null,
    signedBytes(message, namespace, hashAlgorithm, Buffer.alloc(0)),
    key.key,
  )
  return armor(
    label,
    Buffer.concat([
      Buffer.from(magic),
      sshUint32(1),
      sshString(publicKeyBlob(key.publicKey.raw)),
      sshString(namespace),
      sshString(''),
      sshString(hashAlgorithm),
      sshString(Buffer.concat([sshString(ed25519Type), sshString(signature)])),
    ]),
  )
}

function signedBytes(
  message: Uint8Array,
  namespace: string,
  hashAlgorithm: 'sha256' | 'sha512',
  reserved: Uint8Array,
): Buffer {
  return Buffer.concat([
    Buffer.from(magic),
    sshString(namespace),
    sshString(reserved),
    sshString(hashAlgorithm),
    sshString(createHash(hashAlgorithm).update(message).digest()),
  ])
}

// Opens the Ed25519 key of this node, which signs its bundles and its commits.
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { signingKeyFromPem } from '#bundle/signature/channel.ts'
import type { SigningKey } from '#bundle/signature/channel.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { writeSecret } from './data-dir.ts'

export interface NodeKey {
  /** PKCS #8. Must not be logged. */
  readonly pem: string
  readonly signing: SigningKey
  /** A warning in a sentence when others may read the file. */
  readonly warning: string | undefined
}

/** Bits of the mode for users who neither own a file nor are in its group. */
const othersMask = 0o007

/** Reads `keys/node.pem`, or makes it at the first start. Errors: a sentence. */
export function openNodeKey(dataDir: string): Result<NodeKey, string> {
  const path = join(dataDir, 'keys', 'node.pem')
  try {
    if (!existsSync(path)) {
      const { privateKey } = generateKeyPairSync('ed25519')
      writeSecret(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
    }
    const pem = readFileSync(path, 'utf8')
    return ok({ pem, signing: signingKeyFromPem(pem), warning: exposure(path) })
  } catch (error) {
    return err(
      `${path} cannot be used as the node's key: ${why(error)}; restore it, or remove it together with ${join(dataDir, 'node')}`,
    )
  }
}

function exposure(path: string): string | undefined {
  if ((statSync(path).mode & othersMask) === 0) return undefined
  return `${path} is open to every user of this machine, who could sign bundles as this node; run: chmod 600 ${path}`
}

function why(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'EACCES') return 'this user may not read it'
  // OpenSSL's message is about decoders.
  return code.startsWith('ERR_OSSL') ? 'it is no Ed25519 private key in PEM' : message
}
